//! All subset sums of some atoms, by number of humans, each list ascending without repetition.

use super::merge::{View, merge};
use crate::partition::clock::Clock;

/// In how many ways a sum comes about: counted (`u64`), or not (`()`, which costs nothing).
pub(super) trait Ways: Copy + Default {
    const ONE: Self;
    /// `self` where `mine`, plus `other` where `theirs`.
    fn either(self, mine: bool, other: Self, theirs: bool) -> Self;
}

impl Ways for () {
    const ONE: Self = ();
    #[inline(always)]
    fn either(self, _: bool, (): Self, _: bool) {}
}

impl Ways for u64 {
    const ONE: Self = 1;
    #[inline(always)]
    fn either(self, mine: bool, other: Self, theirs: bool) -> Self {
        self * u64::from(mine) + other * u64::from(theirs)
    }
}

/// Lists of numbers one after the other, for the caches' sake.
#[derive(Default)]
pub(super) struct Lists<W> {
    sums: Vec<i64>,
    ways: Vec<W>,
    /// Where each list ends.
    ends: Vec<usize>,
}

impl<W: Ways> Lists<W> {
    fn get(&self, index: usize) -> View<'_, W> {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        let range = start..self.ends[index];
        View {
            sums: &self.sums[range.clone()],
            ways: &self.ways[range],
        }
    }

    fn clear(&mut self) {
        self.sums.clear();
        self.ways.clear();
        self.ends.clear();
    }

    /// Appends the complements' sums: `total` less each of `of`, so again ascending.
    fn push_complement(&mut self, of: View<W>, total: i64) {
        self.sums
            .extend(of.sums.iter().rev().map(|sum| total - sum));
        self.ways.extend(of.ways.iter().rev());
        self.ends.push(self.sums.len());
    }
}

/// The lists of some atoms. Those of more than half of their humans needn't be stored: they are
/// the complements of the others.
pub(super) struct Sums<W> {
    lists: Lists<W>,
    humans: usize,
    total: i64,
}

impl<W: Ways> Sums<W> {
    /// The subset sums of atoms with these lifts and sizes; `None` when the time was over first.
    ///
    /// One atom after the other is added by merging: E. Horowitz and S. Sahni, Computing partitions
    /// with applications to the knapsack problem (1974), so that nothing needs sorting. Time and
    /// memory in the number of different sums, at most O(2^atoms).
    pub fn of(lifts: &[i64], sizes: &[usize], clock: &mut Clock) -> Option<Self> {
        let lists = Lists {
            sums: vec![0],
            ways: vec![W::ONE],
            ends: vec![1],
        };
        let mut all = Self {
            lists,
            humans: 0,
            total: 0,
        };
        let mut next = Lists::default();
        let mut scratch = Lists::default();
        for (&lift, &size) in lifts.iter().zip(sizes) {
            all.add(lift, size, &mut next, &mut scratch, clock)?;
            std::mem::swap(&mut all.lists, &mut next);
            all.humans += size;
            all.total += lift;
        }
        Some(all)
    }

    /// Puts the lists with one more atom into `next`.
    fn add(
        &self,
        lift: i64,
        size: usize,
        next: &mut Lists<W>,
        scratch: &mut Lists<W>,
        clock: &mut Clock,
    ) -> Option<()> {
        next.clear();
        // Twice what there is, and the middle once more: room for all at once.
        let room = 2 * self.lists.sums.len() + self.list(self.humans / 2, scratch).sums.len();
        if next.sums.capacity() < room {
            *next = Lists {
                sums: Vec::with_capacity(room),
                ways: Vec::with_capacity(room),
                ends: Vec::new(),
            };
        }
        for humans in 0..=(self.humans + size) / 2 {
            let with = match humans.checked_sub(size) {
                Some(others) => self.lists.get(others),
                None => View {
                    sums: &[],
                    ways: &[],
                },
            };
            let without = self.list(humans, scratch);
            if clock.spend(with.sums.len() + without.sums.len()) {
                return None;
            }
            merge(without, with, lift, &mut next.sums, &mut next.ways);
            next.ends.push(next.sums.len());
        }
        Some(())
    }

    /// Stores the complements too.
    pub fn unfold(mut self) -> Self {
        for others in (0..self.humans - self.humans / 2).rev() {
            let View { sums, ways } = self.lists.get(others);
            let (sums, ways) = (sums.to_vec(), ways.to_vec());
            self.lists.push_complement(
                View {
                    sums: &sums,
                    ways: &ways,
                },
                self.total,
            );
        }
        self
    }

    /// Humans of all atoms.
    pub fn humans(&self) -> usize {
        self.humans
    }

    /// The sums of the subsets with so many humans, made in `scratch` if they aren't stored.
    pub fn list<'a>(&'a self, humans: usize, scratch: &'a mut Lists<W>) -> View<'a, W> {
        if humans < self.lists.ends.len() {
            return self.lists.get(humans);
        }
        scratch.clear();
        match self.humans.checked_sub(humans) {
            Some(others) => scratch.push_complement(self.lists.get(others), self.total),
            None => scratch.ends.push(0),
        }
        scratch.get(0)
    }
}

/// At most how many sums are stored for atoms with these lifts and sizes: for each number of
/// humans no more than there are different choices among equals, nor than whole numbers between
/// the lowest and the highest sum. O(atoms × humans).
pub(super) fn measure(lifts: &[i64], sizes: &[usize]) -> f64 {
    let humans: usize = sizes.iter().sum();
    let atoms: Vec<(i64, usize)> = lifts.iter().copied().zip(sizes.iter().copied()).collect();
    let mut choices = vec![0.0f64; humans + 1];
    choices[0] = 1.0;
    for equals in atoms.chunk_by(|one, other| one == other) {
        let size = equals[0].1;
        // Any number of them from none to all, as a sum over a sliding window: add the list
        // without an upper limit, then take off what exceeds it.
        for at in size..=humans {
            choices[at] += choices[at - size];
        }
        let past = size * (equals.len() + 1);
        for at in (past..=humans).rev() {
            choices[at] -= choices[at - past];
        }
    }
    let span: f64 = lifts.iter().map(|lift| lift.abs() as f64).sum();
    choices[..=humans / 2]
        .iter()
        .map(|choices| choices.min(span + 1.0))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn lists_hold_every_subset_once() {
        let lifts = [5, -3, 5, 0, 12, 7, 7];
        let sizes = [1, 1, 1, 2, 1, 3, 1];
        let mut wanted = vec![BTreeMap::<i64, u64>::new(); 12];
        for mask in 0u32..1 << lifts.len() {
            let set = || (0..lifts.len()).filter(|bit| mask >> bit & 1 == 1);
            let humans: usize = set().map(|bit| sizes[bit]).sum();
            *wanted[humans]
                .entry(set().map(|bit| lifts[bit]).sum())
                .or_default() += 1;
        }
        let mut never = || false;
        let mut clock = Clock::new(&mut never);
        let folded = Sums::<u64>::of(&lifts, &sizes, &mut clock).unwrap();
        let unfolded = Sums::<u64>::of(&lifts, &sizes, &mut clock)
            .unwrap()
            .unfold();
        assert_eq!(unfolded.lists.ends.len(), 11);
        for (humans, wanted) in wanted.iter().enumerate() {
            for all in [&folded, &unfolded] {
                let mut scratch = Lists::default();
                let list = all.list(humans, &mut scratch);
                let found = list.sums.iter().copied().zip(list.ways.iter().copied());
                let wanted = wanted.clone().into_iter();
                assert_eq!(found.collect::<Vec<_>>(), wanted.collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn the_measure_is_an_upper_bound() {
        let lifts = [9, 9, 9, 9, 4, 4, 1, 1, 1, 0];
        let sizes = [1, 1, 1, 2, 1, 1, 1, 1, 1, 3];
        let mut never = || false;
        let stored = Sums::<()>::of(&lifts, &sizes, &mut Clock::new(&mut never)).unwrap();
        let (stored, measured) = (stored.lists.sums.len() as f64, measure(&lifts, &sizes));
        assert!(
            stored <= measured && measured < 100.0,
            "{stored} {measured}"
        );
    }
}
