//! Searches that panic with one of the tickets: it is set aside, and all others play.

use std::sync::atomic::AtomicBool;

use proptest::prelude::*;

use super::situations::{queue, ticket};
use crate::matchmaking::{
    Cores, Effort, OneCore, OpenMatch, Plan, PlanInput, Queue, Ticket,
    people::People,
    plan,
    rules::{Bound, Rule, RuleTally, Teams},
};

/// A rule that stands for a fault of the program: it panics once so many tickets are seated, if one of them
/// has a player with the skill 13.
#[derive(Clone, Copy, Debug)]
struct Fault {
    column: usize,
    seated: usize,
}

struct Poisoned {
    poison: Vec<bool>,
    seated: usize,
}

struct Seats<'a> {
    of: &'a Poisoned,
    tickets: Vec<u32>,
}

impl Rule for Fault {
    fn violation(&self, _: &People, _: Teams<'_>, _: f64) -> f64 {
        0.0
    }

    fn sentence(&self, _: &People, _: Teams<'_>, _: f64) -> String {
        "nothing is wrong".to_owned()
    }

    fn bind(&self, people: &People) -> Box<dyn Bound> {
        let tickets = 0..people.tickets() as u32;
        let is_poison = |ticket: u32| {
            let mut skills = people
                .members(ticket)
                .map(|one| people.number(self.column, one));
            skills.any(|skill| skill == 13.0)
        };
        Box::new(Poisoned {
            poison: tickets.map(is_poison).collect(),
            seated: self.seated,
        })
    }
}

impl Bound for Poisoned {
    fn tally(&self, _: usize, _: f64) -> Box<dyn RuleTally + '_> {
        let tickets = Vec::new();
        Box::new(Seats { of: self, tickets })
    }
}

impl RuleTally for Seats<'_> {
    fn put(&mut self, _: usize, ticket: u32) {
        self.tickets.push(ticket);
        let mut tickets = self.tickets.iter();
        let has_poison = tickets.any(|ticket| self.of.poison[*ticket as usize]);
        // As a panic does, without its message on the error stream.
        if has_poison && self.tickets.len() >= self.of.seated {
            std::panic::resume_unwind(Box::new("the poison works"));
        }
    }

    fn take(&mut self, _: usize, ticket: u32) {
        let at = self.tickets.iter().position(|one| *one == ticket);
        self.tickets.swap_remove(at.unwrap());
    }

    fn violation(&self) -> f64 {
        0.0
    }
}

/// A queue of two against two that panics once so many tickets are seated, poison among them.
fn faulty(seated: usize) -> Queue {
    let text = "teams = 2\nsize = 2\nruleset = \"ctf\"\neven_by = \"skill\"\n[attributes]\nskill = \"num\"\n";
    let mut queue = queue(text);
    let column = queue.even_by();
    queue.add_rule("fault", Box::new(Fault { column, seated }));
    queue
}

/// Solos, the first of whom has waited longest. The one at `poison` makes searches panic.
fn tickets(queue: &Queue, count: usize, poison: usize) -> Vec<Ticket> {
    let one = |at: usize| {
        let (waited, skill) = (count - at, if at == poison { 13 } else { 50 });
        let json = format!(
            r#"{{"ticket":"t{at}","waited":{waited},"players":[{{"id":"p{at}","skill":{skill}}}]}}"#
        );
        ticket(queue, &json)
    };
    (0..count).map(one).collect()
}

fn planned(queue: &Queue, tickets: &[Ticket], cores: &dyn Cores) -> Plan {
    let cancelled = AtomicBool::new(false);
    plan(queue, tickets, 1, Effort::default(), cores, &cancelled)
}

fn aside(plan: &Plan) -> Vec<usize> {
    plan.set_aside.iter().map(|one| one.ticket).collect()
}

#[test]
fn the_oldest_ticket_is_set_aside_and_the_others_play() {
    let queue = faulty(1);
    let tickets = tickets(&queue, 13, 0);
    let plan = planned(&queue, &tickets, &OneCore);
    assert_eq!(plan.matches.len(), 3);
    assert_eq!(aside(&plan), [0]);
    assert_eq!(plan.set_aside[0].fault, "the poison works");
    assert_eq!(plan.left.len(), 1);
    let reason = "a fault of the program: a search with this ticket has failed";
    assert_eq!(plan.left[0].reason, reason);
    let why = PlanInput::new(&queue, &tickets).why(0, &[1, 2, 3, 4], &AtomicBool::new(false));
    let reason = why.unwrap().reason;
    assert!(
        reason.starts_with("held back by a fault of the program"),
        "{reason}"
    );
}

#[test]
fn a_candidate_is_set_aside_and_not_the_ticket_that_the_search_starts_from() {
    for poison in [1, 5, 12] {
        for seated in 1..=4 {
            let queue = faulty(seated);
            let tickets = tickets(&queue, 13, poison);
            let plan = planned(&queue, &tickets, &OneCore);
            assert_eq!(plan.matches.len(), 3, "{poison} {seated}");
            let others = aside(&plan).into_iter().filter(|at| *at != poison);
            assert_eq!(others.count(), 0, "{poison} {seated}: {plan:?}");
            assert!(plan.left.iter().any(|left| left.ticket == poison));
        }
    }
}

#[test]
fn the_number_of_cores_changes_nothing() {
    struct Backwards;
    impl Cores for Backwards {
        fn run(&self, count: usize, job: &(dyn Fn(usize) + Sync)) {
            (0..count).rev().for_each(job);
        }
    }
    let queue = faulty(3);
    let tickets = tickets(&queue, 29, 17);
    let plan = planned(&queue, &tickets, &OneCore);
    assert_eq!(planned(&queue, &tickets, &Backwards), plan);
}

#[test]
fn a_free_seat_goes_to_the_next() {
    let queue = faulty(1);
    let tickets = tickets(&queue, 2, 0);
    let there = |at: usize| {
        let json = format!(r#"{{"ticket":"m{at}","players":[{{"id":"m{at}","skill":50}}]}}"#);
        ticket(&queue, &json)
    };
    let open = OpenMatch {
        teams: vec![vec![there(0)], vec![there(1), there(2)]],
        free: vec![1, 0],
        heads: vec![1, 2],
        size: 2,
        ..OpenMatch::default()
    };
    let filled = PlanInput::new(&queue, &tickets).backfill(&[open]);
    assert_eq!(filled.additions[0][0].seats, [(1, 0)]);
    assert_eq!(filled.set_aside.len(), 1);
    assert_eq!(filled.set_aside[0].ticket, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// However few tickets wait: the round ends, the poisonous ticket is in no match, and every ticket is in
    /// a match or left.
    #[test]
    fn a_round_with_a_fault_ends(count in 1usize..40, poison in 0usize..40, seated in 1usize..5) {
        let queue = faulty(seated);
        let tickets = tickets(&queue, count, poison);
        let plan = planned(&queue, &tickets, &OneCore);
        let mut all: Vec<usize> = plan.matches.iter().flat_map(|one| one.teams.iter().flatten()).copied().collect();
        prop_assert!(!all.contains(&poison));
        all.extend(plan.left.iter().map(|left| left.ticket));
        all.sort_unstable();
        prop_assert_eq!(all, (0..count).collect::<Vec<_>>());
        let innocent = aside(&plan).into_iter().filter(|at| *at != poison).count();
        prop_assert!(innocent <= 1, "{:?}", plan.set_aside);
        prop_assert!(plan.matches.len() >= count.saturating_sub(2) / 4, "{:?}", plan.matches);
    }
}
