//! Exhaustive search for two teams: one atom changes per step, and mirror images are left out.

use super::two::TwoTeams;
use crate::{balance::Evenness, best::TopSplits, engine::StepClock};

/// Steps between two polls of the clock.
const BLOCK: u64 = 1 << 14;

/// Offers to `best` every legal combination that is even enough. Returns false if the time ran out
/// first.
///
/// The reflected binary code (F. Gray, US patent 2632058) changes one bit per step: the one at the
/// lowest set bit of a counter. O(2^atoms). Sums are whole numbers, so they do not drift.
pub(crate) fn walk(two: &TwoTeams, clock: &mut StepClock, best: &mut TopSplits<u128>) -> bool {
    let steps = 1u64 << two.above_bots.len();
    let mut limits = limits(two, best);
    let (mut mask, mut gap, mut humans) = (0u64, two.gap, two.humans);
    let moves: Vec<(i64, usize)> = two
        .above_bots
        .iter()
        .zip(&two.sizes)
        .map(|(above_bot, &size)| (2 * above_bot, size))
        .collect();
    for step in 1..=steps {
        if gap.abs() <= limits[humans]
            && let Some(total) = two.totals[humans]
            && best.offer(Evenness::of_gap(gap.abs(), total), u128::from(mask))
        {
            limits = self::limits(two, best);
        }
        if step % BLOCK == 0 && clock.spend(BLOCK as usize) {
            return step == steps;
        }
        let bit = step.trailing_zeros() as usize;
        let Some(&(above_bot, size)) = moves.get(bit) else {
            break;
        };
        mask ^= 1 << bit;
        if mask >> bit & 1 == 1 {
            gap += above_bot;
            humans += size;
        } else {
            gap -= above_bot;
            humans -= size;
        }
    }
    true
}

/// The largest gap worth offering, by humans on team 0; negative if that number is illegal.
fn limits(two: &TwoTeams, best: &TopSplits<u128>) -> Vec<i64> {
    two.totals
        .iter()
        .map(|total| total.map_or(-1, |total| best.largest_gap(total)))
        .collect()
}
