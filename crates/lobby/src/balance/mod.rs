//! BALANCE: teams for all humans of a game.
//!
//! A [`GameView`](partition::GameView) and the limits on teams are a [`ProblemSpec`], which `partition` solves. Solving can
//! take long, so the owner of the lobby does it on another thread and with a deadline: [`Lobby::balance`] makes the question, [`Balance::decide`] answers
//! it, [`Lobby::follow`] applies the answer.

mod choice;
mod repeat;

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    Command, Decided, Lobby, LobbyError, Weights,
    decide::{bot_of_lineup, human_of_lineup},
    question::Question,
    roster::to_u32,
    settings::TeamChoice,
    state::late_wish,
    weights::counted_bot,
};
use evenkeel_model::{
    ident::Ident, match_chances::TeamChances, team_names::Naming, win_model::SAME_CHANCE,
};
use evenkeel_partition::{
    self as partition, Problem, ProblemError, ProblemSpec, Solution,
    problem::{SizeLimits, Tolerance},
    settings::Objective,
    sums::EQUAL,
};

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
    /// How the teams are made.
    #[serde(default, skip_serializing_if = "TeamChoice::is_best")]
    pub choice: TeamChoice,
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
                if let Some(line) = self.choice.line() {
                    writeln!(f, "{line}")?;
                }
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
        if let Some(solution) = self.without_search(seed, &mut out_of_time)? {
            return Ok(BalanceAnswer {
                team_of: solution.team_of.clone(),
                ratio: solution.ratio,
                chance: solution.chance,
                cut_short,
                solution: Some(Box::new(solution)),
                ..BalanceAnswer::default()
            });
        }
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
        problem.equal_within = by_chance.then_some(SAME_CHANCE);
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
            choice: self.settings.teams,
        })
    }
}

/// The teams of a game after BALANCE, for the reply.
#[derive(Clone, Debug, PartialEq)]
pub struct Balanced {
    /// The smaller team's weight over the larger's, 0 to 1.
    pub ratio: f64,
    /// The predicted chance that team 0 wins, 0 to 1; `None` without a prediction.
    pub chance: Option<f64>,
    /// The seed of the choice.
    pub seed: u64,
    /// Each human's team, in JOIN order.
    pub humans: Vec<(Ident, u8)>,
    /// The number of bots to add to each team.
    pub bots: Vec<u32>,
}

impl Lobby {
    /// Puts the humans on the teams that BALANCE chose. Where chances have decided, the chance that is announced is the one
    /// by which these teams were chosen.
    ///
    /// # Errors
    /// Fails if there is no game, if it has no teams, or fewer teams than the answer.
    pub fn follow(
        &mut self,
        decided: &Decided<Balance>,
        weights: &dyn Weights,
    ) -> Result<Balanced, LobbyError> {
        let (seed, team_of) = (decided.seed, decided.answer.team_of.clone());
        self.change(Command::Assign { team_of })?;
        self.watch(weights);
        let mut problem = decided.question.problem.clone();
        for (human, &team) in problem.view.humans.iter_mut().zip(&decided.answer.team_of) {
            human.team = Some(team);
        }
        self.change(Command::Balanced(LastBalance::of(&problem)))?;
        let bots = self.bots()?.per_team;
        let mut announced = self.team_chances(weights, &self.expected_bots()?)?;
        // A team without players has no chance that could be predicted.
        let predicted = decided.answer.chance.filter(|_| !announced.win.is_empty());
        if let Some(chance) = predicted {
            announced.win = vec![chance, 1.0 - chance];
        }
        let chance = announced.of_first();
        self.change(Command::Chances(announced))?;
        let roster = &self.team_game()?.roster;
        let placed = roster.humans().iter().zip(&decided.answer.team_of);
        Ok(Balanced {
            ratio: decided.answer.ratio,
            chance,
            seed,
            humans: placed
                .map(|(human, &team)| (human.id.clone(), team))
                .collect(),
            bots,
        })
    }

    /// The bots on each team, once those that are expected have come and the others gone; where none are
    /// expected, those that are there.
    fn expected_bots(&self) -> Result<Vec<u32>, LobbyError> {
        if self.expected_fill()?.on {
            return Ok(self.bots()?.per_team);
        }
        Ok(self.team_game()?.team_sizes(self.teams()).bots)
    }

    /// The sizes of the teams, and the chance of each to win, with bots that are on a team and stay, and with
    /// average ones for those that will be added. The lineup has the names of the most typical known bots for these,
    /// one for each team in turn. `bots` is the number of bots on each team then.
    pub(crate) fn team_chances(
        &self,
        weights: &dyn Weights,
        bots: &[u32],
    ) -> Result<TeamChances, LobbyError> {
        let roster = &self.game()?.roster;
        let mut teams = vec![Vec::new(); bots.len()];
        let mut strengths = vec![0.0; bots.len()];
        let mut view = self.view(weights)?;
        view.chance = self.chance_model(weights, &self.lineup()?)?;
        for (at, human) in roster.humans().iter().enumerate() {
            let team = human.team.map(usize::from);
            let Some(team) = team.filter(|&team| team < teams.len()) else {
                continue;
            };
            teams[team].push(human_of_lineup(roster, human));
            strengths[team] += view.counted(at).strength;
        }
        let humans = teams.iter().map(|team| to_u32(team.len())).collect();
        let mut missing: Vec<usize> = bots.iter().map(|bots| *bots as usize).collect();
        for bot in roster.bots() {
            let team = usize::from(bot.team);
            if let Some(left) = missing.get_mut(team).filter(|left| **left > 0) {
                *left -= 1;
                teams[team].push(bot_of_lineup(bot.name.text()));
                strengths[team] += counted_bot(weights, bot.name.text()).strength;
            }
        }
        // As BALANCE counts them.
        let next = self.next_bot(weights)?.strength;
        let mut typical = self.typical_bots(weights)?;
        for place in 0..missing.iter().copied().max().unwrap_or(0) {
            for team in (0..teams.len()).filter(|&team| missing[team] > place) {
                let name = typical.next().unwrap_or("");
                strengths[team] += next;
                teams[team].push(bot_of_lineup(name));
            }
        }
        let mut announced = TeamChances {
            win: weights.chances(&teams, &strengths),
            humans,
            bots: bots.to_vec(),
        };
        if !announced.is_sound() {
            announced.win.clear();
        }
        Ok(announced)
    }
}

#[cfg(test)]
mod tests;
