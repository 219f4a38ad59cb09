//! BALANCE: teams for all humans of a game.
//!
//! A [`GameView`](partition::GameView) and the limits on teams are a [`ProblemSpec`], which `partition` solves. Solving can
//! take long, so the owner of the lobby does it on another thread and with a deadline: [`Lobby::balance`] makes the question, [`Balance::decide`] answers
//! it, [`Lobby::follow`] applies the answer.

mod outcome;
mod repeat;

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Decided, Lobby, LobbyError, Question, Weights, wishes::late_wish};
use crate::{
    domain::{Naming, SAME_CHANCE},
    partition::{
        self, EQUAL, Objective, Problem, ProblemError, ProblemSpec, SizeLimits, Solution, Tolerance,
    },
};

pub use outcome::Balanced;
pub use repeat::{LastBalance, Repeat};

/// The question of BALANCE: which teams?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Balance {
    /// The humans, the bots, and the limits on teams.
    pub problem: ProblemSpec,
    /// How to choose among the legal teams.
    pub settings: partition::Settings,
    /// What was relaxed so that there are legal teams, one per line. No line names anybody.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relaxed: Vec<String>,
    /// The humans whose wish for a team came late, by id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub late: Vec<String>,
    /// How far the question repeats the last BALANCE of the game.
    pub repeat: Repeat,
}

/// The teams that BALANCE chose.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct BalanceAnswer {
    /// Each human's team, in JOIN order; empty if the question was refused.
    pub team_of: Vec<u8>,
    /// The smaller team's weight over the larger's, 0 to 1, as BALANCE replies it.
    pub ratio: f64,
    /// The chance that team 0 wins, 0 to 1, as BALANCE replies it; `None` if it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance: Option<f64>,
    /// Whether the deadline ended the search early. The answer then depends on the machine's speed,
    /// and a replay may choose other teams.
    pub cut_short: bool,
    /// Why no teams could be chosen. Only a question that was edited by hand can be refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Whether the answer keeps the teams that the last BALANCE chose.
    #[serde(skip)]
    kept: bool,
    /// The best evenness without pins, if the pins make the teams uneven.
    #[serde(skip)]
    without_pins: Option<f64>,
    /// The solution, which has the reasons. It is not stored, because a replay computes it again.
    #[serde(skip)]
    solution: Option<Box<Solution>>,
}

impl BalanceAnswer {
    /// The solution, with the reasons; `None` for a stored answer.
    pub fn solution(&self) -> Option<&Solution> {
        self.solution.as_deref()
    }
}

/// Two answers are equal if they choose the same teams.
impl PartialEq for BalanceAnswer {
    fn eq(&self, other: &Self) -> bool {
        self.team_of == other.team_of
    }
}

impl Question for Balance {
    type Answer = BalanceAnswer;

    fn is_sound(&self) -> bool {
        Problem::new(self.problem.clone()).is_ok()
    }

    fn answer(&self, seed: u64) -> BalanceAnswer {
        self.answer_within(seed, &mut || false)
    }

    fn answer_within(&self, seed: u64, out_of_time: &mut dyn FnMut() -> bool) -> BalanceAnswer {
        self.solve(seed, out_of_time)
            .unwrap_or_else(|error| BalanceAnswer {
                refused: Some(error.to_string()),
                ..BalanceAnswer::default()
            })
    }

    fn explain(
        &self,
        answer: &BalanceAnswer,
        naming: &Naming,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        match (&answer.solution, &answer.refused) {
            (Some(solution), _) => {
                solution.write(naming, f)?;
                for note in &self.relaxed {
                    writeln!(f, "{note}")?;
                }
                for id in &self.late {
                    writeln!(f, "{}", late_wish(naming.player(id)))?;
                }
                for party in &self.problem.torn {
                    let note = self.problem.torn_note(party, &answer.team_of, naming);
                    writeln!(f, "{note}")?;
                }
                if let Some(evenness) = answer.without_pins {
                    let evenness = solution.evenness(evenness);
                    writeln!(f, "without the pins: {evenness}")?;
                }
                if answer.kept {
                    let why = match self.repeat {
                        Repeat::Again => {
                            "the game has come again, and only those are placed who have come since"
                        }
                        _ => "the players are the same, and no other teams are better",
                    };
                    writeln!(f, "the teams of the last BALANCE stay: {why}")?;
                }
                Ok(())
            }
            (None, Some(refused)) => writeln!(f, "no teams could be chosen: {refused}"),
            (None, None) => writeln!(f, "the reasons are not stored; replay the decision"),
        }
    }
}

impl Balance {
    /// Answers the question. Once `out_of_time` returns true, the answer is the best of the teams
    /// found so far.
    ///
    /// # Errors
    /// Fails if the problem or the settings are invalid.
    pub fn decide(
        self,
        seed: u64,
        out_of_time: &mut dyn FnMut() -> bool,
    ) -> Result<Decided<Self>, ProblemError> {
        let answer = self.solve(seed, out_of_time)?;
        Ok(Decided {
            question: self,
            seed,
            answer,
        })
    }

    fn solve(
        &self,
        seed: u64,
        out_of_time: &mut dyn FnMut() -> bool,
    ) -> Result<BalanceAnswer, ProblemError> {
        let mut cut_short = false;
        let mut out_of_time = || {
            cut_short |= out_of_time();
            cut_short
        };
        let stand = self.those_who_stay();
        let solution = match &stand {
            Some(stand) => self.with_newcomers(stand, seed, &mut out_of_time)?,
            None => {
                let problem = Problem::new(self.without_unwanted_company())?;
                partition::solve(&problem, &self.with_stay(), seed, &mut out_of_time)?
            }
        };
        let without_pins = self
            .problem
            .without_pins(&self.settings, seed, &mut out_of_time);
        let costly = |free: &f64| {
            !self.relaxed.is_empty() || *free > solution.pick().figures.evenness + EQUAL
        };
        let without_pins = without_pins.filter(costly);
        Ok(BalanceAnswer {
            kept: solution.kept || stand.is_some(),
            without_pins,
            team_of: solution.team_of.clone(),
            ratio: solution.ratio,
            chance: solution.chance,
            cut_short,
            refused: None,
            solution: Some(Box::new(solution)),
        })
    }
}

impl Lobby {
    /// The question of BALANCE for the current game.
    ///
    /// # Errors
    /// Fails if there is no game, or if it has no teams.
    pub fn balance(
        &self,
        weights: &dyn Weights,
        limits: SizeLimits,
        mut settings: partition::Settings,
    ) -> Result<Balance, LobbyError> {
        let mut view = self.view(weights)?;
        if settings.objective == Objective::Chance {
            view.chance = self.chance_model(weights, &self.lineup_to_come(weights)?)?;
        }
        let by_chance = settings.objective == Objective::Chance;
        if view.chance.is_none() {
            settings.objective = Objective::Ratio;
        }
        if !view.party_factors.is_empty() {
            settings.party_multiplier = view.party_factors.clone();
        }
        let mut problem = ProblemSpec::of(view, limits);
        problem.doubt = by_chance.then_some(SAME_CHANCE);
        problem.amounts = weights.are_amounts();
        // What REBALANCE would leave alone. Of amounts, the most even sums win.
        problem.tolerance = (!problem.amounts).then(|| Tolerance {
            enough: self.settings.rebalance.enough.get(),
            slack: self.settings.rebalance.min_gain.get(),
        });
        let relaxed = problem.relax();
        let game = self.team_game()?;
        let again = |last| Repeat::of(last, &mut problem, game.again);
        let repeat = game.balanced.as_ref().map_or(Repeat::Nothing, again);
        Ok(Balance {
            problem,
            settings,
            relaxed: relaxed.into_iter().collect(),
            late: self.late_wishes()?,
            repeat,
        })
    }
}

#[cfg(test)]
mod tests;
