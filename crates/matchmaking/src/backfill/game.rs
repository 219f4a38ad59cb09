//! One match in play while its seats are filled.

use super::OpenMatch;
use crate::{
    pool::Pool,
    rules::{PreparedRule, QueueRule, RuleTally},
};

/// A match while its seats are filled.
pub(super) struct Game<'p> {
    pub pool: &'p Pool<'p>,
    pub open: &'p OpenMatch,
    /// Number of tickets that wait; they have the first places of the caller's list.
    pub waiting: usize,
    pub teams: Vec<Vec<u32>>,
    pub free: Vec<usize>,
    pub heads: Vec<usize>,
}

/// A rule with the violation of the teams as they are being filled.
pub(super) struct Term<'p> {
    pub rule: &'p QueueRule,
    pub prepared: &'p dyn PreparedRule,
    pub tally: Box<dyn RuleTally + 'p>,
    /// The violation without any addition.
    pub before: f64,
}

impl<'p> Game<'p> {
    /// The limits of all rules after a wait.
    pub fn limits(&self, waited: f64) -> Vec<f64> {
        let rules = self.pool.queue.rules().iter();
        rules
            .map(|rule| rule.limit(waited, self.open.size))
            .collect()
    }

    /// The rules but those about the size of teams, which the numbers of free seats stand for.
    pub fn terms(&self, waited: f64) -> Vec<Term<'p>> {
        let rules = self.pool.queue.rules().iter().zip(&self.pool.prepared);
        let terms = rules
            .filter(|(rule, _)| !rule.kind.is_size())
            .map(|(rule, prepared)| {
                let mut tally =
                    prepared.tally(self.teams.len(), rule.limit(waited, self.open.size));
                for (at, team) in self.teams.iter().enumerate() {
                    team.iter().for_each(|ticket| tally.put(at, *ticket));
                }
                Term {
                    rule,
                    prepared: prepared.as_ref(),
                    before: tally.violation(),
                    tally,
                }
            });
        terms.collect()
    }
}
