//! The K best splits so far, and those that tie with the last of them; [`Ranked`] is for any number of teams, where the seed
//! orders ties.

use std::{cmp::Reverse, collections::BTreeSet};

use evenkeel_model::random::seeded_hash;

use crate::{
    balance::{Evenness, MOST},
    instance::Split,
};

/// Collects the `keep` most even of the items offered, and all items that tie with the last of
/// them, up to a few times `keep`.
///
/// Amortised O(log keep) per offer.
pub(super) struct TopSplits<C> {
    keep: usize,
    found: Vec<(Evenness, C)>,
    /// The length of `found` at which it is tidied.
    full: usize,
    at: Option<Evenness>,
    spilled: bool,
}

/// What a [`TopSplits`] has collected.
pub(super) struct BestSplits<C> {
    /// The items more even than `at`, most even first, fewer than `keep`; or all items offered.
    pub better: Vec<(Evenness, C)>,
    /// The evenness of the last of the K best; `None` if no more than `keep` items were offered.
    pub at: Option<Evenness>,
    /// The items exactly as even as `at`.
    pub tied: Vec<C>,
    /// Whether `tied` is complete; if not, it contains the first ones offered.
    pub whole: bool,
}

impl<C> TopSplits<C> {
    pub(crate) fn new(keep: usize) -> Self {
        Self {
            keep,
            found: Vec::new(),
            full: keep,
            at: None,
            spilled: false,
        }
    }

    /// The largest gap, between two teams adding up to `total`, that is still worth offering.
    pub(crate) fn largest_gap(&self, total: i64) -> i64 {
        let Some(at) = self.at else { return MOST };
        let gap = at.largest_gap(total);
        gap - i64::from(self.spilled && Evenness::of_gap(gap, total) == at)
    }

    /// Adds `item` if it is among the best so far. Returns whether
    /// [`largest_gap`](Self::largest_gap) has become smaller.
    pub(crate) fn offer(&mut self, balance: Evenness, item: C) -> bool {
        if let Some(at) = self.at
            && (balance < at || self.spilled && balance == at)
        {
            return false;
        }
        self.found.push((balance, item));
        let full = self.found.len() >= self.full;
        if full {
            self.tidy();
        }
        full
    }

    /// Drops items that cannot be among the best any more.
    fn tidy(&mut self) {
        self.found.sort_by_key(|&(balance, _)| Reverse(balance));
        if let Some(&(last, _)) = self.found.get(self.keep - 1) {
            self.spilled &= self.at == Some(last);
            self.at = Some(last);
            self.found.retain(|&(balance, _)| balance >= last);
            if self.found.len() > 4 * self.keep + 64 {
                self.spilled = true;
                self.found.truncate(self.keep);
            }
        }
        self.full = self.found.len() + self.keep;
    }

    pub(crate) fn finish(mut self) -> BestSplits<C> {
        self.tidy();
        let Some(at) = self.at else {
            return BestSplits {
                better: self.found,
                at: None,
                tied: Vec::new(),
                whole: true,
            };
        };
        let tied_from = self.found.partition_point(|&(balance, _)| balance > at);
        let tied = self
            .found
            .split_off(tied_from)
            .into_iter()
            .map(|(_, item)| item)
            .collect();
        BestSplits {
            better: self.found,
            at: Some(at),
            tied,
            whole: !self.spilled,
        }
    }
}

/// Keeps the `keep` best of the different splits offered. Of equally even ones it keeps those with
/// the smallest hash under the seed, so that offering all of them gives a fair draw in any order.
/// O(log keep) per offer.
pub(crate) struct Ranked {
    keep: usize,
    seed: u64,
    splits: BTreeSet<(Reverse<Evenness>, u64, Split)>,
}

impl Ranked {
    pub(crate) fn new(keep: usize, seed: u64) -> Self {
        Self {
            keep,
            seed,
            splits: BTreeSet::new(),
        }
    }

    /// The evenness of the last split kept, once there are `keep`: a less even one is not worth
    /// offering.
    pub(crate) fn at(&self) -> Option<Evenness> {
        let last = self.splits.last()?;
        (self.splits.len() == self.keep).then_some(last.0.0)
    }

    /// The evenness of the best split so far.
    pub(crate) fn best(&self) -> Option<Evenness> {
        self.splits.first().map(|first| first.0.0)
    }

    /// Adds `split` if it is among the best so far.
    pub(crate) fn offer(&mut self, balance: Evenness, split: &[u8]) {
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
    pub(crate) fn finish(self) -> Vec<(Evenness, Split)> {
        self.splits
            .into_iter()
            .map(|(Reverse(balance), _, split)| (balance, split))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_are_kept_until_they_are_too_many() {
        let even = |gap| Evenness::of_gap(gap, 1000);
        let mut best = TopSplits::new(2);
        for item in 0..10 {
            best.offer(even(20), item);
        }
        best.offer(even(10), 10);
        let found = best.finish();
        assert_eq!(found.better.len(), 1);
        assert_eq!(found.tied.len(), 10);

        let mut best = TopSplits::new(2);
        for item in 0..1000 {
            best.offer(even(20), item);
        }
        best.offer(even(0), 1000);
        assert_eq!(best.largest_gap(1000), 19);
        let found = best.finish();
        assert_eq!((found.better.len(), found.whole), (1, false));

        let mut best = TopSplits::new(2);
        for item in 0..1000 {
            best.offer(even(20), item);
        }
        for item in 0..3 {
            best.offer(even(4), item);
        }
        let found = best.finish();
        assert_eq!(
            (found.better.len(), found.tied.len(), found.whole),
            (0, 3, true)
        );
    }
}
