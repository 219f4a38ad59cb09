//! How many players the queue places, how long it takes, and how that grows with the tickets and the
//! rules: `cargo bench --bench queue`. The loads are those of `evenkeel queue load`, the queues are those of
//! `config/queues/wotb.toml`. Each load is measured twice and the shorter time counts, because other
//! programs can only make it longer.

#![allow(clippy::unwrap_used)]
#![allow(clippy::disallowed_methods, reason = "a benchmark measures time")]

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};

use evenkeel::{
    matchmaking::{Cores, Effort, KnownAttributes, Plan, Queue, QueueSettings, Ticket, plan},
    model::{Stream, StreamPurpose},
    queues::Threads,
    simulate::{Load, Shape},
};
use parking_lot::Mutex;

/// Number of loads of each shape.
const SHAPED: u64 = 10;

const WOTB: &str = include_str!("../config/queues/wotb.toml");

fn settings(name: &str) -> QueueSettings {
    let table: toml::Table = WOTB.parse().unwrap();
    table["queue"][name].clone().try_into().unwrap()
}

fn tickets(queue: &Queue, count: usize, seed: u64) -> Vec<Ticket> {
    shaped(queue, Shape::Popular, count, seed)
}

fn shaped(queue: &Queue, shape: Shape, count: usize, seed: u64) -> Vec<Ticket> {
    let load = Load {
        shape,
        ..Load::default()
    };
    let mut stream = Stream::new(seed, StreamPurpose::Arrivals);
    let ticket = |number: usize| {
        let waited = 10.0 * (1.0 - number as f64 / count as f64);
        let spec = load.ticket(number, waited, queue.name() == "rated", &mut stream);
        queue
            .ticket(&spec, &mut |_| KnownAttributes::default())
            .unwrap()
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

/// The share of players in matches (mean and least), and the seconds of a load (median and most).
struct Row {
    share: f64,
    least: f64,
    median: f64,
    most: f64,
}

fn measured(queue: &Queue, count: usize, threads: usize, effort: u32, seeds: u64) -> Row {
    let (mut shares, mut least, mut times) = (0.0, 1.0_f64, Vec::new());
    for seed in 1..=seeds {
        let tickets = tickets(queue, count, seed);
        let (share, first, _) = measure(queue, &tickets, threads, effort);
        let (_, second, _) = measure(queue, &tickets, threads, effort);
        shares += share;
        least = least.min(share);
        times.push(first.min(second));
    }
    times.sort_by(f64::total_cmp);
    Row {
        share: 100.0 * shares / seeds as f64,
        least: 100.0 * least,
        median: times[times.len() / 2],
        most: times[times.len() - 1],
    }
}

/// Prints what `seeds` loads have.
fn row(what: &str, queue: &Queue, count: usize, threads: usize, effort: u32, seeds: u64) {
    let row = measured(queue, count, threads, effort, seeds);
    println!(
        "{what}: {count} tickets, {threads} threads, effort {effort}, {seeds} seeds: {:.2} % of players \
         (least {:.2} %), median {:.3} s, at most {:.3} s",
        row.share, row.least, row.median, row.most
    );
}

/// Prints how the time of a round grows with the number of tickets, as a table.
fn by_tickets(queue: &Queue) {
    println!(
        "\n| tickets | players in matches | time | times that of 1,000 tickets | microseconds a ticket |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: |");
    let base = measured(queue, 1_000, 1, 1, 3).median;
    for count in [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000] {
        let row = measured(queue, count, 1, 1, 3);
        println!(
            "| {count} | {:.2} % | {:.3} s | {:.2} | {:.0} |",
            row.share,
            row.median,
            row.median / base,
            row.median * 1e6 / count as f64
        );
    }
}

/// Prints how the time of a round grows with the number of rules, as a table: the first rules of the
/// queue, each row with those that the row before has not.
fn by_rules() {
    println!("\n| rules | added | players in matches | time | times that of all rules |");
    println!("| ---: | --- | ---: | ---: | ---: |");
    let all = settings("regular");
    let queue = |rules: usize| {
        let mut fewer = all.clone();
        fewer.rules.truncate(rules);
        Queue::new("regular", fewer).unwrap()
    };
    let base = measured(&queue(all.rules.len()), 4_000, 1, 1, 3).median;
    for (at, rule) in (1..).zip(&all.rules) {
        let row = measured(&queue(at), 4_000, 1, 1, 3);
        println!(
            "| {at} | {} | {:.2} % | {:.3} s | {:.2} |",
            rule.name,
            row.share,
            row.median,
            row.median / base
        );
    }
}

/// Threads that note how long each search of the first part of a round takes. The planner asks for the
/// cores that each search may use ([`Cores::share`]) before a batch of such searches, and not before it
/// forms matches again.
struct Timed {
    threads: Threads,
    searches: AtomicBool,
    seconds: Mutex<Vec<f64>>,
}

impl Cores for Timed {
    fn run(&self, count: usize, job: &(dyn Fn(usize) + Sync)) {
        let searches = self.searches.swap(false, Ordering::Relaxed);
        self.threads.run(count, &|at| {
            let since = Instant::now();
            job(at);
            if searches {
                self.seconds.lock().push(since.elapsed().as_secs_f64());
            }
        });
    }

    fn share(&self, jobs: usize) -> Box<dyn Cores + '_> {
        self.searches.store(true, Ordering::Relaxed);
        self.threads.share(jobs)
    }
}

/// Prints how long single searches take, on one and on two threads.
fn searches(queue: &Queue) {
    for threads in [1, 2] {
        let timed = Timed {
            threads: Threads(threads),
            searches: AtomicBool::new(false),
            seconds: Mutex::default(),
        };
        let mut total = 0.0;
        for seed in 1..=5 {
            let tickets = tickets(queue, 4_000, seed);
            let since = Instant::now();
            plan(
                queue,
                &tickets,
                1,
                Effort::default(),
                &timed,
                &AtomicBool::new(false),
            );
            total += since.elapsed().as_secs_f64();
        }
        let mut seconds = timed.seconds.into_inner();
        seconds.sort_by(f64::total_cmp);
        let at = |share: f64| 1e3 * seconds[(seconds.len() as f64 * share) as usize];
        println!(
            "{} searches on {threads} threads: p50 {:.3} ms, p99 {:.3} ms, at most {:.3} ms; 5 loads in {total:.3} s",
            seconds.len(),
            at(0.5),
            at(0.99),
            1e3 * seconds[seconds.len() - 1]
        );
    }
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

/// Prints for each shape of the load how many players and how many of the oldest tenth of the tickets have a
/// match.
fn shapes(queue: &Queue) {
    println!("| shape | players in matches | least | oldest tenth | time | most |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: |");
    for shape in [Shape::Popular, Shape::Seats] {
        let (mut shares, mut oldest, mut times) = (Vec::new(), 0.0, Vec::new());
        for seed in 1..=SHAPED {
            let tickets = shaped(queue, shape, 4_000, seed);
            let (share, first, plan) = measure(queue, &tickets, 2, 1);
            let (_, second, _) = measure(queue, &tickets, 2, 1);
            let left = plan.left.iter().filter(|left| left.ticket < 400).count();
            oldest += 1.0 - left as f64 / 400.0;
            shares.push(100.0 * share);
            times.push(first.min(second));
        }
        times.sort_by(f64::total_cmp);
        println!(
            "| {shape:?} | {:.2} % | {:.2} % | {:.2} % | {:.3} s | {:.3} s |",
            shares.iter().sum::<f64>() / SHAPED as f64,
            shares.iter().copied().fold(100.0, f64::min),
            100.0 * oldest / SHAPED as f64,
            times[times.len() / 2],
            times[times.len() - 1]
        );
    }
    println!();
}

fn main() {
    let queue = Queue::new("regular", settings("regular")).unwrap();
    shapes(&queue);
    for threads in [1, 2] {
        row("all rules", &queue, 4_000, threads, 1, 10);
        row("all rules", &queue, 4_000, threads, 4, 10);
        row("all rules", &queue, 20_000, threads, 1, 2);
    }
    row("all rules", &queue, 200, 2, 1, 20);
    by_tickets(&queue);
    by_rules();
    println!();
    searches(&queue);
    rated();
}
