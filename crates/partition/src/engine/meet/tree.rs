//! Finds the subsets that have a given sum.

use super::sums::{Atoms, Scratch, Sums};
use crate::clock::StepClock;

/// A binary tree over the atoms, with the subset sums of every part except the whole.
///
/// The lists of a whole half contain sums only; the tree recovers subsets for the few sums that are
/// needed. O(2^(atoms/2)) memory, and as much time per query.
pub(super) struct Tree {
    parts: Option<Box<TreeParts>>,
    atoms: usize,
}

struct TreeParts {
    sums: Sums<u64>,
    trees: [Tree; 2],
}

impl Tree {
    /// The tree over some atoms; `None` if the time ran out first.
    pub fn of((above_bots, sizes): Atoms, clock: &mut StepClock) -> Option<Self> {
        let atoms = above_bots.len();
        if atoms < 2 {
            return Some(Self { parts: None, atoms });
        }
        let middle = atoms / 2;
        let low = (&above_bots[..middle], &sizes[..middle]);
        let high = (&above_bots[middle..], &sizes[middle..]);
        let sums = Sums::of([low, high], clock)?.unfold();
        let trees = [Self::of(low, clock)?, Self::of(high, clock)?];
        Some(Self {
            parts: Some(Box::new(TreeParts { sums, trees })),
            atoms,
        })
    }

    /// The number of subsets with this many humans and this sum, which must be at least one.
    pub fn count(&self, humans: usize, sum: i64) -> u64 {
        let Some(parts) = &self.parts else { return 1 };
        let mut count = 0;
        parts.find(humans, sum, |pair| {
            count += pair.ways[0] * pair.ways[1];
            false
        });
        count
    }

    /// The subset with index `rank` among those with this many humans and this sum, as a mask.
    pub fn unrank(&self, humans: usize, sum: i64, mut rank: u64) -> u128 {
        let Some(parts) = &self.parts else {
            return u128::from(humans > 0);
        };
        let found = parts.find(humans, sum, |pair| {
            let ways = pair.ways[0] * pair.ways[1];
            let here = rank < ways;
            rank -= if here { 0 } else { ways };
            here
        });
        let Some(Pair { humans, sums, ways }) = found else {
            return 0;
        };
        let [low, high] = &parts.trees;
        let low_mask = low.unrank(humans[0], sums[0], rank / ways[1]);
        let high_mask = high.unrank(humans[1], sums[1], rank % ways[1]);
        low_mask | high_mask << low.atoms
    }
}

/// A pair of sums, one of each part, that add up to the requested sum.
struct Pair {
    humans: [usize; 2],
    sums: [i64; 2],
    ways: [u64; 2],
}

impl TreeParts {
    /// The first pair of sums of the two parts, with this total and this many humans, that `wanted`
    /// accepts.
    fn find(&self, humans: usize, sum: i64, mut wanted: impl FnMut(&Pair) -> bool) -> Option<Pair> {
        // All lists are stored, so the scratch memory stays empty.
        let mut scratch = [Scratch::default(), Scratch::default()];
        let [scratch_low, scratch_high] = &mut scratch;
        let most = [self.sums.humans(0), self.sums.humans(1)];
        for from_low in humans.saturating_sub(most[1])..=humans.min(most[0]) {
            let humans = [from_low, humans - from_low];
            let low = self.sums.list(0, humans[0], scratch_low);
            let high = self.sums.list(1, humans[1], scratch_high);
            let (mut i, mut j) = (0, high.sums.len());
            while i < low.sums.len() && j > 0 {
                let sums = [low.sums[i], high.sums[j - 1]];
                if sums[0] + sums[1] == sum {
                    let pair = Pair {
                        humans,
                        sums,
                        ways: [low.ways[i], high.ways[j - 1]],
                    };
                    if wanted(&pair) {
                        return Some(pair);
                    }
                }
                i += usize::from(sums[0] + sums[1] <= sum);
                j -= usize::from(sums[0] + sums[1] > sum);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn ranks_are_the_subsets() {
        let above_bots = [5, -3, 5, 0, 12, 7, 7, 2, 2];
        let sizes = [1, 1, 1, 2, 1, 3, 1, 1, 1];
        let mut never = || false;
        let tree = Tree::of((&above_bots, &sizes), &mut StepClock::new(&mut never)).unwrap();
        let wanted: BTreeSet<u128> = (0..1 << above_bots.len())
            .filter(|mask| {
                let set = || (0..above_bots.len()).filter(|bit| mask >> bit & 1 == 1);
                set().map(|bit| sizes[bit]).sum::<usize>() == 4
                    && set().map(|bit| above_bots[bit]).sum::<i64>() == 14
            })
            .collect();
        assert!(wanted.len() > 3);
        assert_eq!(tree.count(4, 14), wanted.len() as u64);
        let found = (0..wanted.len() as u64).map(|rank| tree.unrank(4, 14, rank));
        assert_eq!(found.collect::<BTreeSet<_>>(), wanted);
    }
}
