//! Searches that panic, because of a fault in this program that some tickets bring to light: which ticket
//! is set aside, so that all others go on.
//!
//! A search that panics is made once more. If it panics again, the ticket is sought without which it finds a
//! match: by bisection over the candidates in their order, and then in the opposite one. If no single
//! candidate makes the difference, the ticket from which the search starts is set aside. That can be wrong
//! only if so few tickets are left that there is no match without any one of them.

use std::sync::atomic::AtomicBool;

use super::PlanRound;
use crate::matchmaking::{
    OneCore,
    bits::Bits,
    guard::guard,
    search::{Failure, MatchProposal, MatchSearch},
};

/// A ticket that is left out because a search with it has panicked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    /// Its place in the caller's list.
    pub ticket: usize,
    /// The place of the ticket from which the search started.
    pub seed: usize,
    /// The message of the panic.
    pub fault: String,
}

/// What a search has found, or the message of its panic.
pub(super) type Searched = Result<Result<MatchProposal, Failure>, String>;

/// What became of a search that has panicked.
pub(super) struct Mended {
    /// The ticket to set aside and the message of the panic, if it panics every time.
    pub aside: Option<(u32, String)>,
    /// What the search finds without that ticket, unless it is the seed.
    pub result: Option<Result<MatchProposal, Failure>>,
}

impl PlanRound<'_> {
    /// Searches from a ticket on one core.
    fn search(&self, seed: u32, free: &Bits, cancelled: &AtomicBool) -> Searched {
        let budget = self.effort.budget();
        let search = || {
            let search = MatchSearch::new(self.pool, seed, free, budget, self.seed);
            search.run(&OneCore, cancelled)
        };
        guard(search)
    }

    /// Searches again from a ticket whose search has panicked, and finds the ticket that is to blame.
    pub(super) fn mend(&self, seed: u32, cancelled: &AtomicBool) -> Mended {
        let fault = match self.search(seed, &self.free, cancelled) {
            Err(fault) => fault,
            Ok(result) => {
                return Mended {
                    aside: None,
                    result: Some(result),
                };
            }
        };
        let mut others: Vec<u32> = self.free.iter().filter(|other| *other != seed).collect();
        for _ in 0..2 {
            let Some(culprit) = self.culprit(seed, &others, cancelled) else {
                break;
            };
            let mut free = self.free.clone();
            free.remove(culprit);
            if let Ok(Ok(found)) = self.search(seed, &free, cancelled) {
                return Mended {
                    aside: Some((culprit, fault)),
                    result: Some(Ok(found)),
                };
            }
            others.reverse();
        }
        Mended {
            aside: Some((seed, fault)),
            result: None,
        }
    }

    /// A ticket whose addition to those before it in the list makes the search panic; `None` if it panics
    /// with the seed alone. Needs a number of searches in proportion to the logarithm of the list's length.
    fn culprit(&self, seed: u32, others: &[u32], cancelled: &AtomicBool) -> Option<u32> {
        let panics = |count: usize| {
            let mut free = Bits::empty(self.pool.len());
            free.insert(seed);
            others
                .iter()
                .take(count)
                .for_each(|other| free.insert(*other));
            self.search(seed, &free, cancelled).is_err()
        };
        if panics(0) {
            return None;
        }
        let (mut sound, mut faulty) = (0, others.len());
        while faulty - sound > 1 {
            let middle = usize::midpoint(sound, faulty);
            match panics(middle) {
                true => faulty = middle,
                false => sound = middle,
            }
        }
        others.get(sound).copied()
    }

    /// Leaves a ticket out of the rest of the round.
    pub(super) fn set_aside(&mut self, ticket: u32, seed: u32, fault: String) {
        let place = |ticket: u32| self.pool.places.get(ticket as usize).copied().unwrap_or(0);
        let aside = SetAside {
            ticket: place(ticket),
            seed: place(seed),
            fault,
        };
        self.free.remove(ticket);
        self.aside.push(aside);
        let failure = Failure {
            is_faulty: true,
            ..Failure::default()
        };
        self.failures.push((ticket, failure));
    }
}
