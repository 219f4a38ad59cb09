//! The search for the plans that make the teams most even.

use super::RebalanceSettings;
use crate::{
    lobby::moves::{self, Aim, Score, Search, Step, Unit},
    partition::TeamSums,
};

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
        let mut ladder = vec![self.plan(Score::of(&self.sums, self.limit, Aim::Evenness), Vec::new())];
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
