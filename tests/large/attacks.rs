//! One daemon on an SQLite file that is killed at the moments at which it changes something: at START, at END, while the
//! next game begins, at the checkpoint, at its own start. Commands beside it are killed, too, and other programs lock the
//! file for long. In the end each game that was acknowledged is there once, under its id, and the weights are those of a
//! fold from the beginning.
//!
//! `EVENKEEL_ATTACK_SECONDS=600` lets it run for ten minutes, `EVENKEEL_ATTACK_SEED` repeats the order of the attacks.
#![allow(
    clippy::disallowed_methods,
    reason = "when a process is killed is measured in real time"
)]

use std::{
    collections::BTreeMap,
    fs,
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use evenkeel::store::{self, Cursor};
use sqlx::{Connection, SqliteConnection};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::{
    PROCESS,
    common::{
        draw::Draw,
        process::{HANG, Process, evenkeel, wait},
    },
    fleet::wish,
};

const CONFIG: &str = "
rating.min_seconds = 0
store.busy_ms = 500
";

/// What is attacked.
const MOMENTS: [&str; 9] = [
    "START",
    "END",
    "END and GAME",
    "a checkpoint",
    "a start",
    "ingest",
    "rebuild",
    "backup",
    "a lock",
];

/// The attacks on one database, and what its clients know.
struct Attacks {
    folder: TempDir,
    daemon: Option<Process>,
    draw: Draw,
    /// The id of the match of each game, by its map; `None` if its answer was lost, and the match must be there.
    games: BTreeMap<String, Option<i64>>,
    /// The matches that were read from logs, by their maps.
    logged: Vec<String>,
    counts: BTreeMap<&'static str, usize>,
    runtime: Runtime,
}

#[test]
#[ignore = "takes half a minute: `cargo test --test large -- --ignored`"]
fn whatever_is_killed_at_whatever_moment_nothing_is_lost() {
    let _turn = PROCESS.blocking_lock();
    let lasts = Duration::from_secs(wish("EVENKEEL_ATTACK_SECONDS", 20));
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seed = wish("EVENKEEL_ATTACK_SEED", clock.as_secs());
    println!(
        "EVENKEEL_ATTACK_SEED={seed} EVENKEEL_ATTACK_SECONDS={}",
        lasts.as_secs()
    );
    let mut attacks = Attacks::new(seed);
    let began = Instant::now();
    // At first each in turn, so that a short run has them all.
    for round in 0.. {
        if round >= MOMENTS.len() && began.elapsed() > lasts {
            break;
        }
        let moment = match round < MOMENTS.len() {
            true => round,
            false => attacks.draw.below(MOMENTS.len()),
        };
        attacks.attack(MOMENTS[moment], round);
    }
    println!("{:?}", attacks.counts);
    attacks.check();
}

impl Attacks {
    fn new(seed: u64) -> Self {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("evenkeel.toml"), CONFIG).unwrap();
        Self {
            folder,
            daemon: None,
            draw: Draw(seed),
            games: BTreeMap::new(),
            logged: Vec::new(),
            counts: BTreeMap::new(),
            runtime: Runtime::new().unwrap(),
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// A time within so many milliseconds.
    fn moment(&mut self, within: usize) -> Duration {
        Duration::from_micros(self.draw.below(1_000 * within) as u64)
    }

    fn attack(&mut self, moment: &'static str, round: usize) {
        *self.counts.entry(moment).or_default() += 1;
        self.run();
        match moment {
            "START" | "END" | "END and GAME" => self.kill_in_game(moment, round),
            "a checkpoint" => self.kill_at_stop(round),
            "a start" => self.kill_at_start(),
            "a lock" => self.lock(round),
            command => self.kill_command(command, round),
        }
    }

    /// Makes sure that the daemon runs.
    fn run(&mut self) -> &Process {
        let folder = self.folder.path();
        self.daemon.get_or_insert_with(|| {
            Process::start_with(folder, &[("EVENKEEL_CONFIG", "evenkeel.toml")])
        })
    }

    fn kill(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            daemon.kill();
        }
    }

    /// Plays a game up to `lines`, which are sent without waiting for their replies, and kills the daemon.
    fn kill_in_game(&mut self, moment: &str, round: usize) {
        let map = format!("m{round}");
        let mut stream = self.connect();
        if moment != "START" {
            begin(&mut stream, &map);
            tell(&mut stream, "START\nSCORE 0\nSCORE 1\nSCORE 0\n");
        } else {
            begin(&mut stream, &map);
        }
        let lines = match moment {
            "START" => "START\nSCORE 0\n",
            "END" => "END\n",
            _ => "END\nGAME ctf\nMAP next\nJOIN c team=0\nJOIN d team=1\n",
        };
        stream.get_mut().write_all(lines.as_bytes()).unwrap();
        thread::sleep(self.moment(8));
        self.kill();
        // What had arrived of the answers counts.
        let answers: Vec<String> = stream.lines().map_while(Result::ok).collect();
        let told = answers.iter().find_map(|answer| id(answer));
        let mut stream = self.connect();
        let again = match moment {
            "START" => {
                ask(&mut stream, "START\n"); // it may have begun
                tell(&mut stream, "SCORE 1\n");
                ask(&mut stream, "END\n")
            }
            _ => ask(&mut stream, "END\n"),
        };
        let known = told.or(id(&again));
        if known.is_none() {
            // END had been carried out, and its answer was lost.
            let done = ["ERROR no-game ", "ERROR not-allowed "];
            let is_done = done.iter().any(|begin| again.starts_with(begin));
            assert!(is_done && moment != "START", "{moment}: {again}");
        }
        self.games.insert(map, known);
        tell(&mut stream, "GAME idle\n");
    }

    /// Plays a game, and kills the daemon while it writes what it writes last.
    fn kill_at_stop(&mut self, round: usize) {
        self.play(round);
        self.run().signal("-TERM");
        thread::sleep(self.moment(30));
        self.kill();
    }

    /// Kills a daemon while it starts, before it listens or just then.
    fn kill_at_start(&mut self) {
        self.kill();
        for _ in 0..3 {
            let mut command = evenkeel(self.path());
            command.args(["serve", "--config", "evenkeel.toml"]);
            command.args(["--listen", "127.0.0.1:0"]);
            let child = command.stderr(Stdio::null()).spawn().unwrap();
            let moment = self.moment(200);
            kill_after(child, moment);
        }
    }

    /// Kills a command beside the daemon, and lets it run to its end afterwards.
    fn kill_command(&mut self, name: &str, round: usize) {
        self.play(round);
        let copy = format!("copy{round}.db");
        let words: Vec<&str> = match name {
            "ingest" => vec!["ingest", "log.jsonl"],
            "rebuild" => vec!["rebuild"],
            _ => vec!["backup", &copy],
        };
        if name == "ingest" {
            self.write_log(round);
        }
        let run = |folder: &Path| {
            let mut command = evenkeel(folder);
            command.args(&words).env("EVENKEEL_CONFIG", "evenkeel.toml");
            command.stdout(Stdio::null()).stderr(Stdio::piped());
            command.spawn().unwrap()
        };
        let moment = self.moment(150);
        kill_after(run(self.path()), moment);
        if name == "backup" && self.path().join(&copy).exists() {
            // It appears whole or not at all.
            self.check_file(&copy);
            fs::remove_file(self.path().join(&copy)).unwrap();
        }
        let output = run(self.path()).wait_with_output().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{name}: {error}");
        if name == "backup" {
            self.check_file(&copy);
            fs::remove_file(self.path().join(&copy)).unwrap();
        }
    }

    /// A log of old matches, each on a map of its own.
    fn write_log(&mut self, round: usize) {
        let mut log = String::new();
        for number in 0..20 {
            let map = format!("l{round}-{number}");
            let (start, end) = (1_600_000_000_000 + 600_000 * (20 * round + number), 300_000);
            log += &format!(
                "{{\"evenkeel\":1,\"start\":{start},\"end\":{},\"game\":\"ctf\",\"map\":\"{map}\",\"scores\":[{},1],\
                 \"players\":[{{\"id\":\"a\",\"team\":0}},{{\"id\":\"b\",\"team\":1}}]}}\n",
                start + end,
                self.draw.below(4),
            );
            self.logged.push(map);
        }
        fs::write(self.path().join("log.jsonl"), log).unwrap();
    }

    /// Another program locks the database for longer than anybody waits for it, while games end.
    fn lock(&mut self, round: usize) {
        let url = format!("sqlite:{}", self.path().join("evenkeel.db").display());
        let mut other = self
            .runtime
            .block_on(SqliteConnection::connect(&url))
            .unwrap();
        let lasts = Duration::from_millis(500 + self.draw.below(2_500) as u64);
        let mut stream = self.connect();
        begin(&mut stream, &format!("m{round}"));
        tell(&mut stream, "START\nSCORE 1\n");
        self.runtime.block_on(async {
            let begin = sqlx::query("BEGIN IMMEDIATE").execute(&mut other);
            begin.await.unwrap();
        });
        let unlocking = thread::spawn(move || {
            thread::sleep(lasts);
            let runtime = Runtime::new().unwrap();
            runtime.block_on(async { sqlx::query("ROLLBACK").execute(&mut other).await.unwrap() });
        });
        let began = Instant::now();
        let mut answer = ask(&mut stream, "END\n");
        let is_killed = self.draw.below(2) == 0;
        if is_killed {
            self.kill();
            stream = self.connect_in(&unlocking);
        }
        while id(&answer).is_none() && !(is_killed && answer.starts_with("ERROR no-game ")) {
            assert!(began.elapsed() < HANG, "{answer}");
            answer = ask(&mut stream, "END\n");
        }
        unlocking.join().unwrap();
        self.games.insert(format!("m{round}"), id(&answer));
    }

    /// Connects to a daemon that cannot start while the database is locked.
    fn connect_in(&mut self, unlocking: &thread::JoinHandle<()>) -> BufReader<TcpStream> {
        while !unlocking.is_finished() {
            let mut command = evenkeel(self.path());
            command.args(["serve", "--config", "evenkeel.toml"]);
            command.args(["--listen", "127.0.0.1:0"]);
            let mut child = command.stderr(Stdio::null()).spawn().unwrap();
            while !unlocking.is_finished() {
                if let Some(status) = child.try_wait().unwrap() {
                    assert_eq!(status.code(), Some(6), "the service manager tries again");
                    break;
                }
                thread::sleep(Duration::from_millis(10));
            }
            kill_after(child, Duration::ZERO);
        }
        self.connect()
    }

    /// Plays a game to its end, which is acknowledged.
    fn play(&mut self, round: usize) {
        let map = format!("m{round}");
        let mut stream = self.connect();
        begin(&mut stream, &map);
        tell(&mut stream, "START\nSCORE 0\n");
        let answer = ask(&mut stream, "END\n");
        assert!(id(&answer).is_some(), "{answer}");
        self.games.insert(map, id(&answer));
    }

    fn connect(&mut self) -> BufReader<TcpStream> {
        let mut stream = self.run().connect();
        let hello = ask(&mut stream, "HELLO s resume=yes\n");
        assert!(hello.starts_with("HELLO "), "{hello}");
        stream
    }

    fn check_file(&self, name: &str) {
        let mut command = evenkeel(self.path());
        command.args(["check", "--db", name]);
        let output = command.env("EVENKEEL_CONFIG", "evenkeel.toml").output();
        let output = output.unwrap();
        assert!(output.status.success(), "{name}: {output:?}");
    }

    /// Each game is there once, under the id that its client was given, and so is each match of the logs; the weights
    /// are those that a fold of all of them gives.
    fn check(&mut self) {
        self.run();
        if let Some(mut daemon) = self.daemon.take() {
            daemon.stop();
        }
        let path = self.path().join("evenkeel.db");
        let stored = self.runtime.block_on(async {
            let store = store::open(&path, false, HANG).await.unwrap();
            let (mut all, mut cursor) = (Vec::new(), Cursor::START);
            loop {
                let (found, next) = store.matches().after(cursor, 1_000).await.unwrap();
                if found.is_empty() {
                    break;
                }
                all.extend(found);
                cursor = next;
            }
            store.close().await;
            all
        });
        let mut ids: BTreeMap<String, Vec<i64>> = BTreeMap::new();
        for one in stored {
            ids.entry(one.record.map.clone()).or_default().push(one.id);
        }
        let (games, logged) = (self.games.len(), self.logged.len());
        let lost_answers = self.games.values().filter(|id| id.is_none()).count();
        for (map, id) in &self.games {
            let found = ids.remove(map).unwrap_or_default();
            assert_eq!(found.len(), 1, "{map} is there {} times", found.len());
            assert!(
                id.is_none_or(|id| found == [id]),
                "{map}: {id:?}, {found:?}"
            );
        }
        for map in &self.logged {
            let found = ids.remove(map).unwrap_or_default();
            assert_eq!(found.len(), 1, "{map} is there {} times", found.len());
        }
        assert!(ids.is_empty(), "{ids:?}");
        println!("{games} games, of {lost_answers} the answer was lost; {logged} matches of logs");
        // It also derives all weights again, and compares them.
        self.check_file("evenkeel.db");
    }
}

fn kill_after(mut child: Child, moment: Duration) {
    let began = Instant::now();
    while began.elapsed() < moment && child.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_micros(200));
    }
    let _ = child.kill();
    wait(&mut child);
}

/// A game up to START.
fn begin(stream: &mut BufReader<TcpStream>, map: &str) {
    let lines = format!("GAME ctf\nMAP {map}\nJOIN a team=0\nJOIN b team=1\n");
    tell(stream, &lines);
}

/// Sends lines without replies, and returns once they are carried out.
fn tell(stream: &mut BufReader<TcpStream>, lines: &str) {
    let said = ask(stream, &format!("{lines}PING\n"));
    assert_eq!(said, "PONG", "{lines}");
}

/// Sends lines and PING, and returns the first reply.
fn ask(stream: &mut BufReader<TcpStream>, lines: &str) -> String {
    let is_told = lines.ends_with("PING\n");
    let text = match is_told {
        true => lines.to_owned(),
        false => format!("{lines}PING\n"),
    };
    stream.get_mut().write_all(text.as_bytes()).unwrap();
    let mut first = String::new();
    loop {
        let mut line = String::new();
        assert_ne!(stream.read_line(&mut line).unwrap(), 0, "{lines}");
        let line = line.trim_end().to_owned();
        if line == "PONG" {
            return if is_told && first.is_empty() {
                line
            } else {
                first
            };
        }
        if first.is_empty() {
            first = line;
        }
    }
}

/// The id in the answer to END.
fn id(answer: &str) -> Option<i64> {
    answer.strip_prefix("END ")?.split(' ').next()?.parse().ok()
}
