//! REBALANCE: the fewest moves that make the teams even enough.
//!
//! REBALANCE first places the humans without a team. If the teams are then even enough, no one else
//! moves. Otherwise it tries all plans with one move, then with two and with three, and keeps the
//! best plan of each number. Beyond three moves, it extends the best plan so far by the move or
//! swap that helps most, as long as there is one that helps. (Natural Selection 2 does so from the
//! first move on.)
//!
//! It advises the shortest plan that makes the teams even enough. If there is none, it advises the
//! plan with the largest gain, after subtracting `min_gain` for each of its moves.
//!
//! The members of a party on one team move together or not at all, unless a team would be empty or outnumbered because
//! of that (`plan.rs`).

mod offers;
mod plan;

use std::fmt;

use plan::{MovePlan, Planner};
use serde::{Deserialize, Serialize};

use super::{
    moves::{Arrived, Unit},
    question::Question,
};
use evenkeel_model::{
    ident::Ident,
    in_game::Move,
    random::{Stream, StreamPurpose},
    team_names::Naming,
    text::counted,
    units::{Count, MaxDifference, Seconds, Share, UpToADay},
    win_model::chance_of_weaker,
};
use evenkeel_partition::{GameView, HumanInGame, TeamSums, sums::EQUAL, view::MoveBlock};

/// The question of REBALANCE: which moves?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rebalance {
    /// The game when the question was asked.
    pub view: GameView,
    /// The settings when the question was asked.
    pub settings: RebalanceSettings,
}

/// The advised moves, and the plans they were chosen from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Advice {
    /// The team for each human without one.
    pub placed: Vec<Move>,
    /// The humans who should change teams.
    pub moves: Vec<Move>,
    /// The ratio before the moves, 0 to 1.
    pub before: f64,
    /// The ratio after the moves, with bots added or removed, 0 to 1.
    pub after: f64,
    /// The plans compared: the number of moves and the resulting ratio of each. The first has no moves.
    pub ladder: Vec<(usize, f64)>,
    /// The evenness by chances. With `[balance] objective = "chance"` it is compared instead of the
    /// ratios.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evenness: Option<EvennessOfPlans>,
    /// The number of moves up to which all plans were tried.
    pub exact: usize,
    /// The humans who must not be moved, by id, and why.
    pub held: Vec<(String, MoveBlock)>,
    /// The parties because of which nobody moves, each as the ids of its members.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub whole: Vec<Vec<String>>,
}

/// How even the chances to win are, 0 to 1: the chance of the weaker team divided by that of the
/// stronger one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvennessOfPlans {
    /// The evenness now, with the bots that are there.
    pub before: f64,
    /// The evenness once all moves are made and bots have been added or removed.
    pub after: f64,
    /// The evenness after each plan of [`Advice::ladder`], in the same order.
    pub ladder: Vec<f64>,
}

impl Advice {
    /// All moves; those of humans without a team come first.
    pub fn steps(&self) -> impl Iterator<Item = &Move> + Clone {
        self.placed.iter().chain(&self.moves)
    }
}

impl Question for Rebalance {
    type Answer = Advice;

    fn is_sound(&self) -> bool {
        self.view.is_sound()
    }

    fn answer(&self, seed: u64) -> Advice {
        self.advise_parties(seed)
    }

    fn explain(&self, answer: &Advice, naming: &Naming, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let enough = self.enough(&[]);
        let moves = counted(answer.moves.len(), "move");
        let (before, after) = (answer.before, answer.after);
        match &answer.evenness {
            None => writeln!(
                f,
                "ratio {before:.6} now, {after:.6} after {moves}; even enough from a ratio of {enough:.6}"
            )?,
            Some(evenness) => {
                writeln!(
                    f,
                    "chance of the weaker team {:.6} now, {:.6} after {moves}; even enough from {:.6}",
                    chance_of_weaker(evenness.before),
                    chance_of_weaker(evenness.after),
                    chance_of_weaker(enough)
                )?;
                writeln!(f, "ratio {before:.6} now, {after:.6} after {moves}")?;
            }
        }
        for step in &answer.placed {
            writeln!(f, "place {}", step.announced(naming))?;
        }
        for step in &answer.moves {
            writeln!(f, "move {}", step.announced(naming))?;
        }
        for (rung, (moves, ratio)) in answer.ladder.iter().enumerate() {
            let how = if *moves <= answer.exact {
                "exhaustive search"
            } else {
                "best move or swap added"
            };
            write!(f, "best plan of {}: ", counted(*moves, "move"))?;
            let evenness = answer.evenness.as_ref();
            if let Some(evenness) = evenness.and_then(|evenness| evenness.ladder.get(rung)) {
                let chance = chance_of_weaker(*evenness);
                write!(f, "chance of the weaker team {chance:.6}, ")?;
            }
            writeln!(f, "ratio {ratio:.6} ({how})")?;
        }
        for note in self.party_notes(answer, naming) {
            writeln!(f, "{note}")?;
        }
        for (who, why) in &answer.held {
            writeln!(f, "must stay: {} ({why})", naming.player(who))?;
        }
        self.view.write_conduct(naming, f)
    }
}

impl Rebalance {
    /// The advice that splits no party but these.
    fn advise(&self, split: &[&str], seed: u64) -> Advice {
        let Self { view, settings } = self;
        let now = view.sums();
        let limit = self.limit();
        let arrived = self.arrived(&now, split);
        let arrived_sums = arrived.sums.clone();
        let held = self.held();
        let mut units = self.units(&held, Unit::of_parties(split));
        Stream::new(seed, StreamPurpose::Rebalance).shuffle(&mut units);
        let has_empty_team = arrived_sums.empty_teams() > 0;
        let enough = self.enough(split);
        let planner = Planner::new(arrived_sums, units, limit);
        let exact = planner.exact_up_to(settings.max_moves.as_usize());
        let ladder = planner.ladder(exact, settings);
        // If arrivals were placed, a plan need not make the teams more even than they were before.
        let floor = if arrived.teams.is_empty() {
            now.evenness_now()
        } else {
            0.0
        };
        let sure = |plan: &MovePlan| planner.is_sure(plan);
        let plan = choose(&ladder, settings, enough, floor, has_empty_team, sure);
        let step = |who: usize, to: usize| Move {
            id: Ident::from_text(&view.humans[who].id),
            from: view.humans[who].team,
            to: to as u8,
        };
        let placed = arrived.teams.iter();
        Advice {
            placed: placed
                .map(|&(who, team)| step(who, usize::from(team)))
                .collect(),
            moves: planner
                .people(plan)
                .map(|(who, team)| step(who, team))
                .collect(),
            before: now.ratio_now(),
            after: planner.ratio(plan),
            ladder: (ladder.iter())
                .map(|plan| (plan.moves, planner.ratio(plan)))
                .collect(),
            evenness: now.by_chance().then(|| EvennessOfPlans {
                before: now.evenness_now(),
                after: plan.evenness,
                ladder: ladder.iter().map(|plan| plan.evenness).collect(),
            }),
            exact,
            held: (view.humans.iter().zip(held))
                .filter_map(|(human, why)| Some((human.id.clone(), why?)))
                .collect(),
            whole: Vec::new(),
        }
    }

    /// By how many humans the teams should differ at most.
    fn limit(&self) -> usize {
        self.settings.max_difference.get().unwrap_or(usize::MAX)
    }

    /// The placement of the humans without a team, if the members of these parties go alone.
    fn arrived(&self, now: &TeamSums, split: &[&str]) -> Arrived {
        let waiting = self.view.waiting();
        Arrived::of(&self.view, now, waiting, split, self.limit())
    }

    /// The evenness from which on nobody is moved, once those without a team are placed.
    fn enough(&self, split: &[&str]) -> f64 {
        let enough = self.settings.enough.get();
        let is_full = self.arrived(&self.view.sums(), split).sums.spread() <= 1;
        let chance = self.view.chance.as_ref();
        let even = chance.map(|chance| plan::even(&chance.win_model, is_full));
        even.map_or(enough, |even| enough.min(even))
    }
}

/// The shortest plan that makes the teams even enough; if there is none, the plan with the largest
/// gain after subtracting `min_gain` for each of its moves. A plan with moves must make the teams
/// more even than `floor`, and more even than the plan without moves. While a team is empty, hardly
/// any plan can: then the one that leaves the fewest humans too many and is no less even.
fn choose<'a>(
    ladder: &'a [MovePlan],
    settings: &RebalanceSettings,
    enough: f64,
    floor: f64,
    has_empty_team: bool,
    sure: impl Fn(&MovePlan) -> bool,
) -> &'a MovePlan {
    let alone = &ladder[0];
    let worth = |plan: &MovePlan| plan.evenness - settings.min_gain.get() * plan.moves as f64;
    if alone.evenness >= enough {
        return alone;
    }
    let better = |plan: &&MovePlan| {
        plan.evenness > alone.evenness + EQUAL && plan.evenness > floor + EQUAL && sure(plan)
    };
    let mends = ladder
        .iter()
        .filter(better)
        .find(|plan| plan.evenness >= enough);
    let most_worth = || {
        let worthy = ladder
            .iter()
            .filter(better)
            .filter(|plan| worth(plan) > alone.evenness);
        worthy.reduce(|a, b| if worth(b) > worth(a) + EQUAL { b } else { a })
    };
    let fewest_over = || {
        let as_even = |plan: &&MovePlan| plan.evenness + EQUAL >= alone.evenness.max(floor);
        let fewer = ladder.iter().filter(as_even);
        let fewer = fewer.filter(|plan| has_empty_team && plan.score.over < alone.score.over);
        fewer.min_by_key(|plan| (plan.score.over, plan.moves))
    };
    mends
        .or_else(most_worth)
        .or_else(fewest_over)
        .unwrap_or(alone)
}

/// Settings of REBALANCE. Evenness is the chance of the weaker team over that of the stronger, or the
/// ratio of their weights, depending on `[balance] objective`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RebalanceSettings {
    /// The most moves to advise at once; a swap counts as two.
    pub max_moves: Count<0, 16>,
    /// The evenness at which the teams are even enough.
    pub enough: Share,
    /// The evenness that each move must gain if no plan makes the teams even enough.
    pub min_gain: Share,
    /// How long a human who was moved is not moved again.
    pub cooldown_seconds: UpToADay,
    /// Whether only the humans who joined a team last may be moved: as many per team as `max_moves`.
    pub newest_first: bool,
    /// Whether the top third of each team, by points, must stay.
    pub spare_top: bool,
    /// By how many humans a team may exceed another. A larger difference that already exists may
    /// remain, but not grow.
    pub max_difference: MaxDifference,
    /// How long players are asked for volunteers before one is moved, if the game server can ask; 0 for not at all.
    pub ask_seconds: Seconds<0, 600>,
}

impl Default for RebalanceSettings {
    /// Four moves are two swaps. At an evenness of 0.95, about 1 / 1.05, ADVANTAGE gives no help either.
    /// Moves annoy players, so each must gain a hundredth of evenness, and no human is moved twice within
    /// five minutes. The difference in humans is that of BALANCE.
    fn default() -> Self {
        Self {
            max_moves: const { Count::of(4) },
            enough: const { Share::of(0.95) },
            min_gain: const { Share::of(0.01) },
            cooldown_seconds: const { UpToADay::of(300) },
            newest_first: false,
            spare_top: false,
            max_difference: const { MaxDifference::of(1) },
            ask_seconds: const { Seconds::of(0) },
        }
    }
}

/// The share of a team, from the weakest up, whose players may be moved if the top is spared.
const LOWER: f64 = 0.67;

impl Rebalance {
    /// The units that can be moved. The members of a party who do not go alone are one unit on each team: it stays if one of
    /// them is `held`.
    fn units(
        &self,
        held: &[Option<MoveBlock>],
        goes_alone: impl Fn(&HumanInGame) -> bool,
    ) -> Vec<Unit> {
        let humans = 0..self.view.humans.len();
        let placed = humans.filter(|&who| self.view.humans[who].team.is_some());
        let mut units = Unit::of(&self.view, placed, goes_alone);
        units.retain(|unit| unit.members.iter().all(|&member| held[member].is_none()));
        units
    }

    /// For each human, why they must not be moved even if they want to; `None` if they may.
    fn held_anyway(&self) -> Vec<Option<MoveBlock>> {
        let blocks = self.view.humans.iter().map(HumanInGame::block);
        blocks
            .map(|block| {
                block.filter(|why| matches!(why, MoveBlock::Pinned | MoveBlock::Protected))
            })
            .collect()
    }

    /// For each human, why they must not be moved; `None` if they may.
    fn held(&self) -> Vec<Option<MoveBlock>> {
        let humans = &self.view.humans;
        let mut held: Vec<Option<MoveBlock>> = humans.iter().map(HumanInGame::block).collect();
        for team in 0..self.view.teams {
            let free = |held: &[Option<MoveBlock>]| -> Vec<usize> {
                let on_team = (0..humans.len()).filter(|&who| humans[who].team == Some(team));
                on_team.filter(|&who| held[who].is_none()).collect()
            };
            if self.settings.spare_top {
                let free = free(&held);
                let lower = self.view.lower_share(free.clone(), LOWER);
                let top = free.iter().filter(|who| !lower.contains(who));
                top.for_each(|&who| held[who] = Some(MoveBlock::Top));
            }
            if self.settings.newest_first {
                let free = free(&held);
                let older = free
                    .len()
                    .saturating_sub(self.settings.max_moves.as_usize());
                free[..older]
                    .iter()
                    .for_each(|&who| held[who] = Some(MoveBlock::CameFirst));
            }
        }
        held
    }
}

#[cfg(test)]
mod tests;
