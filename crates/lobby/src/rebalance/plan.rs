//! The search for the plans that make the teams most even.

use super::RebalanceSettings;
use crate::moves::{self, Aim, Score, Search, Step, Unit};
use evenkeel_model::{Outlook, SAME_CHANCE, chance_of_weaker, evenness_of_chance};
use evenkeel_partition::TeamSums;

/// The most plans to try. If there are more plans of up to three moves, only plans of fewer moves
/// are all tried. A million plans take ten milliseconds. 64 humans on two teams have 43,745 plans
/// of at most three moves, which take half a millisecond.
const MAX_TRIED: u128 = 1_000_000;
/// The most moves of a plan for which all plans are tried.
const MAX_EXACT: usize = 3;

/// A set of units and their new teams.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MovePlan {
    /// Number of humans who move.
    pub(super) moves: usize,
    /// How even the teams are after the moves, 0 to 1, bots included.
    pub(super) evenness: f64,
    /// How good the teams are after the moves.
    pub(super) score: Score,
    pub(super) steps: Vec<Step>,
}

impl MovePlan {
    /// Whether the teams are better than after `other`.
    fn beats(&self, other: &Self) -> bool {
        self.score.beats(&other.score, Aim::Evenness)
    }
}

/// Finds plans for one game. Of equal plans it takes the first one; the seed shuffles the units, so that this is a random
/// one.
#[derive(Clone, Debug)]
pub(super) struct Planner {
    pub(super) sums: TeamSums,
    pub(super) units: Vec<Unit>,
    /// By how many humans the teams should differ at most.
    pub(super) limit: usize,
    /// By how many humans a plan may let them differ: by `limit`, or as many as now.
    most: usize,
}

impl Planner {
    /// A planner for these teams, which may differ by `limit` humans, or by as many as they do now.
    pub(super) fn new(sums: TeamSums, units: Vec<Unit>, limit: usize) -> Self {
        let most = limit.max(sums.spread());
        Self {
            sums,
            units,
            limit,
            most,
        }
    }

    /// The number of moves up to which all plans can be tried within [`MAX_TRIED`].
    pub(super) fn exact_up_to(&self, max_moves: usize) -> usize {
        let (n, others) = (self.units.len(), self.sums.sides().len() - 1);
        let mut plans: u128 = 1;
        let mut tried = 0;
        for moves in 1..=MAX_EXACT.min(max_moves) {
            // C(n, moves) · others^moves
            plans = plans * (n.saturating_sub(moves - 1) as u128) * others as u128 / moves as u128;
            tried += plans;
            if tried > MAX_TRIED {
                return moves - 1;
            }
        }
        MAX_EXACT.min(max_moves)
    }

    /// The best plan with no moves, with one, and so on, up to the first that is even enough. The
    /// plan without moves is always included; other numbers of moves may have no plan.
    pub(super) fn ladder(&self, exact: usize, settings: &RebalanceSettings) -> Vec<MovePlan> {
        let mut ladder =
            vec![self.plan(Score::of(&self.sums, self.limit, Aim::Evenness), Vec::new())];
        let done = |ladder: &[MovePlan]| {
            ladder
                .iter()
                .any(|plan| plan.evenness >= settings.enough.get())
        };
        for moves in 1..=exact {
            if done(&ladder) {
                return ladder;
            }
            let mut search = self.search();
            search.exactly(0, moves);
            ladder.extend(self.found(search));
        }
        while !done(&ladder) {
            let last = ladder.iter().reduce(|a, b| if b.beats(a) { b } else { a });
            let Some(next) =
                last.and_then(|last| self.extended(last, settings.max_moves.as_usize()))
            else {
                break;
            };
            ladder.push(next);
        }
        ladder
    }

    fn search(&self) -> Search<'_> {
        let limits = (self.limit, self.most);
        Search::new(self.sums.clone(), &self.units, Aim::Evenness, limits)
    }

    fn found(&self, search: Search<'_>) -> Option<MovePlan> {
        let (score, steps) = search.found()?;
        Some(self.plan(score, steps))
    }

    fn plan(&self, score: Score, steps: Vec<Step>) -> MovePlan {
        MovePlan {
            moves: moves::people(&self.units, &steps).count(),
            evenness: self.sums.evenness_of(score.monotone),
            score,
            steps,
        }
    }

    /// The plan of these steps; `None` if the teams may not become of these sizes.
    pub(super) fn of_steps(&self, steps: Vec<Step>) -> Option<MovePlan> {
        let after = moves::after(&self.sums, &self.units, &steps);
        let score = Score::within(&after, (self.limit, self.most), Aim::Evenness)?;
        Some(self.plan(score, steps))
    }

    /// `plan` plus the move or swap that makes the teams the most even; `None` if there is none
    /// within `max_moves`. O(units² · teams).
    fn extended(&self, plan: &MovePlan, max_moves: usize) -> Option<MovePlan> {
        let room = max_moves.checked_sub(plan.moves).filter(|&room| room > 0)?;
        let free = |&index: &usize| {
            let planned = plan.steps.iter().any(|&(unit, _)| unit == index);
            !planned && self.units[index].members.len() <= room
        };
        let free: Vec<usize> = (0..self.units.len()).filter(free).collect();
        let mut search = self.search().after(&plan.steps);
        search.move_or_swap(&free, room);
        self.found(search).filter(|next| next.beats(plan))
    }

    /// The teams after `plan`.
    pub(super) fn after(&self, plan: &MovePlan) -> TeamSums {
        moves::after(&self.sums, &self.units, &plan.steps)
    }

    /// The ratio after `plan`, with bots added or removed.
    pub(super) fn ratio(&self, plan: &MovePlan) -> f64 {
        self.after(plan).ratio_settled()
    }

    /// The humans that a plan moves, by index, with their new teams.
    pub(super) fn people<'a>(&'a self, plan: &'a MovePlan) -> impl Iterator<Item = (usize, usize)> {
        moves::people(&self.units, &plan.steps)
    }
}

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
