//! BALANCE: teams for all humans of a game.
//!
//! The lobby makes a [`ProblemSpec`] from the weights, wishes and current teams of all humans, and
//! `partition` solves it. Solving can take long, so the owner of the lobby does it on another
//! thread and with a deadline: [`Lobby::balance`] makes the question, [`Balance::decide`] answers
//! it, [`Lobby::follow`] applies the answer.

mod outcome;
mod problem;
mod repeat;

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Decided, Lobby, LobbyError, Question, Weights, strength::EQUAL};
use crate::{
    domain::{
        SAME_CHANCE,
        units::{MaxDifference, PositiveShare},
    },
    partition::{self, Explanation, Objective, Problem, ProblemError, ProblemSpec, Relaxed},
};

pub use outcome::Balanced;
pub use repeat::{LastBalance, Repeat};

/// How much the sizes of teams may differ; see [`ProblemSpec`].
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct SizeLimits {
    /// The largest share of the humans on one team.
    pub max_team_share: PositiveShare,
    /// The largest difference between the human counts of two teams.
    pub max_difference: MaxDifference,
}

/// The question of BALANCE: which teams?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Balance {
    /// The humans, the bots, and the limits on teams.
    pub problem: ProblemSpec,
    /// How to choose among the legal teams.
    pub settings: partition::Settings,
    /// The wishes that were relaxed so that there are legal teams, one per line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub relaxed: Vec<String>,
    /// The parties that no team holds, each as indices of its members; the problem has their parts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub torn: Vec<Vec<usize>>,
    /// How far the question repeats the last BALANCE of the game.
    #[serde(default)]
    pub repeat: Repeat,
}

/// The teams that BALANCE chose.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BalanceAnswer {
    /// Each human's team, in JOIN order; empty if the question was refused.
    pub team_of: Vec<u8>,
    /// The smaller team's weight over the larger's, 0 to 1, as BALANCE replies it.
    #[serde(default)]
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
    /// The explanation. It is not stored, because a replay computes it again.
    #[serde(skip)]
    explanation: Option<Box<Explanation>>,
}

impl BalanceAnswer {
    /// An answer of which only the teams are known, and whether the deadline ended the search early.
    pub(super) fn of_teams(team_of: Vec<u8>, cut_short: bool) -> Self {
        Self {
            team_of,
            ratio: 0.0,
            chance: None,
            cut_short,
            refused: None,
            kept: false,
            without_pins: None,
            explanation: None,
        }
    }

    /// Why these teams; `None` for a stored answer.
    pub fn explanation(&self) -> Option<&Explanation> {
        self.explanation.as_deref()
    }

    /// The ratio and the chance of team 0 that BALANCE replied; `None` in decisions of version 0.1, which did not store
    /// them.
    fn replied(&self) -> Option<(f64, Option<f64>)> {
        let known = self.ratio > 0.0 || self.chance.is_some();
        known.then_some((self.ratio, self.chance))
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
                ..BalanceAnswer::of_teams(Vec::new(), false)
            })
    }

    fn told(&self, answer: &mut BalanceAnswer, before: &BalanceAnswer) {
        if let Some((ratio, chance)) = before.replied().filter(|_| *answer == *before) {
            self.reply_with(answer, ratio, chance);
        }
    }

    fn explain(&self, answer: &BalanceAnswer, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&answer.explanation, &answer.refused) {
            (Some(explanation), _) => {
                write!(f, "{explanation}")?;
                for note in &self.relaxed {
                    writeln!(f, "{note}")?;
                }
                for party in &self.torn {
                    writeln!(f, "{}", self.problem.torn_note(party, &answer.team_of))?;
                }
                if let Some(evenness) = answer.without_pins {
                    let evenness = explanation.evenness(evenness);
                    writeln!(f, "without the pins: {evenness}")?;
                }
                if answer.kept {
                    writeln!(
                        f,
                        "the teams of the last BALANCE stay: the players are the same, and no other teams are better"
                    )?;
                }
                Ok(())
            }
            (None, Some(refused)) => writeln!(f, "no teams could be chosen: {refused}"),
            (None, None) => writeln!(f, "the reasons are not stored; replay the decision"),
        }
    }
}

impl Balance {
    /// Notes in the answer what BALANCE replies, which EXPLAIN then repeats: the rating system's prediction for
    /// exactly these teams, and the ratio with the bots of this game.
    pub(super) fn reply_with(&self, answer: &mut BalanceAnswer, ratio: f64, chance: Option<f64>) {
        (answer.ratio, answer.chance) = (ratio, chance);
        if let Some(explanation) = &mut answer.explanation {
            self.tell(explanation, (ratio, chance));
        }
    }

    fn tell(&self, explanation: &mut Explanation, (ratio, chance): (f64, Option<f64>)) {
        let strengths = self.problem.strengths.as_ref();
        explanation.tell(ratio, chance, strengths.map(|known| known.outlook.link));
    }

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
        let problem = Problem::new(self.without_unwanted_company())?;
        let mut cut_short = false;
        let mut out_of_time = || {
            cut_short |= out_of_time();
            cut_short
        };
        let stay = self.as_they_are(seed, &mut out_of_time);
        let (solution, kept) = match (self.repeat, stay) {
            (Repeat::Everything, Some(stay)) => (stay, true),
            (_, stay) => {
                let chosen = partition::solve(&problem, &self.settings, seed, &mut out_of_time)?;
                let stay = stay.filter(|stay| self.is_as_good(stay, &chosen));
                let kept = stay.is_some();
                (stay.unwrap_or(chosen), kept)
            }
        };
        let without_pins = self
            .problem
            .without_pins(&self.settings, seed, &mut out_of_time);
        let costly = |free: &f64| !self.relaxed.is_empty() || *free > solution.evenness() + EQUAL;
        let without_pins = without_pins.filter(costly);
        Ok(BalanceAnswer {
            kept,
            without_pins,
            team_of: solution.team_of,
            ratio: solution.ratio,
            chance: solution.chance,
            cut_short,
            refused: None,
            explanation: Some(Box::new(solution.explanation)),
        })
    }
}

impl Balance {
    /// The teams that the last BALANCE chose, if this question repeats it and no pin forbids them.
    fn as_they_are(
        &self,
        seed: u64,
        out_of_time: &mut dyn FnMut() -> bool,
    ) -> Option<partition::Solution> {
        if self.repeat == Repeat::Nothing {
            return None;
        }
        let mut pinned = self.problem.clone();
        for human in &mut pinned.humans {
            let current = human.current?;
            if human.pin.is_some_and(|pin| pin != current) {
                return None;
            }
            human.pin = Some(current);
        }
        // A party that the last BALANCE split stays split.
        let together = |party: &Vec<usize>| {
            let team = |who: &usize| pinned.humans[*who].pin;
            party.iter().all(|who| team(who) == team(&party[0]))
        };
        let parties = std::mem::take(&mut pinned.parties).into_iter();
        let (kept, torn) = parties.partition(together);
        pinned.parties = kept;
        let key = |&who: &usize| pinned.humans[who].key.clone();
        let given_up = |party: &Vec<usize>| party.iter().map(key).collect();
        let given_up = torn.iter().map(given_up).collect();
        let problem = Problem::new(pinned).ok()?;
        let mut stay = partition::solve(&problem, &self.settings, seed, out_of_time).ok()?;
        stay.explanation.given_up = given_up;
        Some(stay)
    }

    /// The problem, in which humans who are on one team with somebody whom they avoid are on no team now: else
    /// no team less even than the current ones would be a candidate, and they could not get away.
    fn without_unwanted_company(&self) -> ProblemSpec {
        let mut problem = self.problem.clone();
        for &(one, other) in &self.problem.avoid {
            let team = |who: usize| self.problem.humans[who].current;
            if one < problem.humans.len()
                && other < problem.humans.len()
                && team(one) == team(other)
            {
                problem.humans[one].current = None;
            }
        }
        problem
    }

    /// Whether the present teams are as even as the others, and grant as many wishes.
    fn is_as_good(&self, present: &partition::Solution, other: &partition::Solution) -> bool {
        let (torn, avoided) = self.wishes_broken(&present.team_of);
        let (torn_there, avoided_there) = self.wishes_broken(&other.team_of);
        let least = match self.problem.doubt {
            Some(_) => other.evenness().min(other.least),
            None => other.evenness(),
        };
        present.evenness() + EQUAL >= least && torn <= torn_there && avoided <= avoided_there
    }

    /// The explanation of teams that were chosen before, and the number of parties that are not together
    /// in them. Takes a few milliseconds at most; `None` if the teams do not fit the question.
    pub fn explanation_of(&self, answer: &BalanceAnswer) -> Option<(Explanation, usize)> {
        let team_of = &answer.team_of[..];
        let mut chosen = self.without_unwanted_company();
        if chosen.humans.len() != team_of.len() {
            return None;
        }
        for (human, team) in chosen.humans.iter_mut().zip(team_of) {
            human.pin = Some(usize::from(*team));
        }
        let inside = |&who: &usize| who < team_of.len();
        let together = |party: &Vec<usize>| {
            let whole = party.iter().all(inside);
            whole && party.iter().all(|&who| team_of[who] == team_of[party[0]])
        };
        let parties = chosen.parties.len();
        chosen.parties.retain(together);
        let torn = parties - chosen.parties.len() + self.torn.len();
        let problem = Problem::new(chosen).ok()?;
        let mut steps = 100;
        let mut out_of_time = || {
            steps -= 1;
            steps < 0
        };
        let solution = partition::solve(&problem, &self.settings, 0, &mut out_of_time).ok()?;
        let mut explanation = solution.explanation;
        if let Some(replied) = answer.replied() {
            self.tell(&mut explanation, replied);
        }
        (solution.team_of == team_of).then_some((explanation, torn))
    }

    /// How many members of parties are not with their party's first, and how many humans are on one
    /// team with somebody whom they avoid.
    fn wishes_broken(&self, team_of: &[u8]) -> (usize, usize) {
        let apart = |party: &Vec<usize>| {
            let members = party.iter();
            members
                .filter(|&&who| team_of[who] != team_of[party[0]])
                .count()
        };
        let together = |&&(one, other): &&(usize, usize)| team_of[one] == team_of[other];
        (
            self.problem.parties.iter().map(apart).sum(),
            self.problem.avoid.iter().filter(together).count(),
        )
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
        let mut problem = self.problem(weights, limits)?;
        if settings.objective == Objective::Chance {
            problem.strengths = self.strengths(weights, &settings.party_multiplier)?;
            problem.doubt = Some(SAME_CHANCE);
            if problem.strengths.is_none() {
                settings.objective = Objective::Ratio;
            }
        }
        let Relaxed { notes, torn } = problem.relax();
        if let Some(parties) = self.party_factors(weights)? {
            settings.party_multiplier = parties.factors;
        }
        let last = self.team_game()?.balanced.as_ref();
        let repeat = last.map_or(Repeat::Nothing, |last| Repeat::of(last, &mut problem));
        Ok(Balance {
            problem,
            settings,
            relaxed: notes,
            torn,
            repeat,
        })
    }
}

#[cfg(test)]
mod tests;
