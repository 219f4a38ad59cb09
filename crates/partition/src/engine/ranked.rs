//! The K best splits of any number of teams; the seed orders ties.

use std::{cmp::Reverse, collections::BTreeSet};

use crate::{balance::Evenness, instance::Split};
use evenkeel_model::seeded_hash;

/// Keeps the `keep` best of the different splits offered. Of equally even ones it keeps those with
/// the smallest hash under the seed, so that offering all of them gives a fair draw in any order.
/// O(log keep) per offer.
pub(crate) struct Ranked {
    keep: usize,
    seed: u64,
    splits: BTreeSet<(Reverse<Evenness>, u64, Split)>,
}

impl Ranked {
    pub fn new(keep: usize, seed: u64) -> Self {
        Self {
            keep,
            seed,
            splits: BTreeSet::new(),
        }
    }

    /// The evenness of the last split kept, once there are `keep`: a less even one is not worth
    /// offering.
    pub fn at(&self) -> Option<Evenness> {
        let last = self.splits.last()?;
        (self.splits.len() == self.keep).then_some(last.0.0)
    }

    /// The evenness of the best split so far.
    pub fn best(&self) -> Option<Evenness> {
        self.splits.first().map(|first| first.0.0)
    }

    /// Adds `split` if it is among the best so far.
    pub fn offer(&mut self, balance: Evenness, split: &[u8]) {
        if self.at().is_some_and(|at| balance < at) {
            return;
        }
        let hash = seeded_hash(self.seed, split.iter().copied());
        self.splits.insert((Reverse(balance), hash, split.into()));
        if self.splits.len() > self.keep {
            self.splits.pop_last();
        }
    }

    /// The splits kept, most even first.
    pub fn finish(self) -> Vec<(Evenness, Split)> {
        self.splits
            .into_iter()
            .map(|(Reverse(balance), _, split)| (balance, split))
            .collect()
    }
}
