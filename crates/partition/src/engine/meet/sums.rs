//! The subset sums of two halves of the atoms, by number of humans; each list is ascending and has
//! no duplicates.

use crate::engine::StepClock;

/// The lists of two halves, in one allocation.
///
/// Only lists of up to half of a half's humans are stored; the others are computed as complements.
pub(super) struct Sums<W> {
    sums: Vec<i64>,
    ways: Vec<W>,
    halves: [HalfSums; 2],
}

/// The position of the lists of a half.
#[derive(Default)]
struct HalfSums {
    start: usize,
    /// The end of each list, relative to `start`; the index is the number of humans.
    ends: Vec<usize>,
    humans: usize,
    /// The sum above bots of the whole half.
    total: i64,
}

/// Memory for computed lists.
pub(super) struct Scratch<W> {
    sums: Vec<i64>,
    ways: Vec<W>,
}

impl<W> Default for Scratch<W> {
    fn default() -> Self {
        Self {
            sums: Vec::new(),
            ways: Vec::new(),
        }
    }
}

impl<W: Ways> Scratch<W> {
    /// The sums of the complements: `total` minus each number of `of`, ascending.
    fn complement(&mut self, of: List<W>, total: i64) -> List<'_, W> {
        self.sums.clear();
        self.sums
            .extend(of.sums.iter().rev().map(|sum| total - sum));
        self.ways.clear();
        self.ways.extend(of.ways.iter().rev());
        List {
            sums: &self.sums,
            ways: &self.ways,
        }
    }
}

/// The atoms of a half: what they count above bots, and their sizes.
pub(super) type Atoms<'a> = (&'a [i64], &'a [usize]);

impl<W: Ways> Sums<W> {
    /// The subset sums of two halves; `None` if the time ran out first.
    ///
    /// Time and memory are linear in the number of different sums, at most O(2^atoms of a half).
    pub fn of(halves: [Atoms; 2], clock: &mut StepClock) -> Option<Self> {
        let sizes = halves.map(|(above_bots, sizes)| capacity(above_bots, sizes) as usize);
        // The capacity of each half before its last atom is added.
        let before = |(above_bots, sizes): Atoms| match above_bots.len().checked_sub(1) {
            Some(last) => capacity(&above_bots[..last], &sizes[..last]) as usize,
            None => 0,
        };
        let spare = halves.map(before).into_iter().fold(0, usize::max);
        let mut sums = vec![0; sizes[0] + sizes[1] + spare];
        let mut ways = vec![W::ONE; sums.len()];
        let mut scratch = Scratch::default();

        let mut room = ListRoom {
            sums: &mut sums,
            ways: &mut ways,
        };
        let [mut homes, mut spare] = room.split_at(sizes[0] + sizes[1]);
        let [mut low, mut high] = homes.split_at(sizes[0]);
        let low = fill(halves[0], &mut low, &mut spare, &mut scratch, clock)?;
        let high = fill(halves[1], &mut high, &mut spare, &mut scratch, clock)?;
        let high = HalfSums {
            start: sizes[0],
            ..high
        };
        Some(Self {
            sums,
            ways,
            halves: [low, high],
        })
    }

    /// The same sums with all lists stored, for callers that look up few sums in many lists.
    pub fn unfold(self) -> Self {
        let mut all = Self {
            sums: Vec::new(),
            ways: Vec::new(),
            halves: Default::default(),
        };
        let mut scratch = Scratch::default();
        for (index, half) in self.halves.iter().enumerate() {
            let start = all.sums.len();
            let mut ends = Vec::with_capacity(half.humans + 1);
            for humans in 0..=half.humans {
                let list = self.list(index, humans, &mut scratch);
                all.sums.extend(list.sums);
                all.ways.extend(list.ways);
                ends.push(all.sums.len() - start);
            }
            all.halves[index] = HalfSums {
                start,
                ends,
                ..*half
            };
        }
        all
    }

    /// Number of humans in a half.
    pub fn humans(&self, half: usize) -> usize {
        self.halves[half].humans
    }

    /// The sums of a half's subsets with this many humans; computed in `scratch` if they are not
    /// stored.
    pub fn list<'a>(
        &'a self,
        half: usize,
        humans: usize,
        scratch: &'a mut Scratch<W>,
    ) -> List<'a, W> {
        let half = &self.halves[half];
        let lists = List {
            sums: &self.sums[half.start..],
            ways: &self.ways[half.start..],
        };
        half.list(lists, humans, scratch)
    }
}

impl HalfSums {
    fn list<'a, W: Ways>(
        &self,
        lists: List<'a, W>,
        humans: usize,
        scratch: &'a mut Scratch<W>,
    ) -> List<'a, W> {
        if humans < self.ends.len() {
            return self.stored(lists, humans);
        }
        match self.humans.checked_sub(humans) {
            Some(others) => scratch.complement(self.stored(lists, others), self.total),
            None => List::EMPTY,
        }
    }

    fn stored<'a, W>(&self, lists: List<'a, W>, humans: usize) -> List<'a, W> {
        let start = humans.checked_sub(1).map_or(0, |before| self.ends[before]);
        let range = start..self.ends[humans];
        List {
            sums: &lists.sums[range.clone()],
            ways: &lists.ways[range],
        }
    }
}

/// Fills `home` with the lists of some atoms, using `spare` as the second buffer.
///
/// Adds one atom after another by merging, so that nothing has to be sorted: E. Horowitz and S.
/// Sahni, Computing partitions with applications to the knapsack problem (1974).
fn fill<W: Ways>(
    (above_bots, sizes): Atoms,
    home: &mut ListRoom<W>,
    spare: &mut ListRoom<W>,
    scratch: &mut Scratch<W>,
    clock: &mut StepClock,
) -> Option<HalfSums> {
    let (mut here, mut there) = (home.from(0), spare.from(0));
    if above_bots.len() % 2 == 1 {
        std::mem::swap(&mut here, &mut there);
    }
    here.sums[0] = 0;
    here.ways[0] = W::ONE;
    let mut half = HalfSums {
        ends: vec![1],
        ..HalfSums::default()
    };
    for (&above_bot, &size) in above_bots.iter().zip(sizes) {
        let lists = List {
            sums: here.sums,
            ways: here.ways,
        };
        let humans = half.humans + size;
        let mut ends = Vec::with_capacity(humans / 2 + 1);
        let mut end = 0;
        for count in 0..=humans / 2 {
            // At most half of the humans so far, so it is stored.
            let with = match count.checked_sub(size) {
                Some(others) => half.stored(lists, others),
                None => List::EMPTY,
            };
            let without = half.list(lists, count, scratch);
            if clock.spend(with.sums.len() + without.sums.len()) {
                return None;
            }
            end += merge(without, with, above_bot, there.from(end));
            ends.push(end);
        }
        half = HalfSums {
            start: 0,
            ends,
            humans,
            total: half.total + above_bot,
        };
        std::mem::swap(&mut here, &mut there);
    }
    Some(half)
}

/// An upper bound on the sums stored while the lists of these atoms are built. For each number of
/// humans, it is the number of different choices among equal atoms, or the number of integers
/// between the smallest and the largest sum, whichever is smaller; before the sums with and without
/// the last atom are merged. O(atoms × humans).
pub(super) fn capacity(above_bots: &[i64], sizes: &[usize]) -> f64 {
    let Some(last) = above_bots.len().checked_sub(1) else {
        return 1.0;
    };
    let before = choices(&above_bots[..last], &sizes[..last]);
    let at = |humans: usize| before.get(humans).copied().unwrap_or(0.0);
    let half = (before.len() - 1 + sizes[last]) / 2;
    (0..=half)
        .map(|humans| at(humans) + humans.checked_sub(sizes[last]).map_or(0.0, at))
        .sum()
}

/// An upper bound on the number of different sums, by number of humans.
pub(super) fn choices(above_bots: &[i64], sizes: &[usize]) -> Vec<f64> {
    let humans: usize = sizes.iter().sum();
    let atoms: Vec<(i64, usize)> = above_bots
        .iter()
        .copied()
        .zip(sizes.iter().copied())
        .collect();
    let mut choices = vec![0.0f64; humans + 1];
    choices[0] = 1.0;
    for equals in atoms.chunk_by(|one, other| one == other) {
        let size = equals[0].1;
        // Any number of these equal atoms, as a sum over a sliding window: add without an upper
        // limit, then subtract what exceeds it.
        for at in size..=humans {
            choices[at] += choices[at - size];
        }
        let past = size * (equals.len() + 1);
        for at in (past..=humans).rev() {
            choices[at] -= choices[at - past];
        }
    }
    let span: f64 = above_bots
        .iter()
        .map(|above_bot| above_bot.abs() as f64)
        .sum();
    choices
        .iter()
        .map(|choices| choices.min(span + 1.0))
        .collect()
}

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
pub(super) struct ListRoom<'a, W> {
    pub sums: &'a mut [i64],
    pub ways: &'a mut [W],
}

impl<W> ListRoom<'_, W> {
    /// Borrows the same memory from index `at` on.
    pub fn from(&mut self, at: usize) -> ListRoom<'_, W> {
        ListRoom {
            sums: &mut self.sums[at..],
            ways: &mut self.ways[at..],
        }
    }

    pub fn split_at(&mut self, at: usize) -> [ListRoom<'_, W>; 2] {
        let (sums, more_sums) = self.sums.split_at_mut(at);
        let (ways, more_ways) = self.ways.split_at_mut(at);
        [
            ListRoom { sums, ways },
            ListRoom {
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
pub(super) fn merge<W: Ways>(
    a: List<W>,
    b: List<W>,
    above_bot: i64,
    mut room: ListRoom<W>,
) -> usize {
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
    room: ListRoom<'a, W>,
    /// Number of items of `a` merged so far.
    i: usize,
    /// Number of items of `b` merged so far.
    j: usize,
    /// Number of items written so far.
    k: usize,
}

impl<'a, W: Ways> Lane<'a, W> {
    fn new(a: List<'a, W>, b: List<'a, W>, room: ListRoom<'a, W>) -> Self {
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
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lists_hold_every_subset_once() {
        let above_bots = [5, -3, 5, 0, 12, 7, 7];
        let sizes = [1, 1, 1, 2, 1, 3, 1];
        let mut wanted = vec![BTreeMap::<i64, u64>::new(); 12];
        for mask in 0u32..1 << above_bots.len() {
            let set = || (0..above_bots.len()).filter(|bit| mask >> bit & 1 == 1);
            let humans: usize = set().map(|bit| sizes[bit]).sum();
            *wanted[humans]
                .entry(set().map(|bit| above_bots[bit]).sum())
                .or_default() += 1;
        }
        let mut never = || false;
        let halves = [
            (&above_bots[..], &sizes[..]),
            (&above_bots[..6], &sizes[..6]),
        ];
        let both = Sums::<u64>::of(halves, &mut StepClock::new(&mut never)).unwrap();
        assert_eq!([both.humans(0), both.humans(1)], [10, 9]);
        let unfolded = Sums::<u64>::of(halves, &mut StepClock::new(&mut never))
            .unwrap()
            .unfold();
        let mut scratch = Scratch::default();
        for ((humans, wanted), both) in wanted
            .iter()
            .enumerate()
            .flat_map(|wanted| [(wanted, &both), (wanted, &unfolded)])
        {
            let list = both.list(0, humans, &mut scratch);
            let found = list.sums.iter().copied().zip(list.ways.iter().copied());
            assert_eq!(
                found.collect::<Vec<_>>(),
                wanted.clone().into_iter().collect::<Vec<_>>()
            );
        }
        let without_last = both.list(1, 9, &mut scratch);
        assert_eq!(
            (without_last.sums, without_last.ways),
            (&[26][..], &[1][..])
        );
    }

    #[test]
    fn the_capacity_knows_equals_and_narrow_spans() {
        let generic: Vec<i64> = (0..12).map(|bit| 1 << (3 * bit)).collect();
        assert_eq!(capacity(&generic, &[1; 12]), ((1 << 12) + 924) as f64 / 2.0);
        assert_eq!(capacity(&[1 << 40; 40], &[1; 40]), 41.0);
        assert!(capacity(&(0..60).collect::<Vec<i64>>(), &[1; 60]) < 200_000.0);
    }

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
            let room = ListRoom { sums: &mut sums, ways: &mut ways };
            let count = merge(a, b, above_bot, room);
            let found = sums.into_iter().zip(ways).take(count);
            prop_assert_eq!(found.collect::<Vec<_>>(), wanted.into_iter().collect::<Vec<_>>());
        }
    }
}
