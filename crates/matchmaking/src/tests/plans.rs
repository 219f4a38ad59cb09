//! What must hold of every plan, whatever the tickets.

use std::sync::atomic::AtomicBool;

use proptest::prelude::*;

use super::{load::Load, oracle::SeatedMatch};
use crate::{Cores, Effort, KnownAttributes, OneCore, Plan, Queue, Ticket, plan, pool::Pool};
use evenkeel_model::{Stream, StreamPurpose};

const WOTB: &str = include_str!("../../../../config/queues/wotb.toml");

/// Runs the jobs of a batch in the opposite order, as another number of threads might.
pub(super) struct Backwards;

impl Cores for Backwards {
    fn run(&self, count: usize, job: &(dyn Fn(usize) + Sync)) {
        (0..count).rev().for_each(job);
    }
}

fn queue(name: &str) -> Queue {
    let table: toml::Table = WOTB.parse().unwrap();
    Queue::new(name, table["queue"][name].clone().try_into().unwrap()).unwrap()
}

fn tickets(queue: &Queue, count: usize, waited: f64, seed: u64) -> Vec<Ticket> {
    let mut stream = Stream::new(seed, StreamPurpose::Arrivals);
    let ticket = |number| {
        let waited = waited * (1.0 - number as f64 / count as f64);
        let spec = Load::default().ticket(number, waited, queue.name() == "rated", &mut stream);
        queue
            .ticket(&spec, &mut |_| KnownAttributes::default())
            .unwrap()
    };
    (0..count).map(ticket).collect()
}

fn check(queue: &Queue, tickets: &[Ticket], plan: &Plan) -> Result<(), TestCaseError> {
    let pool = Pool::new(queue, tickets, None);
    let mut times = vec![0; tickets.len()];
    plan.left.iter().for_each(|left| times[left.ticket] += 1);
    for found in &plan.matches {
        found
            .teams
            .iter()
            .flatten()
            .for_each(|ticket| times[*ticket] += 1);
        // The pool sorts the tickets: find those of the match in it.
        let inside = |ticket: &usize| {
            pool.places
                .iter()
                .position(|place| place == ticket)
                .unwrap() as u32
        };
        let teams: Vec<Vec<u32>> = found
            .teams
            .iter()
            .map(|team| team.iter().map(inside).collect())
            .collect();
        prop_assert!(queue.sizes(found.waited).contains(&found.size));
        for report in queue.explain(tickets, found) {
            prop_assert!(!report.hard || report.violation == 0.0, "{report:?}");
        }
        let seated = SeatedMatch::new(&pool, &teams);
        for (at, rule) in queue
            .rules()
            .iter()
            .enumerate()
            .filter(|(_, rule)| rule.hard)
        {
            let violation = seated.violation(at, rule.limit(found.waited, found.size));
            prop_assert_eq!(violation, 0.0, "{}", &rule.name);
        }
    }
    prop_assert!(
        times.iter().all(|times| *times == 1),
        "every ticket is in one place"
    );
    prop_assert!(plan.left.iter().all(|left| !left.reason.is_empty()));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn every_match_meets_every_hard_rule(seed in any::<u64>(), count in 1_usize..250, rated in any::<bool>(), effort in 1_u32..4) {
        let queue = queue(if rated { "rated" } else { "regular" });
        let tickets = tickets(&queue, count, 60.0, seed);
        let run = |cores: &dyn Cores| {
            plan(&queue, &tickets, seed, Effort::new(effort), cores, &AtomicBool::new(false))
        };
        let plan = run(&OneCore);
        check(&queue, &tickets, &plan)?;
        prop_assert_eq!(&plan, &run(&Backwards), "the order of the jobs changes nothing");
    }

    #[test]
    fn the_order_of_the_lines_changes_nothing(seed in any::<u64>()) {
        let queue = queue("regular");
        let mut tickets = tickets(&queue, 120, 10.0, seed);
        let ids = |tickets: &[Ticket]| {
            let plan = plan(&queue, tickets, 1, Effort::default(), &OneCore, &AtomicBool::new(false));
            let name = |place: &usize| tickets[*place].id.clone();
            let mut ids: Vec<Vec<String>> = plan.matches.iter().map(|found| {
                let mut ids: Vec<String> = found.teams.iter().flatten().map(name).collect();
                ids.sort();
                ids
            }).collect();
            ids.sort();
            ids
        };
        let before = ids(&tickets);
        tickets.reverse();
        prop_assert_eq!(before, ids(&tickets));
    }
}

#[test]
fn a_cancelled_round_ends_and_loses_no_ticket() {
    let queue = queue("regular");
    let tickets = tickets(&queue, 300, 10.0, 1);
    let plan = plan(
        &queue,
        &tickets,
        1,
        Effort::new(9),
        &OneCore,
        &AtomicBool::new(true),
    );
    check(&queue, &tickets, &plan).unwrap();
}

#[test]
fn no_tickets_are_no_matches() {
    let queue = queue("regular");
    let plan = plan(
        &queue,
        &[],
        1,
        Effort::default(),
        &OneCore,
        &AtomicBool::new(false),
    );
    assert_eq!((plan.matches.len(), plan.left.len()), (0, 0));
}

/// With full effort the rule of fairness still holds: a ticket that lost its place is younger than
/// one that got it, so the oldest ticket that can play does.
#[test]
fn more_effort_places_more_tickets() {
    let queue = queue("regular");
    let tickets = tickets(&queue, 400, 10.0, 3);
    let run = |effort| {
        plan(
            &queue,
            &tickets,
            1,
            Effort::new(effort),
            &OneCore,
            &AtomicBool::new(false),
        )
    };
    let (little, much) = (run(1), run(8));
    assert!(much.matches.len() >= little.matches.len());
}

#[test]
fn of_tickets_with_equal_waits_the_first_of_the_list_is_first() {
    let text = "teams = 2\nsize = 1\nruleset = 'x'";
    let queue = Queue::new("x", toml::from_str(text).unwrap()).unwrap();
    let ids = ["t9", "t10", "t2", "t1", "t11"];
    let ticket = |id: &str| {
        let json = format!(r#"{{"ticket":"{id}","waited":3,"players":[{{"id":"{id}"}}]}}"#);
        let spec = serde_json::from_str(&json).unwrap();
        queue
            .ticket(&spec, &mut |_| KnownAttributes::default())
            .unwrap()
    };
    let tickets: Vec<Ticket> = ids.into_iter().map(ticket).collect();
    let never = AtomicBool::new(false);
    let plan = plan(&queue, &tickets, 1, Effort::default(), &OneCore, &never);
    let mut places: Vec<Vec<usize>> = plan
        .matches
        .iter()
        .map(|found| found.teams.concat())
        .collect();
    places.iter_mut().for_each(|places| places.sort_unstable());
    assert_eq!(places, [[0, 1], [2, 3]]);
    assert_eq!(plan.left[0].ticket, 4);
}
