//! Tests of the searches: the exact one against every assignment, annealing against the exact one.

use proptest::prelude::*;

use super::{CandidateTickets, Cost, TeamsInSearch, anneal, exact};
use crate::{KnownAttributes, Queue, Ticket, TicketSpec, pool::Pool};
use evenkeel_model::random::{Stream, StreamPurpose};

const QUEUE: &str = r#"
teams = 2
size = 3
ruleset = "x"
attributes = { tier = "int 1..4", kind = "enum a b c", rating = "num" }
rule = [
  { name = "spread", rule = "spread", of = "tier", at_most = 1, parties = "exempt", weight = 2.0 },
  { name = "mirror", rule = "mirror", of = "tier", hard = true },
  { name = "each", rule = "at-most-each", of = "kind", at_most = 1, square = true },
  { name = "kinds", rule = "differ-each", of = "kind", at_most = 1, hard = true },
  { name = "parties", rule = "mirror-parties", of = "tier", hard = true },
  { name = "few", rule = "at-most-each", of = "kind", at_most = 2, hard = true },
  { name = "gap", rule = "gap", of = "rating", at_most = 0.2, weight = 3.0 },
]
"#;

/// A queue with soft and hard rules, for teams of three.
fn small_queue() -> Queue {
    Queue::new("x", toml::from_str(QUEUE).unwrap()).unwrap()
}

fn tickets(queue: &Queue, count: usize, random: &mut Stream) -> Vec<Ticket> {
    let mut ticket = |number: usize| {
        let players = (0..[1, 1, 1, 2][random.index(4)]).map(|at| {
            let (tier, kind) = (1 + random.index(4), ["a", "b", "c"][random.index(3)]);
            let rating = random.unit();
            format!(r#"{{"id":"{number}.{at}","tier":{tier},"kind":"{kind}","rating":{rating}}}"#)
        });
        let players: Vec<String> = players.collect();
        let waited = 100 - number;
        let json = format!(
            r#"{{"ticket":"t{number}","waited":{waited},"players":[{}]}}"#,
            players.join(",")
        );
        let spec: TicketSpec = serde_json::from_str(&json).unwrap();
        queue
            .ticket(&spec, &mut |_| KnownAttributes::default())
            .unwrap()
    };
    (0..count).map(&mut ticket).collect()
}

/// The cost of teams, without moves.
fn scratch(pool: &Pool<'_>, teams: &[Vec<u32>]) -> Cost {
    let mut cost = Cost::default();
    for (rule, prepared) in pool.queue.rules().iter().zip(&pool.prepared) {
        let violation = prepared.violation(teams, rule.limit(0.0, 3));
        match rule.hard {
            true => cost.hard += rule.cost(violation),
            false => cost.soft += rule.cost(violation),
        }
    }
    cost
}

/// The least cost of all full teams with the first ticket that meet the hard rules, by trying every
/// assignment.
fn least(pool: &Pool<'_>) -> Option<Cost> {
    let mut best: Option<Cost> = None;
    for assignment in 0..3_usize.pow(pool.len() as u32) {
        let mut teams = vec![Vec::new(), Vec::new()];
        let mut rest = assignment;
        for ticket in 0..pool.len() as u32 {
            if let Some(team) = teams.get_mut(rest % 3) {
                team.push(ticket);
            }
            rest /= 3;
        }
        let full = teams.iter().all(|team| pool.people.all(team).count() == 3);
        if !full || !teams.iter().any(|team| team.contains(&0)) {
            continue;
        }
        let cost = scratch(pool, &teams);
        if cost.hard == 0.0 && best.is_none_or(|best| cost.is_below(best)) {
            best = Some(cost);
        }
    }
    best
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn the_exact_search_finds_the_least_cost_and_annealing_nothing_less(seed in any::<u64>()) {
        let queue = small_queue();
        let mut random = Stream::new(seed, StreamPurpose::Arrivals);
        let tickets = tickets(&queue, 8, &mut random);
        let pool = Pool::new(&queue, &tickets, None);
        let candidates = CandidateTickets::of(&pool, 0, &pool.all());
        let mut teams = TeamsInSearch::new(&pool, 3, 0.0, &[]);
        let exact = exact::exact(&pool, &mut teams, &candidates, 3, 1_000_000);
        prop_assert!(exact.proven);
        let Some(least) = least(&pool) else {
            prop_assert!(exact.seats.is_empty());
            return Ok(());
        };
        let close = |one: Cost, other: Cost| {
            (one.hard - other.hard).abs() < 1e-9 && (one.soft - other.soft).abs() < 1e-9
        };
        prop_assert!(close(exact.cost, least), "{:?} {least:?}", exact.cost);
        prop_assert!(close(scratch(&pool, &exact.seats), least));
        anneal::build(&pool, &mut teams, &candidates, 3);
        let found = anneal::anneal(&mut teams, &candidates, 2_000, &mut random, &|| false);
        prop_assert!(close(found, scratch(&pool, &teams.seats)), "the teams are those of the cost");
        prop_assert!(!found.is_below(least) || close(found, least) || found.hard > 0.0);
    }
}
