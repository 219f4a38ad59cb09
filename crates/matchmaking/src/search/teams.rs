//! The teams of a match while they are being chosen, with the cost of every rule that the choice of
//! the candidates has not settled.

use crate::{
    pool::Pool,
    rules::{QueueRule, RuleTally},
};

/// What the violations cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cost {
    /// The sum over the hard rules; a match is only formed if it is 0.
    pub hard: f64,
    /// The sum over the other rules.
    pub soft: f64,
}

/// How much more a hard rule costs while teams are being improved.
const HARD: f64 = 100.0;

impl Cost {
    /// One number to compare while teams are being improved.
    pub fn energy(self) -> f64 {
        self.hard * HARD + self.soft
    }

    /// Whether this is better: first by the hard rules, then by the others.
    pub fn is_below(self, other: Self) -> bool {
        (self.hard, self.soft) < (other.hard, other.soft)
    }
}

/// The teams of a match while they are being chosen.
pub(super) struct TeamsInSearch<'p> {
    pub seats: Vec<Vec<u32>>,
    heads: Vec<usize>,
    terms: Vec<TeamTerm<'p>>,
    pool: &'p Pool<'p>,
}

struct TeamTerm<'p> {
    rule: &'p QueueRule,
    tally: Box<dyn RuleTally + 'p>,
}

impl<'p> TeamsInSearch<'p> {
    /// Empty teams for `size` players each. The rules at the places `decided_rules` cost nothing.
    pub fn new(pool: &'p Pool<'p>, size: usize, waited: f64, decided_rules: &[usize]) -> Self {
        let count = pool.queue.settings().teams.as_usize();
        let rules = pool.queue.rules().iter().zip(&pool.prepared).enumerate();
        let open = rules.filter(|(at, (rule, _))| !decided_rules.contains(at) && rule.weight > 0.0);
        let terms = open.map(|(_, (rule, prepared))| TeamTerm {
            rule,
            tally: prepared.tally(count, rule.limit(waited, size)),
        });
        Self {
            seats: vec![Vec::new(); count],
            heads: vec![0; count],
            terms: terms.collect(),
            pool,
        }
    }

    /// Adds a ticket to a team.
    pub fn put(&mut self, team: usize, ticket: u32) {
        self.seats[team].push(ticket);
        self.heads[team] += self.pool.people.size(ticket);
        for term in &mut self.terms {
            term.tally.put(team, ticket);
        }
    }

    /// Removes the ticket at a place of a team, and returns it.
    pub fn take_at(&mut self, team: usize, place: usize) -> Option<u32> {
        let seats = &mut self.seats[team];
        if place >= seats.len() {
            return None;
        }
        let ticket = seats.swap_remove(place);
        self.heads[team] -= self.pool.people.size(ticket);
        for term in &mut self.terms {
            term.tally.take(team, ticket);
        }
        Some(ticket)
    }

    /// Removes a ticket from a team.
    pub fn take(&mut self, team: usize, ticket: u32) {
        if let Some(place) = self.seats[team].iter().rposition(|other| *other == ticket) {
            self.take_at(team, place);
        }
    }

    /// Number of players on a team.
    pub fn heads(&self, team: usize) -> usize {
        self.heads[team]
    }

    /// The cost of all rules.
    pub fn cost(&self) -> Cost {
        self.sum(|_| true)
    }

    /// The cost of all rules but those about the size of teams.
    pub fn strain(&self) -> Cost {
        self.sum(|rule| !rule.kind.is_size())
    }

    /// The cost of the hard rules that more tickets can only violate more.
    pub fn growing(&self, grows: &[bool]) -> Cost {
        let mut cost = Cost::default();
        for (term, _) in self.terms.iter().zip(grows).filter(|(_, grows)| **grows) {
            add(&mut cost, term);
        }
        cost
    }

    /// For each rule that has a cost here, whether more tickets can only violate it more.
    pub fn grows(&self) -> Vec<bool> {
        let rules = self.pool.queue.rules();
        let grows = |term: &TeamTerm<'_>| {
            let at = rules.iter().position(|rule| std::ptr::eq(rule, term.rule));
            let prepared = at.and_then(|at| self.pool.prepared.get(at));
            prepared.is_some_and(|prepared| prepared.is_monotone())
        };
        self.terms.iter().map(grows).collect()
    }

    fn sum(&self, counts: impl Fn(&QueueRule) -> bool) -> Cost {
        let mut cost = Cost::default();
        for term in self.terms.iter().filter(|term| counts(term.rule)) {
            add(&mut cost, term);
        }
        cost
    }
}

fn add(cost: &mut Cost, term: &TeamTerm<'_>) {
    let violation = term.tally.violation();
    if violation > 0.0 {
        let own = term.rule.cost(violation);
        match term.rule.hard {
            true => cost.hard += own,
            false => cost.soft += own,
        }
    }
}
