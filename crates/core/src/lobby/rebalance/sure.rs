//! Whether a plan makes the chances more even beyond doubt.

use super::plan::{MovePlan, Planner};
use crate::domain::{Outlook, SAME_CHANCE, chance_of_weaker, evenness_of_chance};

/// How many standard deviations an improvement must be from none. With a whole one, hardly any lobby of
/// recorded matches got advice; with a half, a third of the advice turned out badly, as without this
/// demand (`cargo bench --bench even`).
const SURE: f64 = 0.75;

/// An edge of less than so many standard deviations is as good as none: who is ahead is hardly better known than by lot.
/// Each swap that went on from there was as often wrong as right (the same bench, on the first half of Tribes); from 0.3
/// to 0.6 it hardly matters.
const OPEN: f64 = 0.5;

/// The evenness from which on the chances are even as far as anybody knows: from 48 % and 52 %, or where the edge is lost in
/// the doubt about it. Four against one is no such edge: that counts only where no team is two players short (`is_full`).
pub(super) fn even(outlook: &Outlook, is_full: bool) -> f64 {
    let nearly = evenness_of_chance(0.5 - SAME_CHANCE);
    match is_full {
        true => nearly.min(outlook.link.evenness(OPEN * outlook.doubt)),
        false => nearly,
    }
}

impl Planner {
    /// Whether a plan makes the chances more even beyond doubt: by more than players notice, beyond what BALANCE gives up
    /// to draw the sides, and also if the strengths of all players are as far from their estimates as they usually are.
    ///
    /// Let e be the edge now, e' that after the moves, and δ = e − e' what the moves change. The game is
    /// more even with them if δ has the direction of e, and e + e' does, too: without the players who
    /// move, the same team is still ahead. Each of the two must be more than [`SURE`] standard deviations
    /// from 0. What the numbers of players change is not in doubt. A plan that leaves fewer humans too
    /// many needs no proof, nor does one where nothing predicts chances.
    pub(super) fn is_sure(&self, plan: &MovePlan) -> bool {
        let (alone, over) = (self.sums.evenness_settled(), self.sums.excess(self.limit));
        if self.sums.outlook().is_none() || plan.score.over < over {
            return true;
        }
        let gain = chance_of_weaker(plan.evenness) - chance_of_weaker(alone);
        let after = self.after(plan);
        let edges = self.sums.edge_of_first().zip(after.edge_of_first());
        let (Some((before, after)), Some(outlook)) = (edges, self.sums.outlook()) else {
            return gain > SAME_CHANCE; // more than two teams
        };
        if gain <= SAME_CHANCE + outlook.price_of_sides(self.sums.humans()) {
            return false;
        }
        let units = plan.steps.iter().map(|&(unit, _)| &self.units[unit]);
        let variance: f64 = units.map(|unit| unit.counted.variance).sum();
        let moved = 2.0 * outlook.per_strength_at(self.sums.players()) * libm::sqrt(variance);
        let ahead = before.signum();
        let (middle, change) = (ahead * (before + after) / 2.0, ahead * (before - after));
        middle >= SURE * outlook.doubt && change >= SURE * moved
    }
}
