//! From a sum back to the subsets that have it.

use super::sums::{Atoms, Scratch, Sums};
use crate::partition::clock::StepClock;

/// Atoms halved again and again, with the subset sums of every part but the whole.
///
/// The lists of a whole half hold sums only; here the few sums that matter are taken apart again.
/// O(2^(atoms/2)) memory, and as much time for each question.
pub(super) struct Tree {
    parts: Option<Box<TreeParts>>,
    atoms: usize,
}

struct TreeParts {
    sums: Sums<u64>,
    trees: [Tree; 2],
}

impl Tree {
    /// The tree over some atoms; `None` when the time was over first.
    pub fn of((lifts, sizes): Atoms, clock: &mut StepClock) -> Option<Self> {
        let atoms = lifts.len();
        if atoms < 2 {
            return Some(Self { parts: None, atoms });
        }
        let middle = atoms / 2;
        let low = (&lifts[..middle], &sizes[..middle]);
        let high = (&lifts[middle..], &sizes[middle..]);
        let sums = Sums::of([low, high], clock)?.unfold();
        let trees = [Self::of(low, clock)?, Self::of(high, clock)?];
        Some(Self {
            parts: Some(Box::new(TreeParts { sums, trees })),
            atoms,
        })
    }

    /// How many subsets have so many humans and this sum, given that some have.
    pub fn count(&self, humans: usize, sum: i64) -> u64 {
        let Some(parts) = &self.parts else { return 1 };
        let mut count = 0;
        parts.find(humans, sum, |pair| {
            count += pair.ways[0] * pair.ways[1];
            false
        });
        count
    }

    /// The subset number `rank` of those with so many humans and this sum, as a mask.
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

/// A sum of either part that make up the one looked for.
struct Pair {
    humans: [usize; 2],
    sums: [i64; 2],
    ways: [u64; 2],
}

impl TreeParts {
    /// The first pair of the two parts' sums with so many humans and this sum that `wanted` takes.
    fn find(&self, humans: usize, sum: i64, mut wanted: impl FnMut(&Pair) -> bool) -> Option<Pair> {
        // Everything is stored, so that these stay empty.
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
        let lifts = [5, -3, 5, 0, 12, 7, 7, 2, 2];
        let sizes = [1, 1, 1, 2, 1, 3, 1, 1, 1];
        let mut never = || false;
        let tree = Tree::of((&lifts, &sizes), &mut StepClock::new(&mut never)).unwrap();
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
