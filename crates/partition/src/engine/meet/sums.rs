//! The subset sums of two halves of the atoms, by number of humans; each list is ascending and has
//! no duplicates.

use super::merge::{List, Room, Ways, merge};
use crate::clock::StepClock;

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

        let mut room = Room {
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
    home: &mut Room<W>,
    spare: &mut Room<W>,
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

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
}
