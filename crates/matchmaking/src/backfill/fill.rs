//! Fills the free seats of one match, addition by addition.

use std::collections::BTreeSet;

use super::{
    Addition,
    game::Game,
    trial::{Allowed, Trial},
};
use crate::planner::reports;

/// The most additions that compete.
const CHOICE: usize = 8;
/// The most additions of a match that are looked at.
const STEPS: usize = 4_000;
/// The most tickets of one addition.
const TOGETHER: usize = 4;

impl<'p> Game<'p> {
    /// Fills as many seats as tickets are found for; these are added to `taken`.
    pub fn fill(&mut self, taken: &mut BTreeSet<u32>) -> Vec<Addition> {
        let mut found = Vec::new();
        while self.free.iter().any(|free| *free > 0) {
            let Some(best) = self.best(taken) else {
                break;
            };
            for &(ticket, team) in &best.seats {
                let size = self.pool.people.size(ticket);
                taken.insert(ticket);
                self.teams[team].push(ticket);
                self.free[team] -= size;
                self.heads[team] += size;
            }
            found.push(self.addition(&best));
        }
        found
    }

    fn addition(&self, best: &Allowed) -> Addition {
        let waited = self.waited(best);
        Addition {
            seats: best
                .seats
                .iter()
                .map(|&(ticket, team)| (self.place(ticket), team))
                .collect(),
            penalty: best.soft,
            reports: reports(self.pool, &self.teams, waited, self.open.size),
        }
    }

    /// The place of a ticket in the caller's list.
    fn place(&self, ticket: u32) -> usize {
        self.pool.places[ticket as usize]
    }

    /// The longest wait: of the match's oldest ticket when it was formed, and of the added ones.
    fn waited(&self, best: &Allowed) -> f64 {
        let waits = best
            .seats
            .iter()
            .map(|(ticket, _)| self.pool.waited(*ticket));
        waits.fold(self.open.waited, f64::max)
    }

    /// The best addition with as few tickets as possible.
    fn best(&self, taken: &BTreeSet<u32>) -> Option<Allowed> {
        let tickets: Vec<u32> = (0..self.pool.len() as u32)
            .filter(|ticket| !taken.contains(ticket) && self.admits(*ticket))
            .collect();
        let most = self.free.iter().sum::<usize>().min(TOGETHER);
        let mut trial = self.trial(&tickets);
        let mut numbers = 1..=most;
        numbers.find_map(|number| self.best_of(&mut trial, number))
    }

    /// The best of the first additions of `number` tickets that are allowed.
    fn best_of(&self, trial: &mut Trial<'_, 'p>, number: usize) -> Option<Allowed> {
        trial.steps = STEPS.max(trial.tickets.len() * self.teams.len());
        let mut best: Option<(f64, Allowed)> = None;
        let mut found = 0;
        for (at, &ticket) in trial.tickets.iter().enumerate() {
            let waited = self.pool.waited(ticket);
            if trial.steps == 0
                || found >= CHOICE
                || best.as_ref().is_some_and(|(first, _)| waited < first / 2.0)
            {
                break;
            }
            trial.wait(waited.max(self.open.waited));
            trial.extend(at, number);
            let Some(next) = trial.best.take() else {
                continue;
            };
            found += 1;
            let key = |one: &Allowed| (one.hard, one.gap);
            best = Some(match best {
                None => (waited, next),
                Some((first, old)) if key(&next) < key(&old) => (first, next),
                Some(old) => old,
            });
        }
        best.map(|(_, best)| best)
    }

    /// Whether a ticket waits, and may join the match as far as a look at the ticket alone shows.
    fn admits(&self, ticket: u32) -> bool {
        let place = self.place(ticket);
        let waits = place < self.waiting && !self.open.barred.contains(&place);
        let size = self.pool.people.size(ticket);
        waits && self.free.iter().any(|free| *free >= size) && self.has_picks(ticket)
    }

    /// Whether the ticket's players have what the rules picked for the match: its mode and its map.
    fn has_picks(&self, ticket: u32) -> bool {
        let mut rules = self.pool.queue.rules().iter().filter(|rule| rule.hard);
        rules.all(|rule| {
            let pick = rule
                .picks
                .as_ref()
                .and_then(|name| self.open.picks.get(name));
            pick.is_none_or(|pick| rule.rule.admits(&self.pool.people, ticket, pick))
        })
    }

    /// A search among these tickets, which have waited for as long as the match's own when it was formed.
    fn trial<'g>(&'g self, tickets: &'g [u32]) -> Trial<'g, 'p> {
        Trial {
            game: self,
            limits: self.limits(self.open.waited),
            terms: self.terms(self.open.waited),
            tickets,
            accepted: self.pool.queue.accepts(self.open.waited),
            free: self.free.clone(),
            heads: self.heads.clone(),
            chosen: Vec::new(),
            steps: 0,
            best: None,
        }
    }
}
