//! Tests of the rules: over random moves each tally equals what the definition of the rule says, and the
//! tickets of a choice meet the rule in any match.

use proptest::prelude::*;

use super::{RuleSettings, names};
use crate::{
    KnownAttributes, PlayerSpec, Queue, QueueSettings, Raw, Ticket, TicketSpec, pool::Pool,
    tests::oracle::SeatedMatch,
};
use evenkeel_model::{Stream, StreamPurpose};

/// A queue with a rule of every type, and some types in several ways.
const QUEUE: &str = r#"
teams = 2
size = 4
ruleset = "x"
attributes = { tier = "int 1..4", kind = "enum a b c", vehicle = "id", maps = "set", cap = "int 1..4 = 4", alone = "flag", rating = "num", avoid = "set", ping = "map num" }
rule = [
  { name = "1", rule = "full", hard = true },
  { name = "2", rule = "spread", of = "tier", at_most = 1, parties = "exempt", hard = true },
  { name = "3", rule = "spread", of = "rating", at_most = 0.75, within = "team" },
  { name = "4", rule = "spread", of = "rating", at_most = 1, hard = true },
  { name = "5", rule = "mirror", of = "tier", hard = true },
  { name = "6", rule = "mirror", of = "kind" },
  { name = "7", rule = "mirror-parties", of = "tier", hard = true },
  { name = "8", rule = "at-most-each", of = "kind", at_most = 1, counted_by = "tier", from = 2 },
  { name = "9", rule = "at-most-each", of = "vehicle", at_most = 1 },
  { name = "10", rule = "differ-each", of = "vehicle", at_most = 1 },
  { name = "11", rule = "differ-each", of = "kind", at_most = 0 },
  { name = "12", rule = "common", of = "maps", picks = "map", hard = true },
  { name = "13", rule = "common", of = "ping", at_most = 50, picks = "region", hard = true },
  { name = "14", rule = "ceiling", of = "tier", ceiling = "cap", hard = true },
  { name = "15", rule = "alike", of = "kind", asked_by = "alone", hard = true },
  { name = "16", rule = "alike", of = "tier", asked_by = "alone" },
  { name = "17", rule = "gap", of = "rating", at_most = 0.5 },
  { name = "18", rule = "gap", of = "rating", by = "mean", at_most = 0.25 },
  { name = "19", rule = "gap", of = "rating", by = "max", at_most = 0 },
  { name = "20", rule = "gap", of = "ping.eu", at_most = 10 },
  { name = "21", rule = "chance", at_most = 0.02 },
  { name = "22", rule = "apart", of = "avoid", side = "with" },
  { name = "23", rule = "apart", of = "avoid", side = "against" },
  { name = "24", rule = "apart", last = 2 },
  { name = "25", rule = "has", of = "kind", value = "a", at_least = 1, at_most = 2 },
  { name = "26", rule = "has", of = "maps", value = "m1", at_least = 2 },
  { name = "27", rule = "has", of = "alone", value = "true", at_most = 1 },
  { name = "28", rule = "range", of = "tier", from = 2, to = 3, hard = true },
  { name = "29", rule = "range", of = "rating + tier", from = 1.5 },
]
"#;

/// Rules that the recorded rounds of that queue do not have.
const LATER: &str = r#"
rule = [
  { name = "30", rule = "at-most-together", of = "kind", at_most = 2 },
  { name = "31", rule = "at-most-together", of = "kind", value = "a", at_most = 1, hard = true },
]
"#;

#[derive(serde::Deserialize)]
struct Later {
    rule: Vec<RuleSettings>,
}

/// The settings of that queue.
pub(crate) fn settings() -> QueueSettings {
    toml::from_str(QUEUE).unwrap()
}

fn queue() -> Queue {
    let mut settings = settings();
    settings
        .rules
        .extend(toml::from_str::<Later>(LATER).unwrap().rule);
    Queue::new("x", settings).unwrap()
}

fn player(id: usize, others: usize, random: &mut Stream) -> PlayerSpec {
    let word = |letter: &str, number: usize| Raw::Text(format!("{letter}{number}"));
    let some = |letter: &str, count: usize, random: &mut Stream| {
        let kept = (0..count).filter(|_| random.index(3) > 0);
        Raw::List(kept.map(|n| format!("{letter}{n}")).collect())
    };
    let avoided = Raw::List(
        (0..random.index(3))
            .map(|_| format!("p{}", random.index(others)))
            .collect(),
    );
    let ping = ["eu", "us"].map(|region| (region.to_owned(), random.index(80) as f64));
    let kind = ["a", "b", "c"][random.index(3)].to_owned();
    let attributes = [
        ("tier", Raw::Number(1.0 + random.index(4) as f64)),
        ("kind", Raw::Text(kind)),
        ("vehicle", word("v", random.index(6))),
        ("maps", some("m", 4, random)),
        ("cap", Raw::Number(1.0 + random.index(4) as f64)),
        ("alone", Raw::Flag(random.index(6) == 0)),
        ("rating", Raw::Number(random.unit() * 2.0 - 1.0)),
        ("avoid", avoided),
        ("ping", Raw::Map(ping.into_iter().collect())),
    ];
    PlayerSpec {
        id: format!("p{id}"),
        attributes: attributes
            .map(|(name, value)| (name.to_owned(), value))
            .into(),
    }
}

/// Random tickets for it.
pub(crate) fn tickets(queue: &Queue, count: usize, random: &mut Stream) -> Vec<Ticket> {
    let mut next = 0;
    let mut ticket = |number| {
        let size = [1, 1, 1, 2, 3][random.index(5)];
        let players = (0..size).map(|_| {
            next += 1;
            player(next, 2 * count, random)
        });
        let spec = TicketSpec {
            ticket: format!("t{number}"),
            waited: 0.0,
            players: players.collect(),
        };
        let mut known = |_: &str| KnownAttributes {
            numbers: [("@weight".to_owned(), random.unit() * 100.0)].into(),
            met: vec![vec![format!("p{}", random.index(count))]; 3],
            ..KnownAttributes::default()
        };
        queue.ticket(&spec, &mut known).unwrap()
    };
    (0..count).map(&mut ticket).collect()
}

#[test]
fn every_type_is_in_the_tested_queue() {
    let queue = queue();
    for name in names() {
        assert!(
            queue.rules().iter().any(|rule| rule.kind.name == name),
            "{name}"
        );
    }
}

proptest! {
    #[test]
    fn a_tally_equals_the_evaluation_from_scratch(seed in any::<u64>()) {
        let (queue, mut random) = (queue(), Stream::new(seed, StreamPurpose::Arrivals));
        let tickets = tickets(&queue, 14, &mut random);
        let pool = Pool::new(&queue, &tickets, None);
        let rules = || queue.rules().iter().zip(&pool.prepared);
        let limit = |at: usize| queue.rules()[at].limit(0.0, 4);
        let mut tallies: Vec<_> = rules().enumerate().map(|(at, (_, prepared))| prepared.tally(2, limit(at))).collect();
        let mut teams = vec![Vec::new(), Vec::new()];
        let mut out: Vec<u32> = (0..14).collect();
        for _ in 0..60 {
            let team = random.index(2);
            if random.index(5) < 3 && !out.is_empty() {
                let ticket = out.swap_remove(random.index(out.len()));
                teams[team].push(ticket);
                tallies.iter_mut().for_each(|tally| tally.put(team, ticket));
            } else if !teams[team].is_empty() {
                let at = random.index(teams[team].len());
                let ticket = teams[team].swap_remove(at);
                out.push(ticket);
                tallies.iter_mut().for_each(|tally| tally.take(team, ticket));
            }
            let seated = SeatedMatch::new(&pool, &teams);
            for (at, ((rule, prepared), tally)) in rules().zip(&tallies).enumerate() {
                let scratch = seated.violation(at, limit(at));
                prop_assert_eq!(tally.violation(), scratch, "{} {}", rule.name, rule.kind.name);
                prop_assert!(!rule.rule.sentence(&pool.people, &teams, prepared.evaluate(&teams, limit(at))).is_empty());
                if prepared.is_monotone() && !out.is_empty() {
                    let mut more = teams.clone();
                    more[team].push(out[0]);
                    let more = prepared.violation(&more, limit(at));
                    prop_assert!(more >= scratch, "{} {}", rule.name, rule.kind.name);
                }
            }
        }
    }

    #[test]
    fn the_tickets_of_a_choice_meet_the_rule_in_any_match(seed in any::<u64>()) {
        let (queue, mut random) = (queue(), Stream::new(seed, StreamPurpose::Arrivals));
        let tickets = tickets(&queue, 30, &mut random);
        let pool = Pool::new(&queue, &tickets, None);
        for (at, (rule, prepared)) in queue.rules().iter().zip(&pool.prepared).enumerate() {
            let first = random.index(30) as u32;
            let limit = rule.limit(0.0, 4);
            for choice in prepared.choices(first, limit).unwrap_or_default() {
                let fitting: Vec<u32> = choice.tickets.iter().collect();
                prop_assert!(fitting.contains(&first), "{}", rule.name);
                let mut teams = vec![vec![first], Vec::new()];
                for ticket in fitting.into_iter().filter(|ticket| *ticket != first) {
                    if random.index(2) == 0 {
                        teams[random.index(2)].push(ticket);
                    }
                }
                let violation = SeatedMatch::new(&pool, &teams).violation(at, limit);
                prop_assert_eq!(violation, 0.0, "{} {}", rule.name, rule.kind.name);
            }
        }
    }
}
