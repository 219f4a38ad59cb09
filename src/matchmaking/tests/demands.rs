//! Rules that demand some players on each team, where there are few of them.

use std::sync::atomic::AtomicBool;

use crate::matchmaking::{Effort, Known, OneCore, Plan, Queue, Ticket, TicketSpec, plan};

const PICKUP: &str = include_str!("../../../config/queues/pickup.toml");

fn shipped(name: &str) -> Queue {
    let table: toml::Table = PICKUP.parse().unwrap();
    let settings = table["queue"][name].clone().try_into().unwrap();
    Queue::new(name, settings).unwrap()
}

fn ticket(queue: &Queue, id: &str, waited: usize, more: &str) -> Ticket {
    let json =
        format!(r#"{{"ticket":"{id}","waited":{waited},"players":[{{"id":"{id}"{more}}}]}}"#);
    let spec: TicketSpec = serde_json::from_str(&json).unwrap();
    queue.ticket(spec, &mut |_| Known::default()).unwrap()
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

#[test]
fn avoided_players_may_have_spaces_in_their_ids() {
    let queue = shipped("pickup");
    let one = ticket(&queue, "t1", 0, r#","avoid":["Boring John"]"#);
    assert_eq!(one.players.len(), 1);
    let json = r#"{"ticket":"t","players":[{"id":"p","avoid":[""]}]}"#;
    let spec: TicketSpec = serde_json::from_str(json).unwrap();
    let refused = queue.ticket(spec, &mut |_| Known::default()).unwrap_err();
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
            let mut known = Known::default();
            let weight = f64::from(at * at) + 0.37;
            known.numbers.insert("@weight".to_owned(), weight);
            queue.ticket(spec, &mut |_| known.clone()).unwrap()
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
