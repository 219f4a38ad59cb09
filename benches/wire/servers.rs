//! Both servers, as processes, and what is asked of each.

use std::{
    fs,
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use evenkeel::{
    model::{
        Kind, MatchRecord, Participant, PlayerKey, Timestamp,
        record::{Presence, ScoreEvent, Span},
    },
    store,
};
use tempfile::TempDir;

use super::process::Process;

/// Number of humans, and of bots, whose weights are known.
pub const NAMES: usize = 1_000;
/// How long a server may take to start.
const START: Duration = Duration::from_secs(30);

/// What is asked.
#[derive(Clone, Copy)]
pub enum Wire {
    Player,
    Bot,
    Get,
}

impl Wire {
    pub fn name(self) -> &'static str {
        match self {
            Self::Player => "PLAYER",
            Self::Bot => "BOT",
            Self::Get => "GET",
        }
    }

    /// What a connection sends first, and the end of the answer to it.
    pub fn greeting(self) -> (&'static [u8], &'static [u8]) {
        match self {
            Self::Player | Self::Bot => (b"GAME ctf\nPING\n", b"PONG\n"),
            Self::Get => (b"*1\r\n$4\r\nPING\r\n", b"+PONG\r\n"),
        }
    }

    /// One question.
    pub fn question(self, name: usize) -> Vec<u8> {
        let (human, bot) = (human(name), bot(name));
        match self {
            Self::Player => format!("PLAYER {human}\n").into_bytes(),
            Self::Bot => format!("BOT {bot}\n").into_bytes(),
            Self::Get => format!("*2\r\n$3\r\nGET\r\n${}\r\n{human}\r\n", human.len()).into_bytes(),
        }
    }

    /// The number of lines of an answer.
    pub fn lines(self) -> usize {
        match self {
            Self::Player | Self::Bot => 1,
            Self::Get => 2,
        }
    }

    /// Whether these answers are those of a server that knows all names.
    pub fn knows(self, answers: &str) -> bool {
        let weight = |text: &str| text.len() == 6 && text.parse::<f64>().is_ok();
        match self {
            Self::Player | Self::Bot => answers.lines().all(|line| {
                let words: Vec<&str> = line.split(' ').collect();
                words.len() == 3 && words[0] == self.name() && weight(words[2])
            }),
            Self::Get => {
                let mut lines = answers.lines();
                lines.all(|line| line == "$6" || weight(line))
            }
        }
    }
}

fn human(number: usize) -> String {
    format!("human-{number:010}")
}

fn bot(number: usize) -> String {
    format!("robot-{number:010}")
}

/// A server that runs. Dropping it ends it.
pub struct Server {
    pub address: SocketAddr,
    /// Where the daemon shows its statistics pages.
    pub pages: Option<SocketAddr>,
    process: Running,
}

enum Running {
    Daemon(Process),
    Redis(Redis),
}

impl Server {
    fn id(&self) -> u32 {
        match &self.process {
            Running::Daemon(process) => process.child.id(),
            Running::Redis(redis) => redis.child.id(),
        }
    }

    /// The processor time of all threads so far, in nanoseconds; 0 on systems without `/proc`.
    pub fn processor(&self) -> u64 {
        let Ok(threads) = fs::read_dir(format!("/proc/{}/task", self.id())) else {
            return 0;
        };
        let of_thread = |path: PathBuf| {
            let figures = fs::read_to_string(path.join("schedstat")).ok()?;
            figures.split(' ').next()?.parse::<u64>().ok()
        };
        let paths = threads.filter_map(|thread| Some(thread.ok()?.path()));
        paths.filter_map(of_thread).sum()
    }

    /// Resident memory in kB; 0 on systems without `/proc`.
    pub fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().nth(1));
        number.and_then(|number| number.parse().ok()).unwrap_or(0)
    }
}

/// Redis without persistence, in a folder of its own.
pub struct Redis {
    child: Child,
    _folder: TempDir,
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Redis {
    /// Starts it and sets all names; `None` if it is not installed.
    pub fn start() -> Option<Server> {
        let folder = TempDir::new().unwrap();
        // The port is free now, and Redis cannot be given one that is open.
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        drop(listener);
        let started = Command::new("redis-server")
            .args(["--port", &address.port().to_string()])
            .args(["--bind", "127.0.0.1", "--save", "", "--appendonly", "no"])
            .args(["--maxclients", "10000", "--tcp-backlog", "1024"])
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .spawn();
        let child = started.ok()?;
        let redis = Self {
            child,
            _folder: folder,
        };
        let began = Instant::now();
        let mut stream = loop {
            match TcpStream::connect(address) {
                Ok(stream) => break stream,
                Err(error) => assert!(began.elapsed() < START, "Redis does not start: {error}"),
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        for number in 0..NAMES {
            let (name, weight) = (human(number), format!("{:.3}", 10.0 + 0.08 * number as f64));
            let set = format!("SET {name} {weight}\r\n");
            stream.write_all(set.as_bytes()).unwrap();
            let mut ok = [0; 5];
            stream.read_exact(&mut ok).unwrap();
            assert_eq!(&ok, b"+OK\r\n");
        }
        let process = Running::Redis(redis);
        let pages = None;
        Some(Server {
            address,
            pages,
            process,
        })
    }
}

/// The daemon, in this folder, with matches of all names. `settings` are variables that change its configuration.
pub fn daemon(folder: &Path, settings: &[(&str, &str)]) -> Server {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let path = folder.join("evenkeel.db");
    runtime.block_on(async {
        let store = store::open(&path, true, Duration::ZERO).await.unwrap();
        for number in 0..NAMES / 4 {
            store.matches().record(&game(number)).await.unwrap();
        }
        store.close().await;
    });
    let variables = [
        ("EVENKEEL_DB", path.to_str().unwrap()),
        ("EVENKEEL_SERVER_MAX_CONNECTIONS", "10000"),
        ("EVENKEEL_WEB_LISTEN", "127.0.0.1:0"),
    ];
    let process = Process::start_with(folder, &[&variables[..], settings].concat());
    let address = process.address;
    // Until it has learned from the matches, questions are errors, and too many errors end a connection.
    let question = format!("GAME ctf\nPLAYER {}\n", human(0));
    while process.ask(&question).contains("ERROR") {
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut lines = process.log.iter();
    let pages = lines.find_map(|line| {
        let (_, rest) = line.split_once("http://")?;
        rest.trim_end().trim_end_matches('/').parse().ok()
    });
    Server {
        address,
        pages,
        process: Running::Daemon(process),
    }
}

/// A match of four humans and four bots.
fn game(number: usize) -> MatchRecord {
    let start = Timestamp(number as i64 * 600_000);
    let seat = |kind, id: String, team| Participant {
        key: PlayerKey {
            kind,
            id: id.clone(),
        },
        name: id,
        presence: vec![Presence {
            team,
            span: Span {
                from: 0,
                to: 600_000,
            },
        }],
        points: None,
        kills: 0,
        deaths: 0,
        roles: vec![],
        party: None,
        left: None,
    };
    let seats = (0..8).map(|at| {
        let (name, team) = (number * 4 + at % 4, (at % 2) as u8);
        match at < 4 {
            true => seat(Kind::Human, human(name), team),
            false => seat(Kind::Bot, bot(name), team),
        }
    });
    let scores = vec![1.0, 0.0];
    MatchRecord {
        server: "bench".into(),
        start,
        end: start.plus_millis(600_000),
        clock: None,
        untimed: false,
        client: String::new(),
        unscored: false,
        too_many_new: None,
        logged_as: None,
        map: "field".into(),
        game_type: "ctf".into(),
        mode: String::new(),
        mutators: vec![],
        participants: seats.collect(),
        events: vec![ScoreEvent {
            at: 1_000,
            team: 0,
            points: 1.0,
            by: None,
        }],
        outcome: MatchRecord::outcome_of(&scores),
        scores,
    }
}
