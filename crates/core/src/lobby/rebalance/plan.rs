//! The search for the plans that make the teams most even.

use super::RebalanceSettings;
use crate::partition::{Counted, EQUAL, TeamSums};

/// The most plans to try. If there are more plans of up to three moves, only plans of fewer moves
/// are all tried. A million plans take ten milliseconds. 64 humans on two teams have 43,745 plans
/// of at most three moves, which take half a millisecond.
const MAX_TRIED: u128 = 1_000_000;
/// The most moves of a plan for which all plans are tried.
const MAX_EXACT: usize = 3;

/// Humans who move together: one human, or the members of a party on one team.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MoveUnit {
    /// Indices of the humans; each counts as a move.
    pub(super) members: Vec<usize>,
    /// The sums of the members' weights and strengths.
    pub(super) counted: Counted,
    /// The team that the members are on.
    pub(super) from: usize,
}

/// A set of units and their new teams.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct MovePlan {
    /// Number of humans who move.
    pub(super) moves: usize,
    /// How even the teams are after the moves, 0 to 1, bots included.
    pub(super) evenness: f64,
    /// The value of [`TeamSums::monotone_settled`] after the moves: it orders plans as the evenness does.
    monotone: f64,
    /// How many humans too many there are on teams that outnumber the smallest by more than allowed.
    pub(super) over: usize,
    pub(super) steps: Vec<(usize, usize)>,
}

impl MovePlan {
    /// Whether the teams are more even than after `other`, or as even with fewer humans too many.
    fn beats(&self, other: &Self) -> bool {
        self.monotone > other.monotone + EQUAL
            || (self.monotone > other.monotone - EQUAL && self.over < other.over)
    }
}

/// Finds plans for one game.
#[derive(Clone, Debug)]
pub(super) struct Planner {
    pub(super) strength: TeamSums,
    pub(super) units: Vec<MoveUnit>,
    /// By how many humans the teams should differ at most.
    pub(super) limit: usize,
    /// By how many humans a plan may let them differ: by `limit`, or as many as now.
    pub(super) most: usize,
}

impl Planner {
    /// A planner for these teams, which may differ by `limit` humans, or by as many as they do now.
    pub(super) fn new(strength: TeamSums, units: Vec<MoveUnit>, limit: usize) -> Self {
        let most = limit.max(strength.spread());
        Self {
            strength,
            units,
            limit,
            most,
        }
    }

    /// The number of moves up to which all plans can be tried within [`MAX_TRIED`].
    pub(super) fn exact_up_to(&self, max_moves: usize) -> usize {
        let (n, others) = (self.units.len(), self.strength.sides().len() - 1);
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
        let monotone = self.strength.monotone_settled();
        let over = self.strength.excess(self.limit);
        let mut ladder = vec![self.plan(0, monotone, over, Vec::new())];
        let done = |ladder: &[MovePlan]| {
            ladder
                .iter()
                .any(|plan| plan.evenness >= settings.enough.get())
        };
        for moves in 1..=exact {
            if done(&ladder) {
                return ladder;
            }
            ladder.extend(self.best_of(moves));
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

    /// The most even plan with exactly `moves` moves: O((units · teams)^moves).
    fn best_of(&self, moves: usize) -> Option<MovePlan> {
        let mut search = PlanWalk {
            planner: self,
            strength: self.strength.clone(),
            trial: Vec::with_capacity(moves),
            best: None,
        };
        search.try_from(0, moves);
        let best = search.best?;
        Some(self.plan(moves, best.monotone, best.over, best.steps))
    }

    pub(super) fn plan(
        &self,
        moves: usize,
        monotone: f64,
        over: usize,
        steps: Vec<(usize, usize)>,
    ) -> MovePlan {
        MovePlan {
            moves,
            evenness: self.strength.evenness_of(monotone),
            monotone,
            over,
            steps,
        }
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
        let mut search = PlanWalk {
            planner: self,
            strength: self.after(plan),
            trial: plan.steps.clone(),
            best: None,
        };
        for (at, &one) in free.iter().enumerate() {
            let from = self.units[one].from;
            for to in (0..self.strength.sides().len()).filter(|&to| to != from) {
                search.step(one, to, |search| {
                    search.consider();
                    let size = self.units[one].members.len();
                    let back = free[at + 1..].iter().filter(|&&other| {
                        let other = &self.units[other];
                        other.from == to && other.members.len() + size <= room
                    });
                    for &other in back {
                        search.step(other, from, PlanWalk::consider);
                    }
                });
            }
        }
        let best = search.best?;
        let moves = best
            .steps
            .iter()
            .map(|&(unit, _)| self.units[unit].members.len());
        let next = self.plan(moves.sum(), best.monotone, best.over, best.steps);
        next.beats(plan).then_some(next)
    }

    /// The teams after `plan`.
    pub(super) fn after(&self, plan: &MovePlan) -> TeamSums {
        let mut strength = self.strength.clone();
        for &(unit, to) in &plan.steps {
            let MoveUnit {
                members,
                counted,
                from,
            } = &self.units[unit];
            strength.remove(*from, members.len(), *counted);
            strength.add(to, members.len(), *counted);
        }
        strength
    }

    /// The ratio after `plan`, with bots added or removed.
    pub(super) fn ratio(&self, plan: &MovePlan) -> f64 {
        self.after(plan).ratio_settled()
    }

    /// The humans that a plan moves, by index, with their new teams.
    pub(super) fn people<'a>(&'a self, plan: &'a MovePlan) -> impl Iterator<Item = (usize, usize)> {
        plan.steps.iter().flat_map(|&(unit, to)| {
            let members = self.units[unit].members.iter();
            members.map(move |&who| (who, to))
        })
    }
}

/// A depth-first search through plans, which changes the teams in place.
struct PlanWalk<'a> {
    planner: &'a Planner,
    strength: TeamSums,
    trial: Vec<(usize, usize)>,
    best: Option<BestTrial>,
}

/// The best plan that a search has found so far.
struct BestTrial {
    monotone: f64,
    over: usize,
    spread: usize,
    steps: Vec<(usize, usize)>,
}

impl PlanWalk<'_> {
    /// Tries all ways to make exactly `moves` more moves with the units from `start` on.
    fn try_from(&mut self, start: usize, moves: usize) {
        if moves == 0 {
            return self.consider();
        }
        let planner = self.planner;
        for (index, unit) in planner.units.iter().enumerate().skip(start) {
            let Some(rest) = moves.checked_sub(unit.members.len()) else {
                continue;
            };
            for to in (0..self.strength.sides().len()).filter(|&to| to != unit.from) {
                self.step(index, to, |search| search.try_from(index + 1, rest));
            }
        }
    }

    /// Calls `then` with one more unit on team `to`, and undoes the change exactly.
    fn step(&mut self, index: usize, to: usize, then: impl FnOnce(&mut Self)) {
        let unit = &self.planner.units[index];
        let size = unit.members.len();
        let left = self.strength.remove(unit.from, size, unit.counted);
        let joined = self.strength.add(to, size, unit.counted);
        self.trial.push((index, to));
        then(self);
        self.trial.pop();
        self.strength.restore(to, joined);
        self.strength.restore(unit.from, left);
    }

    /// Keeps the current plan if it is legal and better than the best so far: more even, or equally
    /// even with fewer humans too many, then with a smaller difference in humans. Of equal plans the
    /// first one is kept; the seed shuffles the units, so that this is a random one.
    fn consider(&mut self) {
        let spread = self.strength.spread();
        if spread > self.planner.most {
            return;
        }
        let monotone = self.strength.monotone_settled();
        let over = self.strength.excess(self.planner.limit);
        let better = self.best.as_ref().is_none_or(|best| {
            monotone > best.monotone + EQUAL
                || (monotone > best.monotone - EQUAL && (over, spread) < (best.over, best.spread))
        });
        if better {
            self.best = Some(BestTrial {
                monotone,
                over,
                spread,
                steps: self.trial.clone(),
            });
        }
    }
}
