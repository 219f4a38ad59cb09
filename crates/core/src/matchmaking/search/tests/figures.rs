//! Figures of single searches, for the documentation; they are printed on request:
//! `cargo test --release --lib -- --ignored --nocapture search::tests::figures`.

use std::sync::atomic::AtomicBool;

use super::{
    super::{Budget, MatchSearch},
    Candidates, Cost, Teams, anneal, exact, pairs, small_queue, tickets,
};
use crate::{
    domain::{Stream, StreamPurpose},
    matchmaking::{Known, OneCore, Queue, Ticket, pool::Pool, tests::load::Load},
};

/// The budget of a search with an effort of 1.
const BUDGET: Budget = Budget {
    starts: 4,
    moves: 1_000,
    nodes: 20_000,
};

fn loaded(queue: &Queue, count: usize) -> Vec<Ticket> {
    let mut stream = Stream::new(1, StreamPurpose::Arrivals);
    let ticket = |number: usize| {
        let waited = 10.0 * (1.0 - number as f64 / count as f64);
        let spec = Load::default().ticket(number, waited, false, &mut stream);
        queue.ticket(&spec, &mut |_| Known::default()).unwrap()
    };
    (0..count).map(ticket).collect()
}

/// How many of 1,000 searches reach a penalty of zero, around every fourth of 4,000 tickets that all wait.
#[test]
#[ignore = "it prints figures"]
fn searches_that_reach_zero() {
    let text = include_str!("../../../../../../config/queues/wotb.toml");
    let table: toml::Table = text.parse().unwrap();
    let settings = table["queue"]["regular"].clone().try_into().unwrap();
    let queue = Queue::new("regular", settings).unwrap();
    let tickets = loaded(&queue, 4_000);
    let pool = Pool::new(&queue, &tickets, None);
    let (mut zero, mut first) = (0, 0);
    for seed in (0..4_000).step_by(4) {
        let search = MatchSearch::new(&pool, seed, &pool.all(), BUDGET, 1);
        if let Ok(found) = search.run(&OneCore, &AtomicBool::new(false)) {
            zero += usize::from(found.cost == Cost::default());
            first += usize::from(found.start == 0);
        }
    }
    println!("1,000 searches: {zero} reach zero, {first} end with their first start");
}

/// How often annealing misses the least cost of small pools, which the exact search proves.
#[test]
#[ignore = "it prints figures"]
fn exact_searches_find_what_annealing_misses() {
    let queue = small_queue();
    let mut random = Stream::new(1, StreamPurpose::Arrivals);
    for count in [8, 12, 16] {
        let (mut possible, mut missed, mut worse, mut excess, mut zero) = (0, 0, 0, 0.0, [0, 0]);
        for _ in 0..1_000 {
            let tickets = tickets(&queue, count, &mut random);
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
