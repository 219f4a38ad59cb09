//! What a correction costs the games that end beside it.

use std::{
    fs,
    io::{Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::Path,
    process::{Child, Stdio},
    thread,
    time::{Duration, Instant},
};

use evenkeel::{
    ingest::jsonl::write_record,
    model::{MatchRecord, Timestamp, fingerprint::Fingerprint},
};
use rand::{SeedableRng, rngs::ChaCha8Rng};

use crate::{
    History, LONGEST,
    history::identity,
    is_known,
    load::{Peer, percentile},
    process::{Process, evenkeel},
};

const TOKEN: &str = "a-token-of-a-benchmark-that-nobody-guesses";
/// Games beside each correction at least: the 99th percentile is that of four values.
const GAMES: u32 = 400;
/// The time from one END to the next game.
const PAUSE: Duration = Duration::from_millis(20);

/// Adds to a configuration what a report over HTTP needs, and returns an address for it.
pub fn configure(folder: &Path) -> SocketAddr {
    let pages = TcpListener::bind("127.0.0.1:0")
        .and_then(|free| free.local_addr())
        .unwrap();
    let path = folder.join("evenkeel.toml");
    let config = fs::read_to_string(&path).unwrap()
        + &format!(
            "[api]\nenabled = true\n\
             [[clients]]\nname = \"server\"\nnetworks = [\"127.0.0.1/32\"]\nrights = [\"ask\", \"report\"]\n\
             [[clients]]\nname = \"asks\"\nnetworks = [\"127.0.0.1/32\"]\nrights = [\"ask\"]\n\
             [[clients]]\nname = \"http\"\ntoken = \"{TOKEN}\"\nrights = [\"ask\", \"report\"]\n"
        );
    fs::write(path, config).unwrap();
    pages
}

/// Plays games without and beside each correction, and prints how long END and the weights after it took.
pub fn play(daemon: &Process, folder: &Path, history: History, pages: SocketAddr) {
    let mut server = Server::new(daemon, history);
    let mut records = history.records();
    let mut old = || old(records.next().unwrap());
    let file = folder.join("old.jsonl");
    let alone = server.beside("nothing", || true);
    let mut beside = |what: &str, mut command: Option<Child>| {
        let worst = server.beside(what, || match &mut command {
            Some(child) => child.try_wait().unwrap().is_some(),
            None => true,
        });
        if let Some(mut child) = command {
            assert!(child.wait().unwrap().success(), "{what}");
        }
        println!(
            "    {:.1} times the p99 without a correction",
            worst / alone
        );
    };
    let run = |words: &[&str]| {
        let mut command = evenkeel(folder);
        command.args(words).env("EVENKEEL_CONFIG", "evenkeel.toml");
        Some(command.stdout(Stdio::null()).spawn().unwrap())
    };
    let [forgotten, merged, into] = [2, 3, 4].map(identity);
    post(pages, &format!("[{}]", line(&old())));
    beside("an old match over HTTP", None);
    fs::write(&file, line(&old()) + "\n").unwrap();
    beside("ingest of an old match", run(&["ingest", "old.jsonl"]));
    let forget = run(&["player", "forget", "--yes", &forgotten]);
    beside("player forget", forget);
    beside("player merge", run(&["player", "merge", &merged, &into]));
    beside("match void", run(&["match", "void", "7"]));
    beside("rebuild", run(&["rebuild"]));
}

/// The match as if it had been played half a century before.
fn old(record: MatchRecord) -> MatchRecord {
    let earlier = |at: Timestamp| Timestamp(at.0 - 1_600_000_000_000);
    MatchRecord {
        start: earlier(record.start),
        end: earlier(record.end),
        ..record
    }
}

fn line(record: &MatchRecord) -> String {
    write_record(record, Fingerprint::of(record))
}

/// Reports matches over HTTP. What they change is learned after the answer.
fn post(address: SocketAddr, body: &str) {
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!(
        "POST /v1/matches HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Authorization: Bearer {TOKEN}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 20"), "{answer}");
}

/// A game server, and a connection that asks for weights.
struct Server {
    history: History,
    server: Peer,
    asks: Peer,
    random: ChaCha8Rng,
    games: u32,
}

impl Server {
    fn new(daemon: &Process, history: History) -> Self {
        let [server, mut asks] = ["server", "asks"].map(|name| Peer::open(daemon.address, name));
        asks.send(&format!("GAME {}", history.types[0]));
        Self {
            history,
            server,
            asks,
            random: ChaCha8Rng::seed_from_u64(5),
            games: 0,
        }
    }

    /// Plays games until something is done, prints the times, and returns the 99th percentile of END in seconds.
    fn beside(&mut self, what: &str, mut done: impl FnMut() -> bool) -> f64 {
        let began = Instant::now();
        let (mut ends, mut known, mut took) = (Vec::new(), Vec::new(), None);
        while took.is_none() || ends.len() < GAMES as usize {
            assert!(began.elapsed() < LONGEST);
            let (end, weight) = self.game();
            ends.push(end);
            known.push(weight);
            if took.is_none() && done() {
                took = Some(began.elapsed());
            }
            thread::sleep(PAUSE);
        }
        let seconds = took.unwrap_or_default().as_secs_f64();
        println!(
            "beside {what}, which took {seconds:.1} s, {} games:",
            ends.len()
        );
        let mut p99 = 0.0;
        for (name, times) in [
            ("weights are known", &mut known),
            ("END is answered", &mut ends),
        ] {
            let [p50, high, most] = [0.5, 0.99, 1.0].map(|share| percentile(times, share));
            println!(
                "    {name}: p50 {:.1} ms, p99 {:.1} ms, at most {:.1} ms",
                1e3 * p50,
                1e3 * high,
                1e3 * most
            );
            p99 = high;
        }
        p99
    }

    /// Plays a game. Returns the seconds from END to its answer, and to the weight of a new player.
    fn game(&mut self) -> (f64, f64) {
        let number = self.history.matches + self.games;
        let new = format!("beside-{}-{number}", std::process::id());
        self.games += 1;
        let mut lines = format!("GAME {}\nMAP map_1\n", self.history.types[0]);
        let others = self.history.lineup(&mut self.random, number).into_iter();
        for (seat, player) in others
            .skip(1)
            .map(identity)
            .chain([new.clone()])
            .enumerate()
        {
            lines += &format!("JOIN {player} team={}\n", seat % 2);
        }
        lines += &format!("START\nSCORE {}\nPING", number % 2);
        assert_eq!(self.server.ask(&lines), "PONG");
        let since = Instant::now();
        let end = self.server.ask("END");
        assert!(end.ends_with(" recorded"), "{end}");
        let answered = since.elapsed().as_secs_f64();
        while !is_known(&mut self.asks, &new) {
            assert!(since.elapsed() < LONGEST);
        }
        (answered, since.elapsed().as_secs_f64())
    }
}
