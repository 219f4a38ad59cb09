//! Two halves, joined: pairs of a sum of either that leave little gap between the teams.

use super::{
    merge::View,
    sums::{Lists, Sums, Ways},
};
use crate::partition::{balance::Balance, best::Best, clock::Clock, engine::two::TwoTeams};

/// All splits whose free atoms on team 0 have these two sums, one in either half.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cell {
    /// Humans from either half on team 0.
    pub humans: [usize; 2],
    /// The sums of their lifts.
    pub sums: [i64; 2],
}

/// Offers `best` every cell that is good enough; `false` when the time was over first.
///
/// Two pointers run through each pair of lists whose humans add up to a legal number: O(lists).
pub(super) fn nearest(
    two: &TwoTeams,
    halves: &[Sums<()>; 2],
    clock: &mut Clock,
    best: &mut Best<Cell>,
) -> bool {
    let mut scratch = [Lists::default(), Lists::default()];
    for (humans, total) in pairs(two, halves) {
        let [low, high] = lists(halves, humans, &mut scratch);
        if clock.spend(low.sums.len() + high.sums.len()) {
            return false;
        }
        let mut window = Window::new(two.gap, best.largest_gap(total));
        let mut offer = |sums: [i64; 2], window: &mut Window| {
            let gap = two.gap + 2 * (sums[0] + sums[1]);
            if best.offer(Balance::of_gap(gap.abs(), total), Cell { humans, sums }) {
                *window = Window::new(two.gap, best.largest_gap(total));
            }
        };
        let mut lanes = Lane::split(low.sums, high.sums, &window);
        while lanes.iter().all(Lane::runs) {
            for lane in &mut lanes {
                lane.step(&mut window, &mut offer);
            }
        }
        for lane in &mut lanes {
            while lane.runs() {
                lane.step(&mut window, &mut offer);
            }
        }
    }
    true
}

/// Two pointers that run through a pair of lists, the low one up and the high one down.
///
/// The next step waits for the last comparison, so that three such walks, each through its own part
/// of the low list, take little more time side by side than one of them alone.
struct Lane<'a> {
    low: &'a [i64],
    high: &'a [i64],
    i: usize,
    j: usize,
}

const LANES: usize = 3;

impl<'a> Lane<'a> {
    fn split(low: &'a [i64], high: &'a [i64], window: &Window) -> [Self; LANES] {
        std::array::from_fn(|lane| {
            let part = &low[low.len() * lane / LANES..low.len() * (lane + 1) / LANES];
            // What is too much for the part's first is too much for all of it.
            let most = part.first().map_or(i64::MIN, |first| window.high - first);
            Self {
                low: part,
                high,
                i: 0,
                j: high.partition_point(|&sum| sum <= most),
            }
        })
    }

    #[inline(always)]
    fn runs(&self) -> bool {
        self.i < self.low.len() && self.j > 0
    }

    #[inline(always)]
    fn step(&mut self, window: &mut Window, offer: &mut impl FnMut([i64; 2], &mut Window)) {
        let one = self.low[self.i];
        let sum = one + self.high[self.j - 1];
        // With one below or within the window, this one of the low list is done with.
        let done = sum <= window.high;
        if done && sum >= window.low {
            for &other in self.high[..self.j].iter().rev() {
                if one + other < window.low {
                    break;
                }
                offer([one, other], window);
            }
        }
        self.i += usize::from(done);
        self.j -= usize::from(!done);
    }
}

/// Shows `visit` every cell exactly as even as `at`, with the number of its splits, in the order
/// of [`order`]; `false` when the time was over first.
pub(super) fn ties(
    two: &TwoTeams,
    halves: &[Sums<u64>; 2],
    at: Balance,
    clock: &mut Clock,
    visit: &mut dyn FnMut(Cell, u128),
) -> bool {
    let mut scratch = [Lists::default(), Lists::default()];
    for (humans, total) in pairs(two, halves) {
        let Some(gap) = at.exact_gap(total) else {
            continue;
        };
        let [low, high] = lists(halves, humans, &mut scratch);
        for gap in [-gap, gap].into_iter().take(if gap == 0 { 1 } else { 2 }) {
            if clock.spend(low.sums.len() + high.sums.len()) {
                return false;
            }
            // Whole: a gap has the parity of the total, which is that of the empty mask's gap.
            let wanted = (gap - two.gap) / 2;
            let (mut i, mut j) = (0, high.sums.len());
            while i < low.sums.len() && j > 0 {
                let sums = [low.sums[i], high.sums[j - 1]];
                let sum = sums[0] + sums[1];
                if sum == wanted {
                    let ways = u128::from(low.ways[i]) * u128::from(high.ways[j - 1]);
                    visit(Cell { humans, sums }, ways);
                }
                i += usize::from(sum <= wanted);
                j -= usize::from(sum > wanted);
            }
        }
    }
    true
}

/// The order in which [`ties`] shows cells.
pub(super) fn order(cell: &Cell) -> impl Ord + use<> {
    let [low, high] = cell.humans;
    (low + high, low, cell.sums[0] + cell.sums[1], cell.sums[0])
}

/// The sums of both halves' subsets that leave a gap of at most `gap`.
struct Window {
    low: i64,
    high: i64,
}

impl Window {
    /// `|start + 2 sum| ≤ gap`, solved for the sum.
    fn new(start: i64, gap: i64) -> Self {
        Self {
            low: -((gap + start).div_euclid(2)),
            high: (gap - start).div_euclid(2),
        }
    }
}

/// The humans of either half that add up to a legal number on team 0, with what the sums of both
/// teams then add up to.
fn pairs<W: Ways>(
    two: &TwoTeams,
    halves: &[Sums<W>; 2],
) -> impl Iterator<Item = ([usize; 2], i64)> {
    let most = halves.each_ref().map(Sums::humans);
    let legal = two.totals.iter().enumerate().skip(two.humans);
    let legal = legal.filter_map(move |(on_first, total)| Some((on_first - two.humans, (*total)?)));
    legal.flat_map(move |(free, total)| {
        (0..=free.min(most[0]))
            .filter(move |low| free - low <= most[1])
            .map(move |low| ([low, free - low], total))
    })
}

fn lists<'a, W: Ways>(
    halves: &'a [Sums<W>; 2],
    humans: [usize; 2],
    scratch: &'a mut [Lists<W>; 2],
) -> [View<'a, W>; 2] {
    let [low, high] = scratch;
    [
        halves[0].list(humans[0], low),
        halves[1].list(humans[1], high),
    ]
}
