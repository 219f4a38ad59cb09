//! What long histories cost: to read and to learn them, to start with them, to learn one more match, and in memory.
//!
//! `cargo bench --bench learning` takes 84,000 matches of 6,113 players in three rulesets. `-- large` takes a million
//! matches of 100,000 players, and `-- players` 250,000 matches of a million players in one ruleset; each of these takes
//! up to half an hour. `-- beside` plays games while 160,000 matches are corrected in six ways. The matches are synthetic (`history.rs`). The program reads them with `evenkeel ingest`, and
//! serves them as a daemon of its own; with `EVENKEEL_BENCH_LEARNING=FOLDER`, the database stays in that folder for
//! the next time. Then a game server plays, and asks after END until a player who was new is known. With
//! `EVENKEEL_BENCH_PROGRAM=FILE`, another build of the program is measured, also an earlier version.

#![allow(clippy::unwrap_used)]
#![allow(clippy::disallowed_methods, reason = "a benchmark measures time")]

mod beside;
mod history;
#[path = "../fleet/load.rs"]
#[allow(dead_code)] // the bench `fleet` uses the rest
mod load;
#[path = "../../tests/common/process.rs"]
#[allow(dead_code)] // tests use the rest
mod process;

use std::{
    fs::{self, File},
    io::{BufWriter, Write},
    path::{Path, PathBuf},
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use evenkeel::{ingest::jsonl::write_record, model::fingerprint::Fingerprint};
use history::{History, identity};
use load::{Peer, percentile};
use process::Process;
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use tempfile::TempDir;

const THREE: &[&str] = &["ctf", "tdm", "dom"];
const LONG: History = History {
    matches: 84_000,
    players: 6_113,
    types: THREE,
    everybody: false,
};
const LARGE: History = History {
    matches: 1_000_000,
    players: 100_000,
    types: THREE,
    everybody: false,
};
const PLAYERS: History = History {
    matches: 250_000,
    players: 1_000_000,
    types: &["ctf"],
    everybody: true,
};
const BESIDE: History = History {
    matches: 160_000,
    players: 10_000,
    types: THREE,
    everybody: false,
};
/// How many games are played in the end.
const FURTHER: u32 = 1_001;
/// The limit of a command.
const LONGEST: Duration = Duration::from_secs(7_200);
const CONFIG: &str = r#"
[store]
database = "evenkeel.db"
journal = "games"

[rating]
min_seconds = 0

[log]
filter = "warn,evenkeel::daemon=info"
"#;

fn main() {
    let mut words = std::env::args().skip(1);
    let word = words.find(|word| !word.starts_with('-'));
    let (name, history) = match word.as_deref() {
        Some("large") => ("large", LARGE),
        Some("players") => ("players", PLAYERS),
        Some("beside") => ("beside", BESIDE),
        _ => ("long", LONG),
    };
    let temporary = TempDir::new().unwrap();
    let kept = std::env::var_os("EVENKEEL_BENCH_LEARNING").map(PathBuf::from);
    let folder = kept.map_or_else(|| temporary.path().to_owned(), |folder| folder.join(name));
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("evenkeel.toml"), CONFIG).unwrap();
    let History {
        matches, players, ..
    } = history;
    println!("{matches} matches of {players} players");
    if !folder.join("evenkeel.db").exists() {
        let file = folder.join("history.jsonl");
        write(history, &file);
        command(&folder, &["ingest", "history.jsonl"]);
        fs::remove_file(file).unwrap();
    }
    if name == "beside" {
        let pages = beside::configure(&folder);
        let mut daemon = start(&folder, &[("EVENKEEL_WEB_LISTEN", &pages.to_string())]);
        beside::play(&daemon, &folder, history, pages);
        return daemon.stop();
    }
    command(&folder, &["rebuild"]);
    let bytes = fs::metadata(folder.join("evenkeel.db")).unwrap().len();
    println!("database: {} MB", bytes / 1_000_000);
    play(&mut start(&folder, &[]), history);
    checkpoints(&folder.join("evenkeel.db"));
    start(&folder, &[]).stop();
}

/// Writes the matches of a history as JSON lines.
fn write(history: History, path: &Path) {
    let mut file = BufWriter::new(File::create(path).unwrap());
    for record in history.records() {
        let line = write_record(&record, Fingerprint::of(&record));
        writeln!(file, "{line}").unwrap();
    }
    file.flush().unwrap();
}

/// Runs a command of the program, and prints how long it took and how much memory it needed.
fn command(folder: &Path, words: &[&str]) {
    let began = Instant::now();
    let mut command = process::evenkeel(folder);
    command.args(words).env("EVENKEEL_CONFIG", "evenkeel.toml");
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    let mut most = None;
    let ended = process::poll_for(LONGEST, || {
        most = memory(child.id()).or(most.take());
        child.try_wait().unwrap().ok_or("it still runs")
    });
    assert!(ended.success());
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "evenkeel {}: {seconds:.1} s; memory {}",
        words[0],
        most.unwrap_or_default()
    );
}

/// The memory that a process uses now and has used at most, where Linux tells.
fn memory(pid: u32) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let of = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name))?;
        let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
        Some(kilobytes / 1_000)
    };
    let (now, most) = (of("VmRSS:")?, of("VmHWM:")?);
    Some(format!("{now} MB, at most {most} MB"))
}

/// Starts a daemon with variables that change its configuration, and waits until it knows a weight.
fn start(folder: &Path, variables: &[(&str, &str)]) -> Process {
    let began = Instant::now();
    let configured = [variables, &[("EVENKEEL_CONFIG", "evenkeel.toml")]].concat();
    let daemon = Process::start_with(folder, &configured);
    let listens = began.elapsed().as_secs_f64();
    let mut peer = Peer::open(daemon.address, "asks");
    peer.send("GAME ctf");
    while !is_known(&mut peer, &identity(0)) {
        assert!(began.elapsed() < LONGEST);
        thread::sleep(Duration::from_millis(10));
    }
    let knows = began.elapsed().as_secs_f64();
    let memory = memory(daemon.child.id()).unwrap_or_default();
    println!(
        "start: it listens after {listens:.2} s, and knows weights after {knows:.2} s; memory {memory}"
    );
    daemon
}

/// Whether the daemon has a weight of a player.
fn is_known(peer: &mut Peer, player: &str) -> bool {
    peer.ask(&format!("PLAYER {player}")).split(' ').count() > 2
}

/// Plays games, and prints how long END took, and how long until a new player of the game is known.
fn play(daemon: &mut Process, history: History) {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let [mut server, mut asks] = ["server", "asks"].map(|name| Peer::open(daemon.address, name));
    let (mut ends, mut known) = (Vec::new(), Vec::new());
    for number in 0..FURTHER {
        let new = format!("new-{}-{number}", std::process::id());
        let mut lines = format!("GAME {}\nMAP map_{number}\n", history.types[0]);
        let drawn = history.lineup(&mut random, history.matches + number);
        let others = drawn.into_iter().skip(1).map(identity);
        for (seat, player) in others.chain([new.clone()]).enumerate() {
            lines += &format!("JOIN {player} team={}\n", seat % 2);
        }
        lines += "START\n";
        for _ in 0..random.random_range(1..12_u32) {
            lines += &format!("SCORE {}\n", random.random_range(0..2_u32));
        }
        assert_eq!(server.ask(&format!("{lines}PING")), "PONG");
        asks.send(&format!("GAME {}", history.types[0]));
        let since = Instant::now();
        let end = server.ask("END");
        assert!(end.ends_with(" recorded"), "{end}");
        ends.push(since.elapsed().as_secs_f64());
        while !is_known(&mut asks, &new) {
            assert!(since.elapsed() < LONGEST);
        }
        known.push(since.elapsed().as_secs_f64());
    }
    let memory = memory(daemon.child.id()).unwrap_or_default();
    for (what, seconds) in [
        ("END is answered", &mut ends),
        ("weights are known", &mut known),
    ] {
        let [p50, p99] = [0.5, 0.99].map(|share| 1e3 * percentile(seconds, share));
        println!("{what}: p50 {p50:.1} ms, p99 {p99:.1} ms, of {FURTHER} games");
    }
    let began = Instant::now();
    daemon.signal("-TERM");
    let ended = process::wait_for(&mut daemon.child, LONGEST);
    assert!(ended.success());
    let stopped = began.elapsed().as_secs_f64();
    println!("memory after these games: {memory}; it stops in {stopped:.1} s");
}

/// Prints how large the checkpoints are.
fn checkpoints(database: &Path) {
    let files = fs::read_dir(database.with_extension("learned")).unwrap();
    let bytes = files.map(|file| file.unwrap().metadata().unwrap().len() / 1_000_000);
    println!("checkpoints of {:?} MB", bytes.collect::<Vec<u64>>());
}
