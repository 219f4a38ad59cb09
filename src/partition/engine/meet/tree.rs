//! From a sum back to the subsets that have it.

use super::sums::{Lists, Sums};
use crate::partition::clock::Clock;

/// Atoms halved again and again, with the subset sums of every part but the whole.
///
/// The lists of a whole half hold sums only; here the few sums that matter are taken apart again.
/// O(2^(atoms/2)) memory, and as much time for each question.
pub(super) struct Tree {
    parts: Option<Box<[Part; 2]>>,
    atoms: usize,
}

struct Part {
    sums: Sums<u64>,
    tree: Tree,
}

impl Tree {
    /// The tree over atoms with these lifts and sizes; `None` when the time was over first.
    pub fn of(lifts: &[i64], sizes: &[usize], clock: &mut Clock) -> Option<Self> {
        let atoms = lifts.len();
        if atoms < 2 {
            return Some(Self { parts: None, atoms });
        }
        let middle = atoms / 2;
        let mut part = |lifts: &[i64], sizes: &[usize]| {
            let sums = Sums::of(lifts, sizes, clock)?.unfold();
            Some(Part {
                sums,
                tree: Self::of(lifts, sizes, clock)?,
            })
        };
        let low = part(&lifts[..middle], &sizes[..middle])?;
        let high = part(&lifts[middle..], &sizes[middle..])?;
        Some(Self {
            parts: Some(Box::new([low, high])),
            atoms,
        })
    }

    /// How many subsets have so many humans and this sum, given that some have.
    pub fn count(&self, humans: usize, sum: i64) -> u64 {
        if self.parts.is_none() {
            return 1;
        }
        let mut count = 0;
        self.find(humans, sum, |pair| {
            count += pair.ways[0] * pair.ways[1];
            false
        });
        count
    }

    /// The subset number `rank` of those with so many humans and this sum, as a mask.
    pub fn unrank(&self, humans: usize, sum: i64, mut rank: u64) -> u128 {
        let Some([low, high]) = self.parts.as_deref() else {
            return u128::from(humans > 0);
        };
        let found = self.find(humans, sum, |pair| {
            let ways = pair.ways[0] * pair.ways[1];
            let here = rank < ways;
            rank -= if here { 0 } else { ways };
            here
        });
        let Some(Pair { humans, sums, ways }) = found else {
            return 0;
        };
        let low_mask = low.tree.unrank(humans[0], sums[0], rank / ways[1]);
        let high_mask = high.tree.unrank(humans[1], sums[1], rank % ways[1]);
        low_mask | high_mask << low.tree.atoms
    }

    /// The first pair of the two parts' sums with so many humans and this sum that `wanted` takes.
    fn find(&self, humans: usize, sum: i64, mut wanted: impl FnMut(&Pair) -> bool) -> Option<Pair> {
        let [low, high] = self.parts.as_deref()?;
        // Everything is stored, so there is nothing to be made in these.
        let mut scratch = [Lists::default(), Lists::default()];
        let [scratch_low, scratch_high] = &mut scratch;
        let first = humans.saturating_sub(high.sums.humans());
        for from_low in first..=humans.min(low.sums.humans()) {
            let from_high = humans - from_low;
            let ones = low.sums.list(from_low, scratch_low);
            let others = high.sums.list(from_high, scratch_high);
            let (mut i, mut j) = (0, others.sums.len());
            while i < ones.sums.len() && j > 0 {
                let (one, other) = (ones.sums[i], others.sums[j - 1]);
                if one + other == sum {
                    let ways = [ones.ways[i], others.ways[j - 1]];
                    let pair = Pair {
                        humans: [from_low, from_high],
                        sums: [one, other],
                        ways,
                    };
                    if wanted(&pair) {
                        return Some(pair);
                    }
                }
                i += usize::from(one + other <= sum);
                j -= usize::from(one + other > sum);
            }
        }
        None
    }
}

/// A sum of either part that make up the one looked for.
struct Pair {
    humans: [usize; 2],
    sums: [i64; 2],
    ways: [u64; 2],
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn ranks_are_the_subsets() {
        let lifts = [5, -3, 5, 0, 12, 7, 7, 2, 2];
        let sizes = [1, 1, 1, 2, 1, 3, 1, 1, 1];
        let mut never = || false;
        let tree = Tree::of(&lifts, &sizes, &mut Clock::new(&mut never)).unwrap();
        let wanted: BTreeSet<u128> = (0..1 << lifts.len())
            .filter(|mask| {
                let set = || (0..lifts.len()).filter(|bit| mask >> bit & 1 == 1);
                set().map(|bit| sizes[bit]).sum::<usize>() == 4
                    && set().map(|bit| lifts[bit]).sum::<i64>() == 14
            })
            .collect();
        assert!(wanted.len() > 3);
        assert_eq!(tree.count(4, 14), wanted.len() as u64);
        let found = (0..wanted.len() as u64).map(|rank| tree.unrank(4, 14, rank));
        assert_eq!(found.collect::<BTreeSet<_>>(), wanted);
    }
}
