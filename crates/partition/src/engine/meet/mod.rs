//! Exact search for two teams that meets in the middle.
//!
//! It computes the subset sums of each half of the atoms, sorted and by number of humans
//! ([`sums`]), and joins the two lists with two pointers, bounded by the K-th best gap so far
//! ([`join`]). Then it converts the best pairs of sums back to subsets ([`tree`]). Equal sums share
//! an entry, so instances of many equal or few different weights stay small at any size.
//!
//! Time and memory O(2^(atoms/2)), or the number of different sums if that is smaller.
//!
//! The lists hold no subsets. With a mask beside each sum, this folder would be half as long; but that was up to twice
//! as slow for 30 to 44 atoms, where most of the time goes into writing the lists, and could not share equal sums.

mod join;
mod merge;
mod sums;
mod tree;
mod walk;

use join::{Cell, Start};
use sums::{Atoms, Sums};
use tree::Tree;

use super::two::TwoTeams;
use crate::{
    balance::Evenness,
    best::{BestSplits, TopSplits},
    clock::StepClock,
};
use evenkeel_model::{Stream, StreamPurpose};

/// The K best combinations of `two`, most even first; `None` if the time ran out first.
///
/// If more combinations tie for the last places than fit, `seed` draws among them, each with the
/// same probability.
pub(crate) fn solve(
    two: &TwoTeams,
    keep: usize,
    seed: u64,
    clock: &mut StepClock,
) -> Option<Vec<(Evenness, u128)>> {
    let mut best = TopSplits::new(keep);
    let sums = Sums::of(halves(two), clock)?;
    if !join::nearest(two, &starts(two), &sums, clock, &mut best) {
        return None;
    }
    drop(sums);
    let trees = Trees::of(two, clock)?;
    expand(two, &trees, best.finish(), keep, seed, clock)
}

/// Draws `slots` of the combinations exactly as even as `at`, of which there are more, each with
/// the same probability. `None` if the time ran out first.
pub(crate) fn draw(
    two: &TwoTeams,
    at: Evenness,
    slots: usize,
    seed: u64,
    clock: &mut StepClock,
) -> Option<Vec<u128>> {
    let (starts, sums) = (starts(two), Sums::of(halves(two), clock)?);
    let trees = Trees::of(two, clock)?;
    let mut total = 0;
    let mut whole = join::ties(two, &starts, &sums, at, clock, &mut |_, ways| {
        total += count(ways)
    });
    let mut drawing = Drawing::new(slots, total, seed);
    whole &= join::ties(two, &starts, &sums, at, clock, &mut |cell, ways| {
        drawing.pass(&trees, &cell, ways);
    });
    whole.then_some(drawing.masks)
}

/// Upper bounds on the bytes and, roughly, the steps that [`solve`] needs.
pub(crate) fn measure(two: &TwoTeams) -> (f64, f64) {
    let halves = halves(two);
    let stored: f64 = halves
        .iter()
        .map(|&(above_bots, sizes)| sums::capacity(above_bots, sizes))
        .sum();
    let [low, high] = halves.map(|(above_bots, sizes)| sums::choices(above_bots, sizes));
    let mut joined = 0.0;
    for start in starts(two) {
        for (from_low, low) in low.iter().enumerate() {
            for (from_high, high) in high.iter().enumerate() {
                let legal = two.totals.get(start.humans + from_low + from_high);
                joined += if let Some(Some(_)) = legal {
                    low + high
                } else {
                    0.0
                };
            }
        }
    }
    // Besides the lists, memory holds the lists before the last atom and one or two complements;
    // the draw among ties also counts ways. Building the lists takes as many steps as their final
    // length again.
    (stored * 8.0 * 4.0, stored * 2.0 + joined)
}

/// The free atoms as two halves of equal size; with an odd number, the last one is in neither.
fn halves(two: &TwoTeams) -> [Atoms<'_>; 2] {
    let low = two.above_bots.len() / 2;
    let part = |range: std::ops::Range<usize>| (&two.above_bots[range.clone()], &two.sizes[range]);
    [part(0..low), part(low..2 * low)]
}

/// The starting points of the join: if one atom is left over, one start with it on each team.
///
/// With equal halves this takes as many steps as adding the atom to one of them, and less memory.
fn starts(two: &TwoTeams) -> Vec<Start> {
    let mut starts = vec![Start {
        gap: two.gap,
        humans: two.humans,
        mask: 0,
    }];
    let odd = two.above_bots.len() / 2 * 2;
    if let (Some(above_bot), Some(size)) = (two.above_bots.get(odd), two.sizes.get(odd)) {
        let (gap, humans) = (two.gap + 2 * above_bot, two.humans + size);
        starts.push(Start {
            gap,
            humans,
            mask: 1 << odd,
        });
    }
    starts
}

/// Converts the K best cells to the K best combinations.
fn expand(
    two: &TwoTeams,
    trees: &Trees,
    found: BestSplits<Cell>,
    keep: usize,
    seed: u64,
    clock: &mut StepClock,
) -> Option<Vec<(Evenness, u128)>> {
    let mut cells = found.better;
    cells.extend(
        found
            .at
            .iter()
            .flat_map(|&at| found.tied.iter().map(move |&cell| (at, cell))),
    );
    let mut masks = Vec::new();
    for group in cells.chunk_by(|(one, _), (other, _)| one == other) {
        let at = group[0].0;
        let slots = keep - masks.len();
        let drawn = if found.at == Some(at) && !found.whole {
            draw(two, at, slots, seed, clock)?
        } else {
            let mut group: Vec<Cell> = group.iter().map(|&(_, cell)| cell).collect();
            group.sort_by_key(|cell| cell.order(trees.humans));
            let ways: Vec<_> = group.iter().map(|cell| trees.ways(cell)).collect();
            let total: u128 = ways.iter().copied().map(count).sum();
            let mut drawing = Drawing::new(slots, total, seed);
            for (cell, ways) in group.iter().zip(ways) {
                drawing.pass(trees, cell, ways);
            }
            drawing.masks
        };
        masks.extend(drawn.into_iter().map(|mask| (at, mask)));
        if masks.len() == keep {
            break;
        }
    }
    Some(masks)
}

/// The data to convert a cell to combinations.
struct Trees {
    halves: [Tree; 2],
    starts: Vec<Start>,
    /// Number of atoms in the low half, which is the shift of the high half's mask.
    low: usize,
    /// Number of humans in the low half.
    humans: usize,
}

impl Trees {
    fn of(two: &TwoTeams, clock: &mut StepClock) -> Option<Self> {
        let [low, high] = halves(two);
        let halves = [Tree::of(low, clock)?, Tree::of(high, clock)?];
        Some(Self {
            halves,
            starts: starts(two),
            low: low.0.len(),
            humans: low.1.iter().sum(),
        })
    }

    /// The number of subsets of each half that a cell stands for.
    fn ways(&self, cell: &Cell) -> [u64; 2] {
        [0, 1].map(|half: usize| self.halves[half].count(cell.humans[half], cell.sums[half]))
    }

    /// The combination of a cell with these ranks in the two halves, as a mask.
    fn unrank(&self, cell: &Cell, ranks: [u64; 2]) -> u128 {
        let [low, high] = [0, 1].map(|half: usize| {
            self.halves[half].unrank(cell.humans[half], cell.sums[half], ranks[half])
        });
        self.starts[cell.start].mask | low | high << self.low
    }
}

/// The number of combinations of the two halves' subsets.
fn count(ways: [u64; 2]) -> u128 {
    u128::from(ways[0]) * u128::from(ways[1])
}

/// Draws a random sample of combinations while their cells are enumerated, by consecutive number.
struct Drawing {
    /// The numbers drawn that have not come yet, in descending order.
    wanted: Vec<u128>,
    passed: u128,
    masks: Vec<u128>,
}

impl Drawing {
    /// A sample of `slots` out of `total` combinations; all of them if there are no more.
    fn new(slots: usize, total: u128, seed: u64) -> Self {
        let mut wanted = if slots as u128 >= total {
            (0..total).collect()
        } else {
            Stream::new(seed, StreamPurpose::Ties).distinct(slots, total)
        };
        wanted.reverse();
        Self {
            wanted,
            passed: 0,
            masks: Vec::new(),
        }
    }

    fn pass(&mut self, trees: &Trees, cell: &Cell, ways: [u64; 2]) {
        while let Some(next) = self.wanted.last().map(|next| next - self.passed)
            && next < count(ways)
        {
            let others = u128::from(ways[1]);
            // Each is less than the ways of its half, which fit in a u64.
            let ranks = [(next / others) as u64, (next % others) as u64];
            self.masks.push(trees.unrank(cell, ranks));
            self.wanted.pop();
        }
        self.passed += count(ways);
    }
}
