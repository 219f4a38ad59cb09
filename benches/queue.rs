//! How many players the queue places, and how long it takes: `cargo bench --bench queue`. The load
//! is that of `evenkeel queue load`, the queues are those of `config/queues/wotb.toml`.

#![allow(clippy::unwrap_used)]
#![allow(clippy::disallowed_methods, reason = "a benchmark measures time")]

use std::{sync::atomic::AtomicBool, time::Instant};

use evenkeel::{
    domain::{Stream, StreamPurpose},
    matchmaking::{Effort, Known, Load, Plan, Queue, QueueSettings, Ticket, plan},
    queues::Threads,
};

const WOTB: &str = include_str!("../config/queues/wotb.toml");

fn settings(name: &str) -> QueueSettings {
    let table: toml::Table = WOTB.parse().unwrap();
    table["queue"][name].clone().try_into().unwrap()
}

fn tickets(queue: &Queue, count: usize, seed: u64) -> Vec<Ticket> {
    let mut stream = Stream::new(seed, StreamPurpose::Arrivals);
    let ticket = |number: usize| {
        let waited = 10.0 * (1.0 - number as f64 / count as f64);
        let spec = Load::default().ticket(number, waited, queue.name() == "rated", &mut stream);
        queue.ticket(spec, &mut |_| Known::default()).unwrap()
    };
    (0..count).map(ticket).collect()
}

/// The share of players in matches, and the seconds that the plan took.
fn measure(queue: &Queue, tickets: &[Ticket], threads: usize, effort: u32) -> (f64, f64, Plan) {
    let since = Instant::now();
    let plan = plan(
        queue,
        tickets,
        1,
        Effort::new(effort),
        &Threads(threads),
        &AtomicBool::new(false),
    );
    let took = since.elapsed().as_secs_f64();
    let players: usize = tickets.iter().map(|ticket| ticket.players.len()).sum();
    let teams = queue.settings().teams.as_usize();
    let seated: usize = plan.matches.iter().map(|found| found.size * teams).sum();
    (seated as f64 / players as f64, took, plan)
}

/// Prints the mean over `seeds` loads.
fn row(what: &str, queue: &Queue, count: usize, threads: usize, effort: u32, seeds: u64) {
    let (mut shares, mut least, mut times) = (0.0, 1.0_f64, Vec::new());
    for seed in 1..=seeds {
        let tickets = tickets(queue, count, seed);
        let (share, took, _) = measure(queue, &tickets, threads, effort);
        shares += share;
        least = least.min(share);
        times.push(took);
    }
    times.sort_by(f64::total_cmp);
    let mean = 100.0 * shares / seeds as f64;
    let (median, most) = (times[times.len() / 2], times[times.len() - 1]);
    println!(
        "{what}: {count} tickets, {threads} threads, effort {effort}, {seeds} seeds: {mean:.2} % of players \
         (least {:.2} %), median {median:.3} s, at most {most:.3} s",
        100.0 * least
    );
}

/// The medians over all matches of the distance between the teams' chances and even, by Elo's
/// formula on their mean ratings, and of the difference between their sums.
fn rated() {
    let queue = Queue::new("rated", settings("rated")).unwrap();
    let tickets = tickets(&queue, 4_000, 1);
    let (share, took, plan) = measure(&queue, &tickets, 2, 1);
    let names: Vec<&String> = queue.settings().attributes.keys().collect();
    let at = names.iter().position(|name| *name == "rating").unwrap();
    let rating = |ticket: &usize| {
        let values = tickets[*ticket]
            .players
            .iter()
            .map(|player| match player.values[at] {
                evenkeel::matchmaking::Value::Number(number) => number,
                _ => 0.0,
            });
        values.sum::<f64>()
    };
    let gap = |found: &evenkeel::matchmaking::PlannedMatch| {
        let sums: Vec<f64> = found
            .teams
            .iter()
            .map(|team| team.iter().map(rating).sum())
            .collect();
        (sums[0] - sums[1]).abs()
    };
    let mut gaps: Vec<f64> = plan.matches.iter().map(gap).collect();
    gaps.sort_by(f64::total_cmp);
    let (median, most) = (gaps[gaps.len() / 2], gaps[gaps.len() - 1]);
    let chance = |gap: f64| 1.0 / (1.0 + 10_f64.powf(-gap / 7.0 / 400.0)) - 0.5;
    println!(
        "rated: {:.2} % of players in {took:.3} s; sums of ratings differ by {median:.0} (median) and {most:.0} \
         (most); chances are {:.4} and {:.4} from even",
        100.0 * share,
        chance(median),
        chance(most)
    );
}

fn main() {
    let queue = Queue::new("regular", settings("regular")).unwrap();
    for threads in [1, 2] {
        row("all rules", &queue, 4_000, threads, 1, 10);
        row("all rules", &queue, 4_000, threads, 4, 10);
        row("all rules", &queue, 20_000, threads, 1, 2);
    }
    row("all rules", &queue, 200, 2, 1, 20);
    for count in [500, 1_000, 2_000, 8_000] {
        row("by tickets", &queue, count, 1, 1, 3);
    }
    for rules in [1, 3, 5, 7, 9, 11] {
        let mut fewer = settings("regular");
        fewer.rules.truncate(rules);
        let queue = Queue::new("regular", fewer).unwrap();
        row(&format!("{rules} rules"), &queue, 4_000, 1, 1, 3);
    }
    rated();
}
