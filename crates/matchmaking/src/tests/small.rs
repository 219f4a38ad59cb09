//! Small pools: how many players a round places, against the most that any choice of matches could.

use std::{collections::BTreeMap, sync::atomic::AtomicBool};

use crate::{Effort, KnownAttributes, OneCore, Queue, Ticket, TicketSpec, plan, pool::Pool};
use evenkeel_model::{Stream, StreamPurpose};

const TIERS: &str = r#"
teams = 2
size = 2
ruleset = "x"
attributes = { tier = "int 1..4", kind = "enum a b c" }
rule = [
  { name = "spread", rule = "spread", of = "tier", at_most = 1, hard = true },
  { name = "kinds", rule = "at-most-each", of = "kind", at_most = 1, hard = true },
]
"#;

const MIRRORS: &str = r#"
teams = 2
size = 3
ruleset = "x"
attributes = { tier = "int 1..4", kind = "enum a b c" }
rule = [
  { name = "mirror", rule = "mirror", of = "tier", hard = true },
  { name = "parties", rule = "mirror-parties", of = "tier", hard = true },
  { name = "spread", rule = "spread", of = "tier", at_most = 1, hard = true },
]
"#;

const ROLES: &str = r#"
teams = 2
size = 2
ruleset = "x"
attributes = { tier = "int 1..4", kind = "enum a b c" }
rule = [
  { name = "one a", rule = "has", of = "kind", value = "a", at_least = 1, hard = true },
  { name = "spread", rule = "spread", of = "tier", at_most = 1, hard = true },
]
"#;

fn tickets(queue: &Queue, count: usize, random: &mut Stream) -> Vec<Ticket> {
    let mut ticket = |number: usize| {
        let players = (0..[1, 1, 1, 2][random.index(4)]).map(|at| {
            let (tier, kind) = (1 + random.index(4), ["a", "b", "c"][random.index(3)]);
            format!(r#"{{"id":"{number}.{at}","tier":{tier},"kind":"{kind}"}}"#)
        });
        let players: Vec<String> = players.collect();
        let json = format!(
            r#"{{"ticket":"t{number}","waited":{},"players":[{}]}}"#,
            count - number,
            players.join(",")
        );
        let spec: TicketSpec = serde_json::from_str(&json).unwrap();
        queue
            .ticket(&spec, &mut |_| KnownAttributes::default())
            .unwrap()
    };
    (0..count).map(&mut ticket).collect()
}

/// Whether the tickets of a set can form a match, by trying every assignment to two teams.
fn is_match(pool: &Pool<'_>, set: u32) -> bool {
    let tickets: Vec<u32> = (0..pool.len() as u32)
        .filter(|at| set >> at & 1 == 1)
        .collect();
    let size = pool.queue.settings().size.as_usize();
    let players: usize = tickets.iter().map(|ticket| pool.people.size(*ticket)).sum();
    if players != 2 * size {
        return false;
    }
    (0..1_u32 << (tickets.len() - 1)).any(|assignment| {
        let mut teams = vec![Vec::new(), Vec::new()];
        for (at, ticket) in tickets.iter().enumerate() {
            teams[(assignment >> at & 1) as usize].push(*ticket);
        }
        let mut rules = pool.queue.rules().iter().zip(&pool.prepared);
        rules.all(|(rule, prepared)| prepared.violation(&teams, rule.limit(0.0, size)) == 0.0)
    })
}

/// The most matches of disjoint sets of tickets.
fn most(matches: &[u32], free: u32, known: &mut BTreeMap<u32, usize>) -> usize {
    if free == 0 {
        return 0;
    }
    if let Some(most) = known.get(&free) {
        return *most;
    }
    let first = 1 << free.trailing_zeros();
    let mut best = most(matches, free & !first, known);
    for &set in matches
        .iter()
        .filter(|set| *set & first != 0 && *set & !free == 0)
    {
        best = best.max(1 + most(matches, free & !set, known));
    }
    known.insert(free, best);
    best
}

/// The matches of the rounds, and the most that were possible, over `pools` random pools.
fn compared(text: &str, count: usize, pools: usize) -> [usize; 3] {
    let queue = Queue::new("x", toml::from_str(text).unwrap()).unwrap();
    let mut random = Stream::new(1, StreamPurpose::Arrivals);
    let never = AtomicBool::new(false);
    let (mut found, mut possible, mut fewer) = (0, 0, 0);
    for _ in 0..pools {
        let tickets = tickets(&queue, count, &mut random);
        let pool = Pool::new(&queue, &tickets, None);
        let matches: Vec<u32> = (1..1_u32 << count)
            .filter(|set| is_match(&pool, *set))
            .collect();
        let best = most(&matches, (1 << count) - 1, &mut BTreeMap::new());
        let plan = plan(&queue, &tickets, 1, Effort::default(), &OneCore, &never);
        assert!(plan.matches.len() <= best);
        found += plan.matches.len();
        possible += best;
        fewer += usize::from(plan.matches.len() < best);
    }
    [found, possible, fewer]
}

/// How many matches rounds of small pools form, and how many were possible.
#[test]
#[ignore = "it prints figures"]
fn small_pools_against_the_optimum() {
    for (name, text) in [("tiers", TIERS), ("mirrors", MIRRORS), ("roles", ROLES)] {
        for count in [6, 8, 10, 12] {
            let [found, possible, fewer] = compared(text, count, 300);
            println!(
                "{name}, {count} tickets: {found} of {possible} matches; {fewer} of 300 pools have fewer"
            );
        }
    }
}

/// Whoever else is harder to place, the oldest ticket is in a match if there is one for it.
#[test]
fn the_oldest_ticket_has_a_match_whenever_there_is_one() {
    let mut random = Stream::new(2, StreamPurpose::Arrivals);
    let never = AtomicBool::new(false);
    let mut possible = 0;
    for text in [TIERS, MIRRORS, ROLES] {
        let queue = Queue::new("x", toml::from_str(text).unwrap()).unwrap();
        for _ in 0..40 {
            let tickets = tickets(&queue, 10, &mut random);
            let pool = Pool::new(&queue, &tickets, None);
            let mut with_oldest = (1..1_u32 << 10).step_by(2);
            if with_oldest.any(|set| is_match(&pool, set)) {
                possible += 1;
                let plan = plan(&queue, &tickets, 1, Effort::default(), &OneCore, &never);
                let left = plan.left.iter().map(|left| left.ticket);
                assert!(!left.into_iter().any(|ticket| ticket == 0), "{tickets:?}");
            }
        }
    }
    assert!(possible > 40, "{possible}");
}

#[test]
fn small_pools_lose_few_matches() {
    for text in [TIERS, MIRRORS, ROLES] {
        let [found, possible, _] = compared(text, 12, 30);
        assert!(
            found * 100 >= possible * 90,
            "{found} of {possible} matches"
        );
    }
}
