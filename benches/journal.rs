//! What the journal of running games costs on the wire: the same lines to a daemon that keeps it and to two
//! that do not, over loopback, in one process.
//!
//! `cargo bench --bench journal`. The three take turns, and their order changes from round to round. Printed
//! are the medians of all rounds, and the medians of the rounds' ratios to the first daemon. The ratio of
//! the second daemon without a journal shows how far from 1 a ratio is by chance.

#![allow(clippy::unwrap_used)]
#![allow(clippy::disallowed_methods, reason = "a benchmark measures time")]

use std::{
    fmt::Write as _,
    io::{BufRead, BufReader, Write},
    net::TcpStream,
    path::Path,
    time::Instant,
};

use evenkeel::{config::Config, daemon::Daemon};
use tempfile::TempDir;
use tokio::runtime::Runtime;

const ROUNDS: usize = 200;
/// Events of a round.
const EVENTS: usize = 1_000;

/// A way to send events.
struct Workload {
    name: &'static str,
    /// What the names of the maps begin with.
    map: &'static str,
    /// The lines that are sent without waiting, and how many replies they have.
    exchanges: Vec<(String, usize)>,
}

fn main() {
    let folder = TempDir::new().unwrap();
    let runtime = Runtime::new().unwrap();
    let daemons = [("plain", "off"), ("again", "off"), ("journaled", "auto")];
    let mut daemons =
        daemons.map(|(name, journal)| connect(&runtime, folder.path(), name, journal));
    println!(
        "| {EVENTS} events, median of {ROUNDS} rounds | no journal | no journal, again | journal | ratio, again | ratio, journal |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    for workload in workloads() {
        let (mut seconds, mut ratios) = ([const { Vec::new() }; 3], [const { Vec::new() }; 3]);
        for round in 0..ROUNDS {
            let game = game(&format!("{}{round}", workload.map));
            let mut taken = [0.0; 3];
            for turn in 0..3 {
                let daemon = (round + turn) % 3;
                taken[daemon] = run(&mut daemons[daemon], &game, &workload);
            }
            for (daemon, took) in taken.iter().enumerate() {
                seconds[daemon].push(*took);
                ratios[daemon].push(took / taken[0]);
            }
        }
        let [first, again, journaled] = seconds.map(|seconds| median(seconds) * 1e3);
        let [_, by_chance, ratio] = ratios.map(median);
        println!(
            "| {} | {first:.2} ms | {again:.2} ms | {journaled:.2} ms | {by_chance:.3} | {ratio:.3} |",
            workload.name
        );
    }
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// What a game server reports in play: kills for the most part.
fn event(at: usize) -> String {
    let (a, b) = (at % 8, (at * 5 + 3) % 8);
    match at % 10 {
        0 => format!("SCORE {} 1 player{a}\n", at % 2),
        1 => format!("POINTS player{a} {at}\n"),
        2 => format!("DEATH player{b}\n"),
        3 => "CLOCK 600\n".to_owned(),
        _ => format!("KILL player{a} player{b}\n"),
    }
}

fn workloads() -> [Workload; 3] {
    let events: Vec<String> = (0..EVENTS).map(event).collect();
    let one_by_one = events.iter().map(|event| (format!("{event}PING\n"), 1));
    let few = events
        .chunks(10)
        .map(|few| (few.concat() + "PLAYER player1\n", 1));
    [
        Workload {
            name: "each event confirmed by a PONG before the next",
            map: "a",
            exchanges: one_by_one.collect(),
        },
        Workload {
            name: "ten events and a question at a time",
            map: "b",
            exchanges: few.collect(),
        },
        Workload {
            name: "all at once",
            map: "c",
            exchanges: vec![(events.concat() + "PING\n", 1)],
        },
    ]
}

/// A connection to a new daemon, in a running game.
fn connect(runtime: &Runtime, folder: &Path, name: &str, journal: &str) -> BufReader<TcpStream> {
    let database = folder.join(format!("{name}.db")).display().to_string();
    let text = format!(
        "server.listen = '127.0.0.1:0'\nstore.database = {database:?}\nstore.journal = '{journal}'\nserver.max_errors = 4000000000"
    );
    let config = Config::load(&text, []).unwrap();
    let daemon = runtime.block_on(Daemon::open(&config)).unwrap();
    let address = daemon.local_addr().unwrap();
    runtime.spawn(daemon.run(std::future::pending()));
    let stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    let mut stream = BufReader::new(stream);
    exchange(&mut stream, &format!("HELLO bench\n{}", game("first")), 2);
    stream
}

/// The beginning of a game. Each has a map of its own, so that any number may begin at the same time.
fn game(map: &str) -> String {
    let mut lines = format!("GAME ctf\nMAP {map}\n");
    for player in 0..8 {
        writeln!(lines, "JOIN player{player} team={}", player % 2).unwrap();
    }
    lines + "START\nPING\n"
}

/// Seconds for a workload.
fn run(stream: &mut BufReader<TcpStream>, game: &str, workload: &Workload) -> f64 {
    exchange(stream, &format!("END\n{game}"), 2);
    let began = Instant::now();
    for (lines, replies) in &workload.exchanges {
        exchange(stream, lines, *replies);
    }
    began.elapsed().as_secs_f64()
}

fn exchange(stream: &mut BufReader<TcpStream>, lines: &str, replies: usize) {
    stream.get_mut().write_all(lines.as_bytes()).unwrap();
    let mut line = String::new();
    let mut left = replies;
    while left > 0 {
        line.clear();
        assert_ne!(stream.read_line(&mut line).unwrap(), 0);
        assert!(!line.starts_with("ERROR"), "{line}");
        // A DEATH may be answered.
        left -= usize::from(!line.starts_with("MOVE"));
    }
}
