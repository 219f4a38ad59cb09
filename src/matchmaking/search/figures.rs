//! Figures of single searches, for the documentation; they are printed on request:
//! `cargo test --release --lib -- --ignored --nocapture matchmaking::search::figures`.

#![allow(clippy::disallowed_methods, reason = "a measurement needs the time")]

use std::{sync::atomic::AtomicBool, time::Instant};

use super::{Budget, Cost, Search, Teams, anneal, candidates::Candidates, exact, pairs, tests};
use crate::{
    domain::{Stream, StreamPurpose},
    matchmaking::{Cores, Known, Load, OneCore, Queue, Ticket, pool::Pool},
};

/// The budget of a search with an effort of 1.
const BUDGET: Budget = Budget {
    starts: 4,
    moves: 1_000,
    nodes: 20_000,
};

/// Runs the odd jobs of a search on a second thread.
struct TwoThreads;

impl Cores for TwoThreads {
    fn run(&self, count: usize, job: &(dyn Fn(usize) + Sync)) {
        std::thread::scope(|scope| {
            scope.spawn(|| (1..count).step_by(2).for_each(job));
            (0..count).step_by(2).for_each(job);
        });
    }
}

fn loaded(queue: &Queue, count: usize) -> Vec<Ticket> {
    let mut stream = Stream::new(1, StreamPurpose::Arrivals);
    let ticket = |number: usize| {
        let waited = 10.0 * (1.0 - number as f64 / count as f64);
        let spec = Load::default().ticket(number, waited, false, &mut stream);
        queue.ticket(spec, &mut |_| Known::default()).unwrap()
    };
    (0..count).map(ticket).collect()
}

/// One search around each of 4,000 tickets that all wait.
#[test]
#[ignore = "it measures time"]
fn one_search() {
    let text = include_str!("../../../config/queues/wotb.toml");
    let table: toml::Table = text.parse().unwrap();
    let settings = table["queue"]["regular"].clone().try_into().unwrap();
    let queue = Queue::new("regular", settings).unwrap();
    let tickets = loaded(&queue, 4_000);
    let pool = Pool::new(&queue, &tickets, None);
    let threads: [(&str, &dyn Cores); 2] = [("one thread", &OneCore), ("two threads", &TwoThreads)];
    for (name, cores) in threads {
        let (mut times, mut zero, mut first) = (Vec::new(), 0, 0);
        for seed in (0..4_000).step_by(4) {
            let since = Instant::now();
            let found = Search::new(&pool, seed, &pool.all(), BUDGET, 1)
                .run(cores, &AtomicBool::new(false));
            times.push(since.elapsed().as_secs_f64() * 1e3);
            zero += usize::from(
                found
                    .as_ref()
                    .is_ok_and(|found| found.cost == Cost::default()),
            );
            first += usize::from(found.is_ok_and(|found| found.start == 0));
        }
        times.sort_by(f64::total_cmp);
        let at = |share: f64| times[(share * times.len() as f64) as usize];
        println!(
            "{name}: {} searches, p50 {:.3} ms, p99 {:.3} ms; {zero} reach zero, {first} in the first start",
            times.len(),
            at(0.5),
            at(0.99),
        );
    }
}

/// How often annealing misses the least cost of small pools, which the exact search proves.
#[test]
#[ignore = "it prints figures"]
fn exact_against_annealing() {
    let queue = tests::small_queue();
    let mut random = Stream::new(1, StreamPurpose::Arrivals);
    for count in [8, 12, 16] {
        let (mut possible, mut missed, mut worse, mut excess, mut zero) = (0, 0, 0, 0.0, [0, 0]);
        for _ in 0..1_000 {
            let tickets = tests::tickets(&queue, count, &mut random);
            let pool = Pool::new(&queue, &tickets, None);
            let candidates = Candidates::of(&pool, 0, &pool.all());
            let mut teams = Teams::new(&pool, 3, 0.0, &[]);
            let exact = exact::exact(&pool, &mut teams, &candidates, 3, 10_000_000);
            assert!(exact.proven);
            if exact.seats.is_empty() {
                continue;
            }
            possible += 1;
            pairs::build(&pool, &mut teams, &candidates, 3);
            let mut best: Option<Cost> = None;
            for _ in 0..BUDGET.starts {
                let cost =
                    anneal::anneal(&mut teams, &candidates, BUDGET.moves, &mut random, &|| {
                        false
                    });
                if best.is_none_or(|best| cost.is_below(best)) {
                    best = Some(cost);
                }
            }
            let best = best.unwrap();
            zero[0] += usize::from(exact.cost.soft < 1e-9);
            zero[1] += usize::from(best.hard == 0.0 && best.soft < 1e-9);
            if best.hard > 0.0 {
                missed += 1;
            } else if best.soft > exact.cost.soft + 1e-9 {
                worse += 1;
                excess += best.soft - exact.cost.soft;
            }
        }
        println!(
            "{count} tickets: {possible} pools of 1,000 have a match; annealing finds none in {missed}, a costlier \
             one in {worse} (by {:.3} on average); zero: exact {}, annealing {}",
            excess / f64::max(1.0, worse.into()),
            zero[0],
            zero[1],
        );
    }
}
