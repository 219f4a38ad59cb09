//! All subset sums of some atoms, by number of humans, each list ascending without repetition.

use crate::partition::clock::Clock;

/// In how many ways a sum comes about: counted (`u64`), or not (`()`, which costs nothing).
pub(super) trait Ways: Copy {
    const ONE: Self;
    /// `self` where `mine`, plus `other` where `theirs`.
    fn either(self, mine: bool, other: Self, theirs: bool) -> Self;
}

impl Ways for () {
    const ONE: Self = ();
    fn either(self, _: bool, (): Self, _: bool) {}
}

impl Ways for u64 {
    const ONE: Self = 1;
    fn either(self, mine: bool, other: Self, theirs: bool) -> Self {
        self * u64::from(mine) + other * u64::from(theirs)
    }
}

/// Different sums, ascending, with the number of subsets that have each.
#[derive(Clone, Default)]
pub(super) struct List<W> {
    pub sums: Vec<i64>,
    pub ways: Vec<W>,
}

impl<W: Ways> List<W> {
    /// The sums of `without` and those of `with` moved up by `lift`: E. Horowitz and S. Sahni,
    /// Computing partitions with applications to the knapsack problem (1974), where halves come out
    /// sorted in time linear in their size. Equal sums become one. No branch depends on the data.
    fn merge(without: &Self, with: &Self, lift: i64) -> Self {
        let (a, b) = (&without.sums[..], &with.sums[..]);
        let mut sums = vec![0; a.len() + b.len()];
        let mut ways = vec![W::ONE; sums.len()];
        let (mut i, mut j, mut k) = (0, 0, 0);
        while i < a.len() && j < b.len() {
            let (x, y) = (a[i], b[j] + lift);
            let (mine, theirs) = (x <= y, y <= x);
            sums[k] = x.min(y);
            ways[k] = without.ways[i].either(mine, with.ways[j], theirs);
            i += usize::from(mine);
            j += usize::from(theirs);
            k += 1;
        }
        let rest = a.len() - i;
        sums[k..k + rest].copy_from_slice(&a[i..]);
        ways[k..k + rest].copy_from_slice(&without.ways[i..]);
        k += rest;
        for (at, &sum) in b[j..].iter().enumerate() {
            sums[k + at] = sum + lift;
        }
        ways[k..k + b.len() - j].copy_from_slice(&with.ways[j..]);
        k += b.len() - j;
        sums.truncate(k);
        ways.truncate(k);
        Self { sums, ways }
    }

    /// Becomes the sums of the complements: `total` less each of `of`, so again ascending.
    fn complement(&mut self, of: &Self, total: i64) {
        self.sums.clear();
        self.sums
            .extend(of.sums.iter().rev().map(|sum| total - sum));
        self.ways.clear();
        self.ways.extend(of.ways.iter().rev());
    }
}

/// The lists of some atoms. Only those of up to half of their humans are stored: the others are
/// their complements.
pub(super) struct Sums<W> {
    lists: Vec<List<W>>,
    humans: usize,
    total: i64,
}

impl<W: Ways> Sums<W> {
    /// The subset sums of atoms with these lifts and sizes; `None` when the time was over first.
    ///
    /// Time and memory in the number of different sums, at most O(2^atoms).
    pub fn of(lifts: &[i64], sizes: &[usize], clock: &mut Clock) -> Option<Self> {
        let nobody = List {
            sums: vec![0],
            ways: vec![W::ONE],
        };
        let mut all = Self {
            lists: vec![nobody],
            humans: 0,
            total: 0,
        };
        for (&lift, &size) in lifts.iter().zip(sizes) {
            all.add(lift, size, clock)?;
        }
        Some(all)
    }

    /// Adds one atom, from the largest lists down, so that a list is replaced after its last use.
    fn add(&mut self, lift: i64, size: usize, clock: &mut Clock) -> Option<()> {
        let half = (self.humans + size) / 2;
        let empty = || List {
            sums: Vec::new(),
            ways: Vec::new(),
        };
        self.lists.resize_with(half + 1, empty);
        let mut scratch = empty();
        for humans in (0..=half).rev() {
            if humans >= size {
                let without = self.list(humans, &mut scratch);
                let merged = List::merge(without, &self.lists[humans - size], lift);
                if clock.spend(merged.sums.len()) {
                    return None;
                }
                self.lists[humans] = merged;
            } else if humans > self.humans / 2 {
                let mut copied = empty();
                copied.clone_from(self.list(humans, &mut scratch));
                self.lists[humans] = copied;
            }
        }
        self.humans += size;
        self.total += lift;
        Some(())
    }

    /// Humans of all atoms.
    pub fn humans(&self) -> usize {
        self.humans
    }

    /// The sums of the subsets with so many humans, made in `scratch` if it isn't stored.
    pub fn list<'a>(&'a self, humans: usize, scratch: &'a mut List<W>) -> &'a List<W> {
        if humans <= self.humans / 2 {
            return &self.lists[humans];
        }
        match self.humans.checked_sub(humans) {
            Some(others) => scratch.complement(&self.lists[others], self.total),
            None => {
                scratch.sums.clear();
                scratch.ways.clear();
            }
        }
        scratch
    }
}

/// At most how many sums are stored for atoms with these lifts and sizes, and at most how many
/// the longest list has: no more than there are subsets, than different choices among equals, and
/// than whole numbers between the lowest and the highest sum.
pub(super) fn measure(lifts: &[i64], sizes: &[usize]) -> f64 {
    let mut choices = 1.0;
    let mut start = 0;
    for at in 1..=lifts.len() {
        if at == lifts.len() || (lifts[at], sizes[at]) != (lifts[start], sizes[start]) {
            choices *= (at - start + 1) as f64;
            start = at;
        }
    }
    let humans: usize = sizes.iter().sum();
    let span: f64 = lifts.iter().map(|lift| lift.abs() as f64).sum();
    f64::min(choices, (span + 1.0) * (humans + 1) as f64) / 2.0
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
        let all = Sums::<u64>::of(&lifts, &sizes, &mut Clock::new(&mut never)).unwrap();
        for (humans, wanted) in wanted.iter().enumerate() {
            let mut scratch = List::default();
            let list = all.list(humans, &mut scratch);
            let found = list.sums.iter().copied().zip(list.ways.iter().copied());
            assert_eq!(
                found.collect::<Vec<_>>(),
                wanted.clone().into_iter().collect::<Vec<_>>()
            );
        }
    }
}
