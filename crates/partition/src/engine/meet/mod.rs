//! Exact search for two teams that meets in the middle.
//!
//! It computes the subset sums of each half of the atoms, sorted and by number of humans
//! ([`sums`]), and joins the two lists with two pointers, bounded by the K-th best gap so far
//! ([`SumWalk`]). Then it converts the best pairs of sums back to subsets ([`Tree`]). Equal sums share
//! an entry, so instances of many equal or few different weights stay small at any size.
//!
//! Time and memory O(2^(atoms/2)), or the number of different sums if that is smaller.
//!
//! The lists hold no subsets. With a mask beside each sum, this folder would be half as long; but that was up to twice
//! as slow for 30 to 44 atoms, where most of the time goes into writing the lists, and could not share equal sums.

mod sums;

use evenkeel_model::random::{Stream, StreamPurpose};

use super::{StepClock, two::TwoTeams};
use crate::{
    balance::Evenness,
    engine::{BestSplits, TopSplits},
};

use sums::{Atoms, List, Scratch, Sums, Ways};

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
    if !nearest(two, &starts(two), &sums, clock, &mut best) {
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
    let mut whole = ties(two, &starts, &sums, at, clock, &mut |_, ways| {
        total += count(ways)
    });
    let mut drawing = Drawing::new(slots, total, seed);
    whole &= ties(two, &starts, &sums, at, clock, &mut |cell, ways| {
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

/// A starting point of the join: the atoms on team 0 that are in neither half.
#[derive(Clone, Copy)]
struct Start {
    /// Team 0's sum minus team 1's while both halves are on team 1.
    pub gap: i64,
    /// Number of humans on team 0 while both halves are on team 1.
    pub humans: usize,
    /// The free atoms on team 0 while both halves are on team 1, as a mask.
    pub mask: u128,
}

/// All combinations with one start and one sum from each half.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cell {
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
    pub(crate) fn order(&self, most: usize) -> impl Ord + use<> {
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
fn nearest(
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
        let mut window = SumWindow::new(from, best.largest_gap(total));
        let mut walk = SumWalk::new(low.sums, high.sums, window);
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
                    window = SumWindow::new(from, best.largest_gap(total));
                }
            }
        }
        true
    })
}

/// Passes every cell exactly as even as `at`, with the number of subsets of each half, to `visit`,
/// in the order of [`Cell::order`]. Returns false if the time ran out first.
fn ties(
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

/// The range of sums that are wanted, both ends included; empty if `most` is below `least`.
#[derive(Clone, Copy)]
struct SumWindow {
    pub least: i64,
    pub most: i64,
}

impl SumWindow {
    /// The sums for which `|start + 2 sum| ≤ gap`.
    pub(crate) fn new(start: i64, gap: i64) -> Self {
        Self {
            least: -(gap + start).div_euclid(2),
            most: (gap - start).div_euclid(2),
        }
    }
}

/// Walks the low list upwards and the high list downwards, past all pairs whose sum is within a
/// window, which may narrow on the way. O(both lists).
///
/// Each step depends on the comparison before it, so two walks, through the two halves of the low
/// list, take little more time side by side than one alone.
struct SumWalk<'a> {
    low: [&'a [i64]; 2],
    high: &'a [i64],
    /// The next index in each part of the low list.
    i: [usize; 2],
    /// For each part, how many numbers of the high list are left.
    j: [usize; 2],
}

impl<'a> SumWalk<'a> {
    pub(crate) fn new(low: &'a [i64], high: &'a [i64], window: SumWindow) -> Self {
        // Skip numbers that are too small or too large with any partner.
        let (Some(first), Some(last)) = (high.first(), high.last()) else {
            return Self {
                low: [&[]; 2],
                high,
                i: [0; 2],
                j: [0; 2],
            };
        };
        let start = low.partition_point(|sum| sum + last < window.least);
        let low = &low[start..];
        let low = &low[..low.partition_point(|sum| sum + first <= window.most)];
        let (one, other) = low.split_at(low.len() / 2);
        // A number that is too large for the first of a part is too large for all of it.
        let left = |part: &[i64]| match part.first() {
            Some(first) => high.partition_point(|sum| first + sum <= window.most),
            None => 0,
        };
        Self {
            low: [one, other],
            high,
            i: [0; 2],
            j: [left(one), left(other)],
        }
    }

    /// Advances to the next number of the low list that has partners within the window. Returns it
    /// with the high list up to its largest partner.
    // Not inlined, so that the loop's variables stay in registers.
    #[inline(never)]
    pub(crate) fn next(&mut self, window: SumWindow) -> Option<(i64, &'a [i64])> {
        let (SumWindow { least, most }, high) = (window, self.high);
        let width = u64::try_from(most - least).ok()?;
        // One comparison instead of two: smaller numbers wrap around to large ones.
        let within = |sum: i64| sum.wrapping_sub(least) as u64 <= width;
        let [low_a, low_b] = self.low;
        let ([mut i_a, mut i_b], [mut j_a, mut j_b]) = (self.i, self.j);
        let (mut hit_a, mut hit_b) = (false, false);
        while i_a < low_a.len() && j_a > 0 && i_b < low_b.len() && j_b > 0 {
            let sum_a = low_a[i_a] + high[j_a - 1];
            let sum_b = low_b[i_b] + high[j_b - 1];
            (hit_a, hit_b) = (within(sum_a), within(sum_b));
            if hit_a || hit_b {
                break;
            }
            i_a += usize::from(sum_a <= most);
            j_a -= usize::from(sum_a > most);
            i_b += usize::from(sum_b <= most);
            j_b -= usize::from(sum_b > most);
        }
        let alone = |low: &[i64], i: &mut usize, j: &mut usize, hit: &mut bool| {
            while *i < low.len() && *j > 0 {
                let sum = low[*i] + high[*j - 1];
                if within(sum) {
                    *hit = true;
                    break;
                }
                *i += usize::from(sum <= most);
                *j -= usize::from(sum > most);
            }
        };
        if !hit_a && !hit_b {
            alone(low_a, &mut i_a, &mut j_a, &mut hit_a);
        }
        if !hit_a && !hit_b {
            alone(low_b, &mut i_b, &mut j_b, &mut hit_b);
        }
        // Return one of two hits; the next call finds the other again.
        let found = match (hit_a, hit_b) {
            (true, _) => {
                i_a += 1;
                Some((low_a[i_a - 1], &high[..j_a]))
            }
            (_, true) => {
                i_b += 1;
                Some((low_b[i_b - 1], &high[..j_b]))
            }
            _ => None,
        };
        (self.i, self.j) = ([i_a, i_b], [j_a, j_b]);
        found
    }
}

/// A binary tree over the atoms, with the subset sums of every part except the whole.
///
/// The lists of a whole half contain sums only; the tree recovers subsets for the few sums that are
/// needed. O(2^(atoms/2)) memory, and as much time per query.
struct Tree {
    parts: Option<Box<TreeParts>>,
    atoms: usize,
}

struct TreeParts {
    sums: Sums<u64>,
    trees: [Tree; 2],
}

impl Tree {
    /// The tree over some atoms; `None` if the time ran out first.
    pub(crate) fn of((above_bots, sizes): Atoms, clock: &mut StepClock) -> Option<Self> {
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
    pub(crate) fn count(&self, humans: usize, sum: i64) -> u64 {
        let Some(parts) = &self.parts else { return 1 };
        let mut count = 0;
        parts.find(humans, sum, |pair| {
            count += pair.ways[0] * pair.ways[1];
            false
        });
        count
    }

    /// The subset with index `rank` among those with this many humans and this sum, as a mask.
    pub(crate) fn unrank(&self, humans: usize, sum: i64, mut rank: u64) -> u128 {
        let Some(parts) = &self.parts else {
            return u128::from(humans > 0);
        };
        let found = parts.find(humans, sum, |pair| {
            let ways = pair.ways[0] * pair.ways[1];
            let here = rank < ways;
            rank -= if here { 0 } else { ways };
            here
        });
        let Some(SumPair { humans, sums, ways }) = found else {
            return 0;
        };
        let [low, high] = &parts.trees;
        let low_mask = low.unrank(humans[0], sums[0], rank / ways[1]);
        let high_mask = high.unrank(humans[1], sums[1], rank % ways[1]);
        low_mask | high_mask << low.atoms
    }
}

/// A pair of sums, one of each part, that add up to the requested sum.
struct SumPair {
    humans: [usize; 2],
    sums: [i64; 2],
    ways: [u64; 2],
}

impl TreeParts {
    /// The first pair of sums of the two parts, with this total and this many humans, that `wanted`
    /// accepts.
    fn find(
        &self,
        humans: usize,
        sum: i64,
        mut wanted: impl FnMut(&SumPair) -> bool,
    ) -> Option<SumPair> {
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
                    let pair = SumPair {
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
    use std::collections::BTreeSet;

    use super::*;

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
