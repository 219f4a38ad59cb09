//! Joins the two halves: finds pairs of sums that leave a small gap between the teams.

use super::{
    merge::{List, Ways},
    sums::{Scratch, Sums},
    walk::{Walk, Window},
};
use crate::{balance::Evenness, best::TopSplits, clock::StepClock, engine::two::TwoTeams};

/// A starting point of the join: the atoms on team 0 that are in neither half.
#[derive(Clone, Copy)]
pub(super) struct Start {
    /// Team 0's sum minus team 1's while both halves are on team 1.
    pub gap: i64,
    /// Number of humans on team 0 while both halves are on team 1.
    pub humans: usize,
    /// The free atoms on team 0 while both halves are on team 1, as a mask.
    pub mask: u128,
}

/// All combinations with one start and one sum from each half.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cell {
    /// Index of the start.
    pub start: usize,
    /// Number of humans from each half on team 0.
    pub humans: [usize; 2],
    /// Their sum above bots, for each half.
    pub sums: [i64; 2],
}

impl Cell {
    /// The sort key by which [`ties`] enumerates cells; `most` is the number of humans of the low
    /// half.
    pub fn order(&self, most: usize) -> impl Ord + use<> {
        let [low, high] = self.humans;
        (
            self.start,
            from_middle(low, most),
            low,
            high,
            self.sums[0] + self.sums[1],
            self.sums[0],
        )
    }
}

/// The distance from half of the humans. Lists near the middle are the longest and have the best
/// pairs.
fn from_middle(humans: usize, most: usize) -> usize {
    (2 * humans).abs_diff(most)
}

/// Offers to `best` every cell that is even enough. Returns false if the time ran out first.
///
/// Two pointers walk through each pair of lists whose humans add up to a legal number: O(lists).
pub(super) fn nearest(
    two: &TwoTeams,
    starts: &[Start],
    halves: &Sums<()>,
    clock: &mut StepClock,
    best: &mut TopSplits<Cell>,
) -> bool {
    each_pair(two, starts, halves, |start, humans, total, low, high| {
        if clock.spend(low.sums.len() + high.sums.len()) {
            return false;
        }
        let from = starts[start].gap;
        let mut window = Window::new(from, best.largest_gap(total));
        let mut walk = Walk::new(low.sums, high.sums, window);
        while let Some((one, others)) = walk.next(window) {
            for &other in others.iter().rev() {
                if one + other < window.least {
                    break;
                }
                let cell = Cell {
                    start,
                    humans,
                    sums: [one, other],
                };
                let gap = from + 2 * (one + other);
                if best.offer(Evenness::of_gap(gap.abs(), total), cell) {
                    window = Window::new(from, best.largest_gap(total));
                }
            }
        }
        true
    })
}

/// Passes every cell exactly as even as `at`, with the number of subsets of each half, to `visit`,
/// in the order of [`Cell::order`]. Returns false if the time ran out first.
pub(super) fn ties(
    two: &TwoTeams,
    starts: &[Start],
    halves: &Sums<u64>,
    at: Evenness,
    clock: &mut StepClock,
    visit: &mut dyn FnMut(Cell, [u64; 2]),
) -> bool {
    each_pair(two, starts, halves, |start, humans, total, low, high| {
        let Some(gap) = at.exact_gap(total) else {
            return true;
        };
        for gap in [-gap, gap].into_iter().take(if gap == 0 { 1 } else { 2 }) {
            if clock.spend(low.sums.len() + high.sums.len()) {
                return false;
            }
            // All gaps have the parity of the start's gap.
            if (gap - starts[start].gap) % 2 != 0 {
                return true;
            }
            let wanted = (gap - starts[start].gap) / 2;
            let (mut i, mut j) = (0, high.sums.len());
            while i < low.sums.len() && j > 0 {
                let sums = [low.sums[i], high.sums[j - 1]];
                let sum = sums[0] + sums[1];
                if sum == wanted {
                    visit(
                        Cell {
                            start,
                            humans,
                            sums,
                        },
                        [low.ways[i], high.ways[j - 1]],
                    );
                }
                i += usize::from(sum <= wanted);
                j -= usize::from(sum > wanted);
            }
        }
        true
    })
}

/// Passes to `visit` each start, each pair of human counts of the halves that is legal, the total
/// that a gap is relative to, and the two lists; stops when it returns false.
fn each_pair<W: Ways>(
    two: &TwoTeams,
    starts: &[Start],
    halves: &Sums<W>,
    mut visit: impl FnMut(usize, [usize; 2], i64, List<W>, List<W>) -> bool,
) -> bool {
    let (mut scratch_low, mut scratch_high) = (Scratch::default(), Scratch::default());
    for (index, start) in starts.iter().enumerate() {
        let most = halves.humans(0);
        let mut lows: Vec<usize> = (0..=most).collect();
        lows.sort_by_key(|&low| from_middle(low, most));
        for from_low in lows {
            let low = halves.list(0, from_low, &mut scratch_low);
            for from_high in 0..=halves.humans(1) {
                let on_first = start.humans + from_low + from_high;
                let Some(&Some(total)) = two.totals.get(on_first) else {
                    continue;
                };
                let high = halves.list(1, from_high, &mut scratch_high);
                if !visit(index, [from_low, from_high], total, low, high) {
                    return false;
                }
            }
        }
    }
    true
}
