//! A daemon that is killed and started again under load, and clients that ask it from the first moment on. Each
//! answer is that of a daemon in the test's own process which has learned every match, or says that it is too early.
#![allow(
    clippy::disallowed_methods,
    reason = "when a process is killed is measured in real time"
)]

use std::{
    fs,
    io::{BufReader, Write},
    net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use evenkeel::{
    model::{Kind, MatchRecord, fingerprint::Fingerprint},
    server::Service,
    store::{self, Cursor},
};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::{
    BUSY, Client, Daemon, config,
    draw::Draw,
    game,
    process::{HANG, Process, line},
    submit,
};

/// What happened in all rounds.
#[derive(Debug, Default)]
pub struct Restarts {
    /// Answers that are those of the complete state.
    pub compared: usize,
    /// Answers that say that it is too early.
    pub early: usize,
    /// Matches that were played between the starts, after which no checkpoint was written.
    pub behind: i64,
    /// The longest time from the start of the process until a client had its first answers, in milliseconds.
    pub slowest: u128,
}

const CONFIG: &str = r#"
[rating]
min_seconds = 0

[divisions]
names = ["Bronze", "Silver", "Gold"]
show = "number"

[queue.ranked]
teams = 2
size = 1
ruleset = "ctf"
host = "none"
rule = [{ name = "experience", rule = "range", of = "@games", from = 24, hard = true }]

[queue.newcomers]
teams = 2
size = 1
ruleset = "ctf"
host = "none"
rule = [{ name = "few games", rule = "range", of = "@games", to = 23, hard = true }]
"#;

/// Matches that are there before the first start.
const MATCHES: i64 = 400;
const HUMANS: usize = 12;
const BOTS: usize = 4;
/// Connections that ask at the same time.
const CLIENTS: usize = 3;
/// How often each of them asks everything before games are played again.
const BLOCKS: usize = 3;

/// How long a client that is no longer compared waits before it asks everything again.
const PAUSE: Duration = Duration::from_millis(100);

/// A daemon on the same matches in this process.
struct Oracle {
    runtime: Runtime,
    daemon: Daemon,
    address: SocketAddr,
}

impl Oracle {
    fn new() -> Self {
        let runtime = Runtime::new().unwrap();
        let daemon = runtime.block_on(async {
            let folder = TempDir::new().unwrap();
            let place = folder.path().join("oracle.db");
            let store = store::open(&place, true, BUSY).await.unwrap();
            let config = config(CONFIG);
            let service = Arc::new(Service::open(store, config.service()).unwrap());
            Daemon::serve(service, folder, config.server.limits).await
        });
        let address = daemon.address;
        Self {
            runtime,
            daemon,
            address,
        }
    }

    /// Learns what is in the database of a daemon that is dead, and answers the questions.
    fn answers(&self, folder: &Path, questions: &[String]) -> Vec<String> {
        let copy = TempDir::new().unwrap();
        for name in ["evenkeel.db", "evenkeel.db-wal"] {
            if folder.join(name).exists() {
                fs::copy(folder.join(name), copy.path().join(name)).unwrap();
            }
        }
        self.runtime.block_on(async {
            let store = store::open(&copy.path().join("evenkeel.db"), false, HANG).await;
            let store = store.unwrap();
            let (found, _) = store.matches().after(Cursor::START, 100_000).await.unwrap();
            store.close().await;
            let found: Vec<_> = found
                .into_iter()
                .map(|stored| (stored.record, stored.fingerprint))
                .collect();
            let service = &self.daemon.service;
            service.store().matches().record_all(&found).await.unwrap();
            service.learning().refresh().await.unwrap();
            assert_eq!(
                service.learning().metrics().learned().matches,
                i64::try_from(found.len()).unwrap()
            );
            let mut client = Client::connect(self.address).await;
            client.hello("asker").await;
            let mut answers = Vec::new();
            for question in questions {
                let mut answer = client.ask(question).await;
                for _ in 0..following(&answer) {
                    answer = format!("{answer}\n{}", client.line().await);
                }
                answers.push(answer);
            }
            answers
        })
    }
}

/// The number of lines that follow the first line of a reply.
fn following(head: &str) -> usize {
    let count = head.strip_prefix("BALANCE ");
    count.map_or(0, |rest| rest.split(' ').next().unwrap().parse().unwrap())
}

/// Each with one reply. `newest` is the number of the last newcomer.
fn questions(newest: usize) -> Vec<String> {
    let mut all = vec!["GAME ctf\nPING\n".to_owned()];
    let humans = (0..HUMANS).map(|number| format!("PLAYER s{number}\n"));
    all.extend(humans.clone());
    all.extend(humans);
    all.extend((0..BOTS).map(|number| format!("BOT b{number}\n")));
    all.extend((1..=newest).rev().take(3).map(|n| format!("PLAYER n{n}\n")));
    all.extend((0..3).map(|number| format!("RANK s{}\n", 5 * number)));
    let others = [
        "MEANBOT\n",
        "PLAYER stranger\n",
        "BOT stranger\n",
        "RANK stranger\n",
    ];
    all.extend(others.map(str::to_owned));
    let roster = (0..8).map(|number| format!("JOIN s{number}\n"));
    all.push(roster.collect::<String>() + "BALANCE top=1 seed=7\n");
    all.push("JOIN s9\nPLACE s9\n".to_owned());
    all.push("REBALANCE seed=7\n".to_owned());
    // A veteran is not refused, and not let in among newcomers.
    all.push(submit("newcomers", "t", "s0"));
    all
}

/// Kills a daemon so many times, and compares what it answers after each start.
pub fn restart_again_and_again(restarts: usize) -> Restarts {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("evenkeel.toml"), CONFIG).unwrap();
    let oracle = Oracle::new();
    fill(folder.path());
    let mut draw = Draw(restarts as u64);
    let mut seen = Restarts::default();
    // The first start derives the weights, and writes a checkpoint.
    let address = unused_address();
    let mut daemon = start(folder.path(), address);
    play(&daemon, &mut draw, 0, 1);
    daemon.kill();
    for round in 1..=restarts {
        let questions = questions(round - 1);
        let expected = oracle.answers(folder.path(), &questions);
        assert!(
            !expected
                .iter()
                .any(|answer| answer.starts_with("ERROR overloaded"))
        );
        let address = unused_address();
        let askers = Askers::start(address, questions, expected);
        let began = Instant::now();
        daemon = start(folder.path(), address);
        askers.wait(began);
        // From now on, the answers change; the load goes on until the kill.
        askers.is_over.store(true, Ordering::SeqCst);
        let games = 1 + draw.below(4);
        play(&daemon, &mut draw, round, games);
        seen.behind += i64::try_from(games).unwrap();
        daemon.kill();
        askers.end(began, &mut seen);
    }
    seen
}

/// An address on which nobody else listens: the tests of other processes listen on 127.0.0.1.
fn unused_address() -> SocketAddr {
    let [.., high, low] = std::process::id().to_be_bytes();
    let own = IpAddr::V4(Ipv4Addr::new(127, 1 + high % 250, low, 1));
    let listener = TcpListener::bind(SocketAddr::new(own, 0)).unwrap();
    listener.local_addr().unwrap()
}

fn start(folder: &Path, address: SocketAddr) -> Process {
    let listen = address.to_string();
    let words = ["serve", "--config", "evenkeel.toml", "--listen", &listen];
    Process::run(folder, &words, &[])
}

/// Writes the first matches, as commands do that end before they have derived anything.
fn fill(folder: &Path) {
    let mut draw = Draw(1);
    let match_at = |number: i64| -> (MatchRecord, Fingerprint) {
        let mut humans: Vec<usize> = (0..HUMANS).collect();
        draw.shuffle(&mut humans);
        let names: Vec<String> = humans.iter().map(|human| format!("s{human}")).collect();
        let bots = [0, 1].map(|team| format!("b{}", 2 * draw.below(BOTS / 2) + team));
        let side = |team: usize| {
            let own = names[2 * team..2 * team + 2].iter();
            let own = own.map(|name| (Kind::Human, name.as_str()));
            own.chain([(Kind::Bot, bots[team].as_str())])
                .collect::<Vec<_>>()
        };
        let lead = (humans[2] + humans[3]) as f64 - (humans[0] + humans[1]) as f64;
        let scores = [
            f64::from(u8::from(lead > 0.0)) + 1.0,
            f64::from(u8::from(lead < 0.0)) + 1.0,
        ];
        let record = game(20 * number, &side(0), &side(1), scores);
        let fingerprint = Fingerprint::of(&record);
        (record, fingerprint)
    };
    let matches: Vec<_> = (0..MATCHES).map(match_at).collect();
    Runtime::new().unwrap().block_on(async {
        let place = folder.join("evenkeel.db");
        let store = store::open(&place, true, BUSY).await.unwrap();
        store.matches().record_all(&matches).await.unwrap();
        store.close().await;
    });
}

/// Plays games to their ends, one of them with a newcomer, and leaves another one running.
fn play(daemon: &Process, draw: &mut Draw, round: usize, games: usize) {
    let mut stream = daemon.connect();
    tell(&mut stream, "HELLO field\n");
    assert!(line(&mut stream).starts_with("HELLO "));
    for number in 0..games {
        let first = match number {
            0 if round > 0 => format!("n{round}"),
            _ => format!("s{}", draw.below(HUMANS / 2)),
        };
        let second = format!("s{}", HUMANS / 2 + draw.below(HUMANS / 2));
        let team = draw.below(2);
        let lines = format!(
            "GAME ctf\nMAP m{round}-{number}\nJOIN {first} team=0\nJOIN {second} team=1\nBOTJOIN b{team} {team}\n\
             START\nSCORE {team}\nEND\n"
        );
        tell(&mut stream, &lines);
        let end = line(&mut stream);
        assert!(end.ends_with(" recorded"), "{end}");
    }
    tell(
        &mut stream,
        "GAME ctf\nJOIN s0 team=0\nJOIN s1 team=1\nSTART\nPING\n",
    );
    assert_eq!(line(&mut stream), "PONG");
}

fn tell(stream: &mut BufReader<TcpStream>, text: &str) {
    stream.get_mut().write_all(text.as_bytes()).unwrap();
}

/// What an asker has found.
#[derive(Default)]
struct Found {
    compared: usize,
    early: usize,
    /// The first answer that is not that of the complete state.
    wrong: Option<String>,
    first: Option<Instant>,
}

/// Clients that ask from before the start of a daemon until its end.
struct Askers {
    threads: Vec<JoinHandle<Found>>,
    /// Blocks that are answered, by all of them.
    blocks: Arc<AtomicUsize>,
    /// Whether the answers may be others from now on.
    is_over: Arc<AtomicBool>,
}

impl Askers {
    fn start(address: SocketAddr, questions: Vec<String>, expected: Vec<String>) -> Self {
        let asked = Arc::new((questions, expected));
        let (blocks, is_over) = (Arc::<AtomicUsize>::default(), Arc::<AtomicBool>::default());
        let thread = |number| {
            let (asked, blocks, is_over) = (asked.clone(), blocks.clone(), is_over.clone());
            thread::spawn(move || {
                let hello = format!("HELLO asker{number}\n");
                ask((address, &hello), &asked, &blocks, &is_over)
            })
        };
        Self {
            threads: (0..CLIENTS).map(thread).collect(),
            blocks,
            is_over,
        }
    }

    /// Waits until each of them has asked often enough.
    fn wait(&self, began: Instant) {
        while self.blocks.load(Ordering::SeqCst) < CLIENTS * BLOCKS {
            assert!(began.elapsed() < HANG, "no answers");
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn end(self, began: Instant, seen: &mut Restarts) {
        for thread in self.threads {
            let found = thread.join().unwrap();
            assert_eq!(found.wrong, None);
            let first = found.first.unwrap().duration_since(began);
            seen.slowest = seen.slowest.max(first.as_millis());
            seen.compared += found.compared;
            seen.early += found.early;
        }
    }
}

/// Asks everything again and again, on a new connection each time, until the daemon has gone.
fn ask(
    (address, hello): (SocketAddr, &str),
    (questions, expected): &(Vec<String>, Vec<String>),
    blocks: &AtomicUsize,
    is_over: &AtomicBool,
) -> Found {
    let mut found = Found::default();
    let began = Instant::now();
    loop {
        let Ok(stream) = TcpStream::connect(address) else {
            if is_over.load(Ordering::SeqCst) {
                return found;
            }
            assert!(began.elapsed() < HANG, "the daemon does not listen");
            continue;
        };
        stream.set_read_timeout(Some(HANG)).unwrap();
        let mut stream = BufReader::new(stream);
        let lines = hello.to_owned() + &questions.concat();
        let sent = stream.get_mut().write_all(lines.as_bytes());
        let Some(answers) = sent.ok().and_then(|()| {
            next(&mut stream).filter(|hello| hello.starts_with("HELLO "))?;
            answers(&mut stream, questions.len())
        }) else {
            continue; // killed
        };
        // A match that has ended meanwhile may have changed them.
        if is_over.load(Ordering::SeqCst) {
            thread::sleep(PAUSE); // others play
        } else {
            found.first.get_or_insert_with(Instant::now);
            compare(&answers, questions, expected, &mut found);
        }
        blocks.fetch_add(1, Ordering::SeqCst);
    }
}

/// So many whole replies; `None` if the connection ends before.
fn answers(stream: &mut BufReader<TcpStream>, count: usize) -> Option<Vec<String>> {
    let mut answers = Vec::with_capacity(count);
    for _ in 0..count {
        let mut answer = next(stream)?;
        for _ in 0..following(&answer) {
            answer = format!("{answer}\n{}", next(stream)?);
        }
        answers.push(answer);
    }
    Some(answers)
}

fn next(stream: &mut BufReader<TcpStream>) -> Option<String> {
    let mut line = String::new();
    std::io::BufRead::read_line(stream, &mut line).ok()?;
    line.strip_suffix('\n').map(str::to_owned)
}

fn compare(answers: &[String], questions: &[String], expected: &[String], found: &mut Found) {
    // What follows a decision that was too early is about another roster.
    let mut is_same_roster = true;
    for ((answer, question), expected) in answers.iter().zip(questions).zip(expected) {
        let is_early = answer.starts_with("ERROR overloaded ");
        let is_of_roster = ["BALANCE", "PLACE"]
            .iter()
            .any(|verb| question.contains(verb));
        if is_early {
            found.early += 1;
            is_same_roster &= !is_of_roster;
        } else if is_same_roster || !is_of_roster {
            found.compared += 1;
            if answer != expected && found.wrong.is_none() {
                found.wrong = Some(format!("{question}{answer}\ninstead of {expected}"));
            }
        }
    }
}
