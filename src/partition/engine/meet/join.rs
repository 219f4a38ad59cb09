//! Two halves, joined: pairs of a sum of either that leave little gap between the teams.

use super::sums::{List, Sums, Ways};
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
    let mut scratch = [List::default(), List::default()];
    for (humans, total) in pairs(two, halves) {
        let [low, high] = lists(halves, humans, &mut scratch);
        if clock.spend(low.sums.len() + high.sums.len()) {
            return false;
        }
        let (low, high) = (&low.sums[..], &high.sums[..]);
        let mut window = Window::new(two.gap, best.largest_gap(total));
        let (mut i, mut j) = (0, high.len());
        while i < low.len() && j > 0 {
            let sum = low[i] + high[j - 1];
            if window.holds(sum) {
                for &other in high[..j].iter().rev() {
                    let gap = two.gap + 2 * (low[i] + other);
                    if gap < -window.gap {
                        break;
                    }
                    let cell = Cell {
                        humans,
                        sums: [low[i], other],
                    };
                    if best.offer(Balance::of_gap(gap.abs(), total), cell) {
                        window = Window::new(two.gap, best.largest_gap(total));
                    }
                }
                i += 1;
                continue;
            }
            let small = sum < window.low;
            i += usize::from(small);
            j -= usize::from(!small);
        }
    }
    true
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
    let mut scratch = [List::default(), List::default()];
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
    gap: i64,
}

impl Window {
    /// `|start + 2 sum| ≤ gap`, solved for the sum.
    fn new(start: i64, gap: i64) -> Self {
        Self {
            low: -((gap + start).div_euclid(2)),
            high: (gap - start).div_euclid(2),
            gap,
        }
    }

    fn holds(&self, sum: i64) -> bool {
        self.low <= sum && sum <= self.high
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
    scratch: &'a mut [List<W>; 2],
) -> [&'a List<W>; 2] {
    let [low, high] = scratch;
    [
        halves[0].list(humans[0], low),
        halves[1].list(humans[1], high),
    ]
}
