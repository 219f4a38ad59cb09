//! A tally for rules that look at all seated tickets again after each change: there are so few that
//! this is quick.

use super::RuleTally;

/// Keeps the tickets on each team and computes the violation from them.
pub(super) struct Seated<F> {
    teams: Vec<Vec<u32>>,
    violation: F,
}

impl<F: Fn(&[Vec<u32>]) -> f64> Seated<F> {
    pub fn new(teams: usize, violation: F) -> Self {
        Self {
            teams: vec![Vec::new(); teams],
            violation,
        }
    }
}

impl<F: Fn(&[Vec<u32>]) -> f64> RuleTally for Seated<F> {
    fn put(&mut self, team: usize, ticket: u32) {
        self.teams[team].push(ticket);
    }

    fn take(&mut self, team: usize, ticket: u32) {
        let team = &mut self.teams[team];
        if let Some(at) = team.iter().position(|&other| other == ticket) {
            team.swap_remove(at);
        }
    }

    fn violation(&self) -> f64 {
        (self.violation)(&self.teams)
    }
}
