//! What the starts on one combination share: its candidates, and whether they can fill the teams at all.

use std::sync::OnceLock;

use super::{Candidates, MatchSearch, Unfilled, reach::Reach};
use crate::pool::Combination;

/// A combination on which starts for one size of teams search.
pub(super) struct CandidateSet<'c> {
    pub combination: &'c Combination,
    /// Computed by the first start.
    candidates: OnceLock<CheckedCandidates>,
}

impl<'c> CandidateSet<'c> {
    pub fn new(combination: &'c Combination) -> Self {
        Self {
            combination,
            candidates: OnceLock::new(),
        }
    }
}

/// The candidates of a combination.
pub(super) struct CheckedCandidates {
    pub candidates: Candidates,
    /// Why they cannot fill the teams, as far as the rules that count values can tell.
    pub unfilled: Option<Unfilled>,
}

impl MatchSearch<'_> {
    /// The candidates of a combination, which all of its starts share.
    pub(super) fn candidates<'g>(
        &self,
        set: &'g CandidateSet<'_>,
        size: usize,
    ) -> &'g CheckedCandidates {
        set.candidates.get_or_init(|| {
            let tickets = &set.combination.tickets;
            let candidates = Candidates::of(self.pool, self.seed, tickets);
            let count = self.pool.queue.settings().teams.as_usize();
            let reach = Reach::new(self.pool, &candidates, count, size);
            CheckedCandidates {
                unfilled: reach.unfilled(count * size),
                candidates,
            }
        })
    }

    /// Why no combination can fill teams of this size; `None` if one of them may.
    pub(super) fn unfilled(&self, sets: &[CandidateSet<'_>], size: usize) -> Option<Unfilled> {
        let (first, others) = sets.split_first()?;
        let unfilled = self.candidates(first, size).unfilled?;
        // Where not even all tickets together fill the teams, no combination needs a look.
        let mut all = first.combination.tickets.clone();
        for set in others {
            all.add(&set.combination.tickets);
        }
        let teams = self.pool.queue.settings().teams.as_usize();
        let reach = Reach::of(self.pool, self.seed, all.iter(), teams, size);
        if reach.unfilled(teams * size).is_some() {
            return Some(unfilled);
        }
        let mut others = others.iter();
        let may_fill = others.any(|set| self.candidates(set, size).unfilled.is_none());
        (!may_fill).then_some(unfilled)
    }
}
