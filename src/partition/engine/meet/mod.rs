//! Two halves, met in the middle.
//!
//! All subset sums of either half of the atoms, sorted by number of humans ([`sums`]), are joined
//! by two pointers under the bound of the K-th best so far ([`join`]); the sums that win are taken
//! apart into the subsets that have them ([`tree`]). Equal sums are one entry, so that lobbies of
//! equals, or of few different weights, stay small at any size.
//!
//! Time and memory O(2^(atoms/2)), or the number of different sums where that is less.

mod join;
mod merge;
mod sums;
mod tree;

use join::Cell;
use sums::Sums;
use tree::Tree;

use super::two::TwoTeams;
use crate::partition::{
    balance::Balance,
    best::{Best, Found},
    clock::Clock,
    random::{self, Purpose},
};

/// The K best combinations of `two`, most even first; `None` when the time was over first.
///
/// Where more are equally even than fit, those that are in are drawn by `seed`, every one of them
/// equally likely.
pub(crate) fn solve(
    two: &TwoTeams,
    keep: usize,
    seed: u64,
    clock: &mut Clock,
) -> Option<Vec<(Balance, u128)>> {
    let mut best = Best::new(keep);
    let halves = halves(two, clock)?;
    if !join::nearest(two, &halves, clock, &mut best) {
        return None;
    }
    drop(halves);
    let trees = Trees::of(two, clock)?;
    expand(two, &trees, best.finish(), keep, seed, clock)
}

/// `slots` of the combinations exactly as even as `at`, of which there are more: every one
/// equally likely. `None` when the time was over first.
pub(crate) fn draw(
    two: &TwoTeams,
    at: Balance,
    slots: usize,
    seed: u64,
    clock: &mut Clock,
) -> Option<Vec<u128>> {
    let halves = halves(two, clock)?;
    let trees = Trees::of(two, clock)?;
    let mut total = 0;
    let mut whole = join::ties(two, &halves, at, clock, &mut |_, ways| total += ways);
    let mut drawing = Drawing::new(slots, total, seed);
    whole &= join::ties(two, &halves, at, clock, &mut |cell, ways| {
        drawing.pass(&trees, cell, ways);
    });
    whole.then_some(drawing.masks)
}

/// At most how many bytes [`solve`] needs, and about how many steps it takes.
pub(crate) fn measure(two: &TwoTeams) -> (f64, f64) {
    let middle = two.lifts.len() / 2;
    let stored = sums::measure(&two.lifts[..middle], &two.sizes[..middle])
        + sums::measure(&two.lifts[middle..], &two.sizes[middle..]);
    let classes = two.totals.iter().flatten().count() as f64;
    // While a list is replaced, its old form, its parts and its complement are there too.
    (stored * 8.0 * 2.0, stored * (2.0 + 2.0 * classes))
}

fn halves<W: sums::Ways>(two: &TwoTeams, clock: &mut Clock) -> Option<[Sums<W>; 2]> {
    let middle = two.lifts.len() / 2;
    let low = Sums::of(&two.lifts[..middle], &two.sizes[..middle], clock)?;
    Some([
        low,
        Sums::of(&two.lifts[middle..], &two.sizes[middle..], clock)?,
    ])
}

/// The K best combinations of the K best cells.
fn expand(
    two: &TwoTeams,
    trees: &Trees,
    found: Found<Cell>,
    keep: usize,
    seed: u64,
    clock: &mut Clock,
) -> Option<Vec<(Balance, u128)>> {
    let mut cells = found.better;
    let whole = found.whole;
    cells.extend(
        found
            .at
            .into_iter()
            .flat_map(|at| found.tied.iter().map(move |&c| (at, c))),
    );
    let mut masks = Vec::new();
    for group in cells.chunk_by(|(one, _), (other, _)| one == other) {
        let at = group[0].0;
        let slots = keep - masks.len();
        let mut group: Vec<_> = group
            .iter()
            .map(|(_, cell)| (*cell, trees.count(cell)))
            .collect();
        let total: u128 = group.iter().map(|(_, ways)| ways).sum();
        if found.at == Some(at) && !whole {
            masks.extend(
                draw(two, at, slots, seed, clock)?
                    .into_iter()
                    .map(|mask| (at, mask)),
            );
            break;
        }
        group.sort_by_key(|(cell, _)| join::order(cell));
        let slots = slots.min(usize::try_from(total).unwrap_or(usize::MAX));
        let mut drawing = Drawing::new(slots, total, seed);
        for (cell, ways) in group {
            drawing.pass(trees, cell, ways);
        }
        masks.extend(drawing.masks.into_iter().map(|mask| (at, mask)));
        if masks.len() == keep {
            break;
        }
    }
    Some(masks)
}

/// The trees of both halves.
struct Trees {
    halves: [Tree; 2],
    low: usize,
}

impl Trees {
    fn of(two: &TwoTeams, clock: &mut Clock) -> Option<Self> {
        let low = two.lifts.len() / 2;
        let first = Tree::of(&two.lifts[..low], &two.sizes[..low], clock)?;
        let second = Tree::of(&two.lifts[low..], &two.sizes[low..], clock)?;
        Some(Self {
            halves: [first, second],
            low,
        })
    }

    /// How many splits a cell has.
    fn count(&self, cell: &Cell) -> u128 {
        let of =
            |half: usize| u128::from(self.halves[half].count(cell.humans[half], cell.sums[half]));
        of(0) * of(1)
    }

    /// A cell's split number `rank`, as a mask.
    fn unrank(&self, cell: &Cell, rank: u128) -> u128 {
        let of = |half: usize, rank: u128| {
            self.halves[half].unrank(cell.humans[half], cell.sums[half], rank as u64)
        };
        let others = u128::from(self.halves[1].count(cell.humans[1], cell.sums[1]));
        of(0, rank / others) | of(1, rank % others) << self.low
    }
}

/// A sample of the splits of cells that pass by, drawn by their number in the whole procession.
struct Drawing {
    /// The numbers still to come, the next one last.
    wanted: Vec<u128>,
    passed: u128,
    masks: Vec<u128>,
}

impl Drawing {
    fn new(slots: usize, total: u128, seed: u64) -> Self {
        let mut wanted = if slots as u128 >= total {
            (0..total).collect()
        } else {
            random::distinct(&mut random::stream(seed, Purpose::Ties), slots, total)
        };
        wanted.reverse();
        Self {
            wanted,
            passed: 0,
            masks: Vec::new(),
        }
    }

    fn pass(&mut self, trees: &Trees, cell: Cell, ways: u128) {
        while let Some(next) = self.wanted.last().map(|next| next - self.passed)
            && next < ways
        {
            self.masks.push(trees.unrank(&cell, next));
            self.wanted.pop();
        }
        self.passed += ways;
    }
}
