//! Two halves, joined: pairs of a sum of either that leave little gap between the teams.

use super::{
    merge::{List, Ways},
    sums::{Scratch, Sums},
    walk::{Walk, Window},
};
use crate::partition::{
    balance::Evenness, best::TopSplits, clock::StepClock, engine::two::TwoTeams,
};

/// What is on team 0 beside atoms of the halves, as a combination of its own.
#[derive(Clone, Copy)]
pub(super) struct Start {
    /// Team 0's sum less team 1's while the halves are on team 1.
    pub gap: i64,
    /// Humans on team 0 then.
    pub humans: usize,
    /// The free atoms on team 0 then.
    pub mask: u128,
}

/// All splits that begin at a start and whose atoms on team 0 have these sums, one in either half.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cell {
    /// Which start.
    pub start: usize,
    /// Humans from either half on team 0.
    pub humans: [usize; 2],
    /// The sums of their lifts.
    pub sums: [i64; 2],
}

impl Cell {
    /// The order in which [`ties`] shows cells, of a low half with so many humans.
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

/// Lists are the longer and their best pairs the better, the closer to half of the humans they are.
fn from_middle(humans: usize, most: usize) -> usize {
    (2 * humans).abs_diff(most)
}

/// Offers `best` every cell that is good enough; `false` when the time was over first.
///
/// Two pointers run through each pair of lists whose humans add up to a legal number: O(lists).
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

/// Shows `visit` every cell exactly as even as `at`, with the number of its splits, in the order
/// of [`Cell::order`]; `false` when the time was over first.
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
            // All gaps have one parity.
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

/// Shows `visit` each start, each pair of humans of the halves that makes a legal number on team 0,
/// what a gap between them is then measured by, and the lists; until it returns `false`.
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
