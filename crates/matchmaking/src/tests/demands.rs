//! Rules that demand some players on each team, where there are few of them.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use proptest::prelude::*;

use crate::{
    Cores, Effort, KnownAttributes, OneCore, Plan, Queue, Ticket, TicketSpec, plan, pool::Pool,
};
use evenkeel_model::{Stream, StreamPurpose};

const PICKUP: &str = include_str!("../../../../config/queues/pickup.toml");

fn shipped(name: &str) -> Queue {
    let table: toml::Table = PICKUP.parse().unwrap();
    let settings = table["queue"][name].clone().try_into().unwrap();
    Queue::new(name, settings).unwrap()
}

fn ticket(queue: &Queue, id: &str, waited: usize, more: &str) -> Ticket {
    let json =
        format!(r#"{{"ticket":"{id}","waited":{waited},"players":[{{"id":"{id}"{more}}}]}}"#);
    let spec: TicketSpec = serde_json::from_str(&json).unwrap();
    queue
        .ticket(&spec, &mut |_| KnownAttributes::default())
        .unwrap()
}

fn planned(queue: &Queue, tickets: &[Ticket]) -> Plan {
    let never = AtomicBool::new(false);
    plan(queue, tickets, 1, Effort::default(), &OneCore, &never)
}

const CAPTAIN: &str = r#","captain":true"#;
const MEDIC: &str = r#","roles":["medic"]"#;

#[test]
fn a_match_leaves_the_medics_and_captains_that_it_does_not_need() {
    let queue = shipped("roles");
    // The four captains and four medics have waited longer than most, so the first match could have
    // all of them.
    let tickets: Vec<Ticket> = (0..24)
        .map(|at| {
            let more = match at {
                1..=4 => CAPTAIN,
                5..=8 => MEDIC,
                _ => "",
            };
            ticket(&queue, &format!("t{at}"), 100 - at, more)
        })
        .collect();
    let plan = planned(&queue, &tickets);
    assert_eq!((plan.matches.len(), plan.left.len()), (2, 0), "{plan:?}");
}

#[test]
fn captains_behind_a_long_line_are_found() {
    let queue = shipped("roles");
    let mut tickets: Vec<Ticket> = (0..1_000)
        .map(|at| ticket(&queue, &format!("t{at}"), 2_000 - at, ""))
        .collect();
    for at in 0..4 {
        tickets.push(ticket(&queue, &format!("c{at}"), 4 - at, CAPTAIN));
        tickets.push(ticket(&queue, &format!("m{at}"), 4 - at, MEDIC));
    }
    let plan = planned(&queue, &tickets);
    assert_eq!(plan.matches.len(), 2);
    // The oldest ticket and the captains who have waited longest come first.
    let first = plan.matches[0].teams.iter().flatten();
    let ids: Vec<&str> = first.map(|at| tickets[*at].id.as_str()).collect();
    for id in ["t0", "c0", "c1", "m0", "m1"] {
        assert!(ids.contains(&id), "{id} in {ids:?}");
    }
}

/// A queue for teams of seven, with at most three players of a kind on each.
fn kinds() -> Queue {
    let text = r#"
        teams = 2
        size = 7
        ruleset = "x"
        attributes = { kind = "enum heavy light medium destroyer" }
        rule = [
          { name = "full", rule = "full", hard = true },
          { name = "three of a kind", rule = "at-most-each", of = "kind", at_most = 3, hard = true },
        ]
    "#;
    Queue::new("x", toml::from_str(text).unwrap()).unwrap()
}

fn of_kind(queue: &Queue, at: usize, kind: &str) -> Ticket {
    let more = format!(r#","kind":"{kind}""#);
    ticket(queue, &format!("t{at}"), 10_000 - at, &more)
}

#[test]
fn players_of_rare_kinds_are_found_behind_a_long_line_of_one_kind() {
    let queue = kinds();
    let heavies = (0..2_000).map(|at| of_kind(&queue, at, "heavy"));
    let others = (2_000..2_150).map(|at| {
        let kind = ["light", "medium", "destroyer"][at % 3];
        of_kind(&queue, at, kind)
    });
    let tickets: Vec<Ticket> = heavies.chain(others).collect();
    let plan = planned(&queue, &tickets);
    // Each match has at most 6 heavies, so it needs 8 of the 150 others: there are 18 matches at most.
    assert!(plan.matches.len() >= 17, "{} matches", plan.matches.len());
    let oldest: Vec<bool> = (0..6)
        .map(|at| {
            plan.matches
                .iter()
                .any(|found| found.teams.iter().flatten().any(|seat| *seat == at))
        })
        .collect();
    assert_eq!(oldest, [true; 6]);
}

#[test]
fn where_all_are_of_one_kind_the_reason_names_the_limit() {
    let queue = kinds();
    let tickets: Vec<Ticket> = (0..1_000).map(|at| of_kind(&queue, at, "heavy")).collect();
    let plan = planned(&queue, &tickets);
    assert_eq!(plan.matches.len(), 0);
    assert!(
        plan.left
            .iter()
            .all(|left| left.reason.contains("three of a kind")),
        "{:?}",
        plan.left[0]
    );
}

#[test]
fn avoided_players_may_have_spaces_in_their_ids() {
    let queue = shipped("pickup");
    let one = ticket(&queue, "t1", 0, r#","avoid":["Boring John"]"#);
    assert_eq!(one.players.len(), 1);
    let json = r#"{"ticket":"t","players":[{"id":"p","avoid":[""]}]}"#;
    let spec: TicketSpec = serde_json::from_str(json).unwrap();
    let refused = queue
        .ticket(&spec, &mut |_| KnownAttributes::default())
        .unwrap_err();
    assert_eq!(
        refused.to_string(),
        "p: avoid must be the ids of up to 128 players"
    );
}

#[test]
fn the_penalty_is_that_of_the_teams_after_the_final_split() {
    let text = r#"
        teams = 8
        size = 2
        ruleset = "r"
        [[rule]]
        name = "even chances"
        rule = "chance"
        of = "@weight"
        at_most = 0.0
    "#;
    let queue = Queue::new("x", toml::from_str(text).unwrap()).unwrap();
    let tickets: Vec<Ticket> = (0..16)
        .map(|at| {
            let json = format!(r#"{{"ticket":"t{at}","players":[{{"id":"p{at}"}}]}}"#);
            let spec: TicketSpec = serde_json::from_str(&json).unwrap();
            let mut known = KnownAttributes::default();
            let weight = f64::from(at * at) + 0.37;
            known.numbers.insert("@weight".to_owned(), weight);
            queue.ticket(&spec, &mut |_| known.clone()).unwrap()
        })
        .collect();
    let plan = planned(&queue, &tickets);
    let found = &plan.matches[0];
    let cost: f64 = queue
        .explain(&tickets, found)
        .iter()
        .map(|rule| rule.cost)
        .sum();
    assert!(
        (found.penalty - cost).abs() < 1e-9,
        "{found:?} costs {cost}"
    );
}

/// Counts the jobs of a round: its searches, and the starts of each.
#[derive(Default)]
struct Counting(AtomicUsize);

impl Cores for Counting {
    fn run(&self, count: usize, job: &(dyn Fn(usize) + Sync)) {
        self.0.fetch_add(count, Ordering::Relaxed);
        (0..count).for_each(job);
    }

    fn share(&self, _: usize) -> Box<dyn Cores + '_> {
        Box::new(Shared(self))
    }
}

/// Counts with the cores of its batch.
struct Shared<'a>(&'a Counting);

impl Cores for Shared<'_> {
    fn run(&self, count: usize, job: &(dyn Fn(usize) + Sync)) {
        self.0.run(count, job);
    }
}

fn jobs(queue: &Queue, tickets: &[Ticket]) -> (usize, Plan) {
    let cores = Counting::default();
    let never = AtomicBool::new(false);
    let plan = plan(queue, tickets, 1, Effort::default(), &cores, &never);
    (cores.0.into_inner(), plan)
}

#[test]
fn nothing_is_searched_for_where_the_captains_are_too_few() {
    let queue = shipped("roles");
    let plain = |at: usize| ticket(&queue, &format!("t{at}"), 2_000 - at, MEDIC);
    let mut tickets: Vec<Ticket> = (0..1_000).map(plain).collect();
    for provided in 0..2 {
        let (jobs, plan) = jobs(&queue, &tickets);
        assert_eq!((jobs, plan.left.len()), (0, tickets.len()));
        let reason = format!(
            "a captain for each team: a match needs 2 players for it, 1 on each team; the candidates can \
             provide {provided}"
        );
        assert!(plan.left.iter().all(|left| left.reason == reason));
        tickets.push(ticket(&queue, &format!("c{provided}"), 1, CAPTAIN));
    }
    let (found, plan) = jobs(&queue, &tickets);
    assert_eq!((plan.matches.len(), plan.left.len()), (1, 990));
    // One batch of 4 searches with 4 starts each, and nothing for the tickets that are left.
    assert!(found <= 20, "{found} jobs");
}

#[test]
fn two_captains_of_one_party_are_not_enough() {
    let queue = shipped("roles");
    let json = r#"{"ticket":"c","waited":9,"players":[{"id":"c1","captain":true},{"id":"c2","captain":true}]}"#;
    let party: TicketSpec = serde_json::from_str(json).unwrap();
    let mut tickets = vec![
        queue
            .ticket(&party, &mut |_| KnownAttributes::default())
            .unwrap(),
    ];
    tickets.extend((0..20).map(|at| ticket(&queue, &format!("t{at}"), 1, MEDIC)));
    let (found, plan) = jobs(&queue, &tickets);
    assert_eq!((found, plan.matches.len()), (0, 0));
    assert!(plan.left[0].reason.ends_with("can provide 1"));
}

/// A queue for two teams of two, with a demand that varies.
fn demanding(least: usize) -> Queue {
    let text = format!(
        r#"
        teams = 2
        size = 2
        ruleset = "x"
        attributes = {{ role = "enum a b c" }}
        rule = [
          {{ name = "one a", rule = "has", of = "role", value = "a", at_least = 1, hard = true }},
          {{ name = "some b", rule = "has", of = "role", value = "b", at_least = {least}, hard = true }},
        ]
        "#
    );
    Queue::new("x", toml::from_str(&text).unwrap()).unwrap()
}

/// Whether some full teams of the tickets meet all rules, by trying every assignment.
fn has_match(pool: &Pool<'_>) -> bool {
    (0..3_usize.pow(pool.len() as u32)).any(|assignment| {
        let mut teams = vec![Vec::new(), Vec::new()];
        let mut rest = assignment;
        for ticket in 0..pool.len() as u32 {
            if let Some(team) = teams.get_mut(rest % 3) {
                team.push(ticket);
            }
            rest /= 3;
        }
        let mut rules = pool.queue.rules().iter().zip(&pool.prepared);
        rules.all(|(rule, prepared)| prepared.violation(&teams, rule.limit(0.0, 2)) == 0.0)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn where_the_demands_cannot_be_met_there_is_no_match(seed in any::<u64>(), count in 1_usize..7, least in 1_usize..3) {
        let queue = demanding(least);
        let mut random = Stream::new(seed, StreamPurpose::Arrivals);
        let tickets: Vec<Ticket> = (0..count).map(|number| {
            let players = (0..1 + random.index(2)).map(|at| {
                format!(r#"{{"id":"{number}.{at}","role":"{}"}}"#, ["a", "b", "c"][random.index(3)])
            });
            let players: Vec<String> = players.collect();
            let json = format!(r#"{{"ticket":"t{number}","players":[{}]}}"#, players.join(","));
            let spec: TicketSpec = serde_json::from_str(&json).unwrap();
            queue.ticket(&spec, &mut |_| KnownAttributes::default()).unwrap()
        }).collect();
        let pool = Pool::new(&queue, &tickets, None);
        let possible = has_match(&pool);
        prop_assert!(!possible || pool.lacking(&pool.all()).is_none());
        let plan = planned(&queue, &tickets);
        prop_assert_eq!(plan.matches.is_empty(), !possible, "{:?}", plan);
    }
}
