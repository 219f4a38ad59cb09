//! Merges two ascending lists.

/// The number of subsets behind a sum: counted (`u64`), or not (`()`, which costs nothing).
pub(super) trait Ways: Copy {
    const ONE: Self;
    /// `self` if `mine`, plus `other` if `theirs`.
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

/// An ascending list of different sums, and the number of subsets behind each.
#[derive(Clone, Copy)]
pub(super) struct List<'a, W> {
    pub sums: &'a [i64],
    pub ways: &'a [W],
}

impl<'a, W> List<'a, W> {
    pub const EMPTY: Self = Self {
        sums: &[],
        ways: &[],
    };

    pub fn split_at(self, at: usize) -> [Self; 2] {
        let (sums, more_sums) = self.sums.split_at(at);
        let (ways, more_ways) = self.ways.split_at(at);
        [
            Self { sums, ways },
            Self {
                sums: more_sums,
                ways: more_ways,
            },
        ]
    }
}

/// Writable memory for a list.
pub(super) struct Room<'a, W> {
    pub sums: &'a mut [i64],
    pub ways: &'a mut [W],
}

impl<W> Room<'_, W> {
    /// Borrows the same memory from index `at` on.
    pub fn from(&mut self, at: usize) -> Room<'_, W> {
        Room {
            sums: &mut self.sums[at..],
            ways: &mut self.ways[at..],
        }
    }

    pub fn split_at(&mut self, at: usize) -> [Room<'_, W>; 2] {
        let (sums, more_sums) = self.sums.split_at_mut(at);
        let (ways, more_ways) = self.ways.split_at_mut(at);
        [
            Room { sums, ways },
            Room {
                sums: more_sums,
                ways: more_ways,
            },
        ]
    }
}

/// Merges `a` and `b` plus `above_bot` into `room`, ascending, with equal numbers once. Returns the
/// length of the result. Linear, without branches that depend on the numbers.
///
/// Each step of a merge depends on the comparison before it, so two merges run side by side, of the
/// lower and the upper half.
pub(super) fn merge<W: Ways>(a: List<W>, b: List<W>, above_bot: i64, mut room: Room<W>) -> usize {
    let (i, j) = middle(a.sums, b.sums, above_bot);
    let ([a_low, a_high], [b_low, b_high]) = (a.split_at(i), b.split_at(j));
    let [low, high] = room.split_at(i + j);
    let mut low = Lane::new(a_low, b_low, low);
    let mut high = Lane::new(a_high, b_high, high);
    while low.both() && high.both() {
        low.step(above_bot);
        high.step(above_bot);
    }
    let (low, high) = (low.finish(above_bot), high.finish(above_bot));
    // Equal numbers leave unused space between the two results.
    if low < i + j {
        room.sums.copy_within(i + j..i + j + high, low);
        room.ways.copy_within(i + j..i + j + high, low);
    }
    low + high
}

/// How many numbers of `a`, and of `b` plus `above_bot`, form the lower half of the merged list, such
/// that no number is on both sides. O(log).
fn middle(a: &[i64], b: &[i64], above_bot: i64) -> (usize, usize) {
    let half = (a.len() + b.len()) / 2;
    let (mut least, mut most) = (half.saturating_sub(b.len()), half.min(a.len()));
    while least < most {
        let i = (least + most) / 2;
        if a[i] < b[half - i - 1] + above_bot {
            least = i + 1;
        } else {
            most = i;
        }
    }
    let (mut i, mut j) = (least, half - least);
    if i > 0 && b.get(j).is_some_and(|sum| sum + above_bot == a[i - 1]) {
        j += 1;
    } else if j > 0 && a.get(i).is_some_and(|sum| *sum == b[j - 1] + above_bot) {
        i += 1;
    }
    (i, j)
}

struct Lane<'a, W> {
    a: List<'a, W>,
    b: List<'a, W>,
    room: Room<'a, W>,
    /// Number of items of `a` merged so far.
    i: usize,
    /// Number of items of `b` merged so far.
    j: usize,
    /// Number of items written so far.
    k: usize,
}

impl<'a, W: Ways> Lane<'a, W> {
    fn new(a: List<'a, W>, b: List<'a, W>, room: Room<'a, W>) -> Self {
        Self {
            a,
            b,
            room,
            i: 0,
            j: 0,
            k: 0,
        }
    }

    #[inline(always)]
    fn both(&self) -> bool {
        self.i < self.a.sums.len() && self.j < self.b.sums.len()
    }

    #[inline(always)]
    fn step(&mut self, above_bot: i64) {
        let (x, y) = (self.a.sums[self.i], self.b.sums[self.j] + above_bot);
        let (mine, theirs) = (x <= y, y <= x);
        self.room.sums[self.k] = x.min(y);
        self.room.ways[self.k] = self.a.ways[self.i].either(mine, self.b.ways[self.j], theirs);
        self.i += usize::from(mine);
        self.j += usize::from(theirs);
        self.k += 1;
    }

    /// Merges the rest and returns the length of the result.
    fn finish(mut self, above_bot: i64) -> usize {
        while self.both() {
            self.step(above_bot);
        }
        let [_, a] = self.a.split_at(self.i);
        let [_, b] = self.b.split_at(self.j);
        let rest = self.room.from(self.k);
        let (count, end) = (a.sums.len(), a.sums.len() + b.sums.len());
        rest.sums[..count].copy_from_slice(a.sums);
        rest.ways[..count].copy_from_slice(a.ways);
        rest.ways[count..end].copy_from_slice(b.ways);
        for (to, sum) in rest.sums[count..end].iter_mut().zip(b.sums) {
            *to = sum + above_bot;
        }
        self.k + end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    proptest! {
        #[test]
        fn merging_keeps_every_number_once(
            a in prop::collection::btree_set(-20i64..20, 0..25),
            b in prop::collection::btree_set(-20i64..20, 0..25),
            above_bot in -20i64..20,
        ) {
            let list = |set: &BTreeSet<i64>| -> Vec<i64> { set.iter().copied().collect() };
            let (a, b) = (list(&a), list(&b));
            let mut wanted = BTreeMap::<i64, u64>::new();
            a.iter().for_each(|sum| *wanted.entry(*sum).or_default() += 3);
            b.iter().for_each(|sum| *wanted.entry(sum + above_bot).or_default() += 5);
            let (mut sums, mut ways) = (vec![0; a.len() + b.len()], vec![0; a.len() + b.len()]);
            let (threes, fives) = (vec![3; a.len()], vec![5; b.len()]);
            let a = List { sums: &a, ways: &threes };
            let b = List { sums: &b, ways: &fives };
            let room = Room { sums: &mut sums, ways: &mut ways };
            let count = merge(a, b, above_bot, room);
            let found = sums.into_iter().zip(ways).take(count);
            prop_assert_eq!(found.collect::<Vec<_>>(), wanted.into_iter().collect::<Vec<_>>());
        }
    }
}
