//! The wire beside Redis: PLAYER and BOT of the daemon against GET of `redis-server`, over loopback, with the
//! same client.
//!
//! `cargo bench --bench wire` takes about four minutes; `cargo bench --bench wire -- PLAYER/16` only measures
//! the points whose name contains the word, `-- held` only the table of connections that are held, and
//! `-- attacks` only that of clients who behave badly. Both servers are processes of
//! their own: the daemon with its default configuration but for the number of connections, Redis without
//! persistence. They take turns in short rounds, and their order changes from round to round, so that whatever
//! else the machine does hits both alike. Printed are the medians of all rounds, and the medians of the rounds'
//! ratios. A name has 16 bytes in both, and a weight 6.
//!
//! `throughput`, `p99` and `processor` are ratios: the daemon's figure divided by that of Redis. `processor` is the
//! processor time of the server for an answer; it varies less than the others on a machine that has more to do.
//!
//! Each connection sends `depth` questions at once, waits for all answers, and sends the next ones. A latency is
//! the time from sending them to the last answer.

#![allow(clippy::unwrap_used)]
#![allow(clippy::disallowed_methods, reason = "a benchmark measures time")]

mod attacks;
mod load;
#[path = "../../tests/common/process.rs"]
#[allow(dead_code)] // tests use the rest
mod process;
mod servers;

use std::time::Duration;

use load::{Load, Measured};
use servers::{Redis, Server, Wire, daemon};

/// Rounds of a point.
const ROUNDS: usize = 5;
/// The length of a round.
const ROUND: Duration = Duration::from_millis(700);
/// The length of the round before them, which is not counted.
const WARM_UP: Duration = Duration::from_millis(200);
const CONNECTIONS: [usize; 4] = [1, 50, 200, 1_000];
const DEPTHS: [usize; 2] = [1, 16];
/// The connections that are only held in the last table, and those at full speed beside them.
const HELD: usize = 5_000;
const BESIDE: usize = 100;

fn main() {
    let words = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'));
    let words: Vec<String> = words.collect();
    let wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word));
    let Some(redis) = Redis::start() else {
        println!("skipped: there is no redis-server on this machine");
        return;
    };
    let folder = tempfile::TempDir::new().unwrap();
    let server = daemon(folder.path(), &[]);
    println!(
        "| verb, questions at once, connections | Evenkeel | Redis | throughput | Evenkeel p99 | Redis p99 | p99 | processor |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for verb in [Wire::Player, Wire::Bot] {
        for depth in DEPTHS {
            for connections in CONNECTIONS {
                let name = format!("{}/{depth}/{connections}", verb.name());
                if wanted(&name) {
                    let mut ours = Load::open(&server, verb, connections, depth);
                    let mut theirs = Load::open(&redis, Wire::Get, connections, depth);
                    print_row(&name, &compare(&mut ours, &mut theirs));
                }
            }
        }
    }
    if wanted("held") {
        held(&server, &redis);
    }
    if wanted("attacks") {
        let folder = tempfile::TempDir::new().unwrap();
        let unlimited = daemon(folder.path(), &[("EVENKEEL_WEB_REQUESTS_PER_SECOND", "0")]);
        attacks::measure(&server, &unlimited);
    }
}

/// Measures both in turns. Returns a pair for each round.
fn compare(ours: &mut Load<'_>, theirs: &mut Load<'_>) -> Vec<[Measured; 2]> {
    ours.run(WARM_UP);
    theirs.run(WARM_UP);
    let mut rounds = Vec::new();
    for round in 0..ROUNDS {
        rounds.push(if round % 2 == 0 {
            let first = ours.run(ROUND);
            [first, theirs.run(ROUND)]
        } else {
            let first = theirs.run(ROUND);
            [ours.run(ROUND), first]
        });
    }
    rounds
}

fn print_row(name: &str, rounds: &[[Measured; 2]]) {
    let of = |server: usize, figure: fn(&Measured) -> f64| {
        median(rounds.iter().map(|round| figure(&round[server])))
    };
    let ratio =
        |figure: fn(&Measured) -> f64| median(rounds.iter().map(|[a, b]| figure(a) / figure(b)));
    let speed = |measured: &Measured| measured.per_second;
    let p99 = |measured: &Measured| measured.p99;
    println!(
        "| {name} | {:.0} k/s | {:.0} k/s | {:.2} | {:.0} µs | {:.0} µs | {:.2} | {:.2} |",
        of(0, speed) / 1e3,
        of(1, speed) / 1e3,
        ratio(speed),
        of(0, p99),
        of(1, p99),
        ratio(p99),
        ratio(|measured| measured.processor),
    );
}

/// The same beside connections that are only held.
fn held(daemon: &Server, redis: &Server) {
    println!();
    println!(
        "| {BESIDE} connections at full speed beside | Evenkeel | Redis | throughput | Evenkeel p99 | Redis p99 | p99 | processor |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    let mut ours = Load::open(daemon, Wire::Player, BESIDE, 1);
    let mut theirs = Load::open(redis, Wire::Get, BESIDE, 1);
    print_row("no others", &compare(&mut ours, &mut theirs));
    let memory = [daemon, redis].map(Server::memory);
    let idle = [(daemon, Wire::Player), (redis, Wire::Get)]
        .map(|(server, wire)| Load::open(server, wire, HELD, 1));
    print_row(&format!("{HELD} held"), &compare(&mut ours, &mut theirs));
    let after = [daemon, redis].map(Server::memory);
    drop(idle);
    println!();
    for (name, server) in [("Evenkeel", 0), ("Redis", 1)] {
        let grown = after[server].saturating_sub(memory[server]);
        println!(
            "Memory of {name}: {} kB, {:.1} kB for each connection that is held.",
            after[server],
            grown as f64 / HELD as f64
        );
    }
}

fn median(figures: impl Iterator<Item = f64>) -> f64 {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}
