//! BALANCE: teams for all humans of a game.
//!
//! The lobby makes a [`ProblemSpec`] from the weights, wishes and current teams of all humans, and
//! `partition` solves it. Solving can take long, so the owner of the lobby does it on another
//! thread and with a deadline: [`Lobby::balance`] makes the question, [`Balance::decide`] answers
//! it, [`Lobby::follow`] applies the answer.

use std::{collections::BTreeMap, fmt};

use serde::{Deserialize, Serialize};

use super::{
    ChanceModel, Command, Decided, Lobby, LobbyError, Question, Weights,
    decide::{bot_of_lineup, counted_bot, human_of_lineup},
    roster::Human,
    strength::{EQUAL, TeamStrengths},
    weights::{Counted, next_bot, sane_strength},
};
use crate::{
    domain::{
        Company, Ident,
        units::{Factor, MaxDifference, PositiveShare},
    },
    partition::{
        self, Bots, Explanation, Objective, Problem, ProblemError, ProblemSpec, Relaxed, Tolerance,
        WeightedHuman,
    },
};

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

/// What a question has in common with the last BALANCE of the same game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Repeat {
    /// Other humans play, or some are not on the teams that it chose.
    #[default]
    Nothing,
    /// The same humans play, on the teams that it chose.
    Roster,
    /// The same humans, and all other inputs of the choice are the same, too.
    Everything,
}

impl Repeat {
    /// Compares a problem with the last one, which contains the chosen teams. If the same humans
    /// play, and each is on the chosen team or, after coming back, on none, sets the team of the
    /// latter to the chosen one.
    fn of(last: &ProblemSpec, problem: &mut ProblemSpec) -> Self {
        if *last == *problem {
            return Self::Everything;
        }
        let chosen = last.humans.iter();
        let chosen: BTreeMap<&str, Option<usize>> = chosen
            .map(|human| (human.key.as_str(), human.current))
            .collect();
        let stays = |human: &WeightedHuman| {
            let team = chosen.get(human.key.as_str());
            team.is_some_and(|team| human.current.is_none() || human.current == *team)
        };
        // Keys are unique, so equally many humans with known keys are the same humans.
        let same = problem.humans.len() == last.humans.len() && problem.humans.iter().all(stays);
        if !same {
            return Self::Nothing;
        }
        for human in &mut problem.humans {
            human.current = chosen.get(human.key.as_str()).copied().flatten();
        }
        Self::Roster
    }
}

/// The teams that BALANCE chose.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BalanceAnswer {
    /// Each human's team, in JOIN order; empty if the question was refused.
    pub team_of: Vec<u8>,
    /// The smaller team's weight over the larger's, 0 to 1.
    #[serde(default)]
    pub ratio: f64,
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
                team_of: Vec::new(),
                ratio: 0.0,
                cut_short: false,
                refused: Some(error.to_string()),
                kept: false,
                without_pins: None,
                explanation: None,
            })
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
                    let what = match self.settings.objective {
                        Objective::Ratio => "ratio",
                        Objective::Gap => "evenness",
                    };
                    writeln!(f, "without the pins: {what} {evenness:.6}")?;
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
        present.evenness() + EQUAL >= other.evenness()
            && torn <= torn_there
            && avoided <= avoided_there
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

/// A stored decision of version 0.1, which had another form.
#[derive(Deserialize)]
pub(super) struct FirstBalance {
    problem: ProblemSpec,
    settings: partition::Settings,
    seed: u64,
    team_of: Vec<u8>,
    cut_short: bool,
}

impl From<FirstBalance> for Decided<Balance> {
    fn from(first: FirstBalance) -> Self {
        Self {
            question: Balance {
                problem: first.problem,
                settings: first.settings,
                relaxed: Vec::new(),
                torn: Vec::new(),
                repeat: Repeat::Nothing,
            },
            seed: first.seed,
            answer: BalanceAnswer {
                team_of: first.team_of,
                ratio: 0.0,
                cut_short: first.cut_short,
                refused: None,
                kept: false,
                without_pins: None,
                explanation: None,
            },
        }
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
        let Relaxed { notes, torn } = problem.relax();
        if settings.objective == Objective::Gap {
            match self.chance_model(weights)? {
                Some(model) => {
                    self.go_by_chance(weights, &model, &mut problem)?;
                    settings.party_multiplier =
                        assumed(&settings.party_multiplier, model.outlook.company);
                }
                None => settings.objective = Objective::Ratio,
            }
        }
        let last = self.team_game()?.balanced.as_deref();
        let repeat = last.map_or(Repeat::Nothing, |last| Repeat::of(last, &mut problem));
        Ok(Balance {
            problem,
            settings,
            relaxed: notes,
            torn,
            repeat,
        })
    }

    /// Puts the humans on the teams that BALANCE chose.
    ///
    /// # Errors
    /// Fails if there is no game, if it has no teams, or fewer teams than the answer.
    pub fn follow(
        &mut self,
        decided: &Decided<Balance>,
        weights: &dyn Weights,
    ) -> Result<Balanced, LobbyError> {
        let Decided { seed, answer, .. } = decided;
        let team_of = answer.team_of.clone();
        self.change(&Command::Assign { team_of })?;
        self.watch(weights);
        let mut problem = Box::new(decided.question.problem.clone());
        for (human, &team) in problem.humans.iter_mut().zip(&answer.team_of) {
            human.current = Some(usize::from(team));
        }
        self.change(&Command::Balanced { problem })?;
        let bots = self.bots()?.per_team;
        let expected = self.expected_bots()?;
        let snapshot = self.snapshot(weights)?;
        let roster = &self.team_game()?.roster;
        let placed = roster.humans().iter().zip(&answer.team_of);
        Ok(Balanced {
            ratio: TeamStrengths::of(&snapshot).ratio_settled(),
            chance: self.chance(weights, &answer.team_of, &expected)?,
            seed: *seed,
            humans: placed
                .map(|(human, &team)| (human.id.clone(), team))
                .collect(),
            bots,
        })
    }

    /// The humans with their weights and wishes, and their teams now and in the last game.
    fn problem(
        &self,
        weights: &dyn Weights,
        limits: SizeLimits,
    ) -> Result<ProblemSpec, LobbyError> {
        let humans = self.team_game()?.roster.humans();
        let fill = self.expected_fill()?;
        let (min, max) = fill.map_range;
        // Where no bots are expected, the places that `partition` fills with bots must have no weight.
        let (bot_weight, target) = match fill.is_none(humans.len()) {
            true => (0.0, 0),
            false => (self.mean_bot(weights)?.weight, fill.wish as usize),
        };
        let weighted = |human: &Human| WeightedHuman {
            key: human.id.text().to_owned(),
            weight: weights.human(human.id.text()),
            pin: human.pin.map(usize::from),
            current: human.team.map(usize::from),
            last: self.last_team(&human.id).map(usize::from),
        };
        Ok(ProblemSpec {
            humans: humans.iter().map(weighted).collect(),
            teams: usize::from(self.teams()),
            bots: Bots {
                weight: bot_weight,
                min: min as usize,
                max: max as usize,
                target,
            },
            handicap: 0.0,
            even_total: None,
            max_share: limits.max_team_share.get(),
            max_difference: limits.max_difference.get(),
            parties: parties(humans),
            avoid: pairs_to_avoid(humans),
            // What REBALANCE would leave alone.
            tolerance: Some(Tolerance {
                enough: self.settings.rebalance.enough.get(),
                slack: self.settings.rebalance.min_gain.get(),
            }),
        })
    }

    /// Replaces weights by strengths, on a scale on which 25 points are the strength whose weight
    /// is 75. Adds the worth of the side of the map and of a place that no bot fills. The teams
    /// whose sums differ least are then the teams whose chances differ least, and the evenness is
    /// that of the chances.
    fn go_by_chance(
        &self,
        weights: &dyn Weights,
        model: &ChanceModel,
        problem: &mut ProblemSpec,
    ) -> Result<(), LobbyError> {
        let outlook = &model.outlook;
        let humans = problem.humans.len();
        let bots = match self.expected_fill()?.is_none(humans) {
            true => 0,
            false => self.bots()?.players as usize,
        };
        let players = bots.max(humans);
        // Players in a game of two teams. Of more than two teams, each pair is compared as such a
        // game.
        let players = (2 * players).div_ceil(problem.teams);
        let per_strength = outlook.per_strength_at(players);
        let points = 25.0 / outlook.halfway;
        let strength = |human: &WeightedHuman| sane_strength(weights.human_strength(&human.key));
        let mut strengths: Vec<f64> = problem.humans.iter().map(strength).collect();
        for party in &problem.parties {
            let friends = party.len().saturating_sub(1) as f64;
            for &member in party {
                strengths[member] += outlook.company.per_friend * friends;
            }
        }
        let bot = if bots > 0 {
            self.mean_bot(weights)?.strength
        } else {
            0.0
        };
        // Without bots and with an odd number of humans, one of two teams has one head more.
        let head = match bots {
            0 => outlook.heads(players.div_ceil(2), players - players.div_ceil(2)) / per_strength,
            _ => 0.0,
        };
        let least = strengths.iter().copied().fold(bot.min(0.0), f64::min);
        let zero = f64::max(50.0, points * f64::max(-least, head));
        for (human, strength) in problem.humans.iter_mut().zip(&strengths) {
            human.weight = (zero + points * strength).max(0.0);
        }
        problem.bots.weight = match bots {
            0 => zero - points * head,
            _ => zero + points * bot,
        };
        if problem.teams == 2 {
            problem.handicap = points * outlook.side / per_strength;
        }
        // (t − g)/(t + g) is then nearly the odds of a gap g, e^(−g · slope).
        let slope = per_strength / outlook.link.per_log_odds() / points;
        problem.even_total = Some(2.0 / slope);
        Ok(())
    }

    /// What a bot counts on average once bots have filled up the game: of those in the game that
    /// stay, and those that will be added.
    fn mean_bot(&self, weights: &dyn Weights) -> Result<Counted, LobbyError> {
        let game = self.team_game()?;
        let wanted = self.bots()?.per_team.iter().sum::<u32>() as usize;
        let here = game.roster.bots();
        let names = || here.iter().map(|bot| bot.name.text());
        let counted = here.iter().map(|bot| counted_bot(weights, bot));
        let sum = counted.fold(Counted::default(), |sum, bot| sum + bot);
        let stay = here.len().min(wanted) as f64;
        let come = wanted as f64 - stay;
        let next = next_bot(weights, names());
        if stay + come == 0.0 {
            return Ok(next);
        }
        let all = sum.times(stay / here.len().max(1) as f64) + next.times(come);
        Ok(all.times(1.0 / (stay + come)))
    }

    /// The bots on each team, once those that are expected have come and the others gone; where none are
    /// expected, those that are there.
    fn expected_bots(&self) -> Result<Vec<u32>, LobbyError> {
        if self.expected_fill()?.on {
            return Ok(self.bots()?.per_team);
        }
        let mut per_team = vec![0; usize::from(self.teams())];
        for bot in self.team_game()?.roster.bots() {
            if let Some(bots) = per_team.get_mut(usize::from(bot.team)) {
                *bots += 1;
            }
        }
        Ok(per_team)
    }

    /// The predicted chance that team 0 wins, with bots that are on a team and stay, and with the
    /// most typical known ones for those that will be added, one for each team in turn.
    fn chance(
        &self,
        weights: &dyn Weights,
        team_of: &[u8],
        bots: &[u32],
    ) -> Result<Option<f64>, LobbyError> {
        let roster = &self.game()?.roster;
        let mut teams = vec![Vec::new(); bots.len()];
        let mut strengths = vec![0.0; bots.len()];
        let model = self.chance_model(weights)?;
        for (at, (human, &team)) in roster.humans().iter().zip(team_of).enumerate() {
            let team = usize::from(team);
            teams[team].push(human_of_lineup(roster, human));
            strengths[team] += model.as_ref().map_or(0.0, |model| model.humans[at]);
        }
        let mut missing: Vec<usize> = bots.iter().map(|bots| *bots as usize).collect();
        for bot in roster.bots() {
            let team = usize::from(bot.team);
            if let Some(left) = missing.get_mut(team).filter(|left| **left > 0) {
                *left -= 1;
                teams[team].push(bot_of_lineup(bot.name.text()));
                strengths[team] += counted_bot(weights, bot).strength;
            }
        }
        let plays = |name: &&str| roster.bots().iter().any(|bot| bot.name.text() == *name);
        let typical = weights.typical_bots().into_iter();
        let mut typical = typical.filter(|name| !plays(name));
        for place in 0..missing.iter().copied().max().unwrap_or(0) {
            for team in (0..teams.len()).filter(|&team| missing[team] > place) {
                let name = typical.next().unwrap_or("");
                let known = weights.bot(name).map(|bot| Counted::of_bot(&bot).strength);
                strengths[team] += known.unwrap_or_else(|| weights.mean_bot_strength());
                teams[team].push(bot_of_lineup(name));
            }
        }
        Ok(weights.chance(&teams, &strengths))
    }
}

/// The part of the configured party multipliers that still counts, besides the effect that matches
/// have shown; see [`Outlook::befriended`](crate::domain::Outlook::befriended).
fn assumed(multipliers: &[Factor], company: Company) -> Vec<Factor> {
    let left = |multiplier: &Factor| {
        let left = 1.0 + (1.0 - company.learned) * (multiplier.get() - 1.0);
        Factor::try_from(left).unwrap_or(*multiplier)
    };
    multipliers.iter().map(left).collect()
}

/// The parties with at least two members in the game, as indices.
fn parties(humans: &[Human]) -> Vec<Vec<usize>> {
    let mut parties: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, human) in humans.iter().enumerate() {
        if let Some(party) = &human.party {
            parties.entry(party).or_default().push(at);
        }
    }
    let parties = parties.into_values();
    parties.filter(|members| members.len() > 1).collect()
}

/// The pairs of which one human avoids the other, as indices; both are in the game.
fn pairs_to_avoid(humans: &[Human]) -> Vec<(usize, usize)> {
    let ids = humans.iter().map(|human| human.id.text());
    let index: BTreeMap<&str, usize> = ids.zip(0..).collect();
    let mut pairs = Vec::new();
    for (at, human) in humans.iter().enumerate() {
        let others = human.avoid.iter().filter_map(|id| index.get(id.as_str()));
        pairs.extend(others.filter(|&&o| o != at).map(|&other| (at, other)));
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Outlook, units::Count};
    use crate::lobby::snapshot::tests::outlook;
    use crate::lobby::{
        Decision, LobbySettings, NewGame, RosterSettings, Update,
        weights::tests::{WeightTable, ctf},
    };

    const LIMITS: SizeLimits = SizeLimits {
        max_team_share: PositiveShare::of(1.0),
        max_difference: MaxDifference::OFF,
    };

    fn weights() -> WeightTable {
        WeightTable::new(&[("a", 10.0), ("b", 20.0), ("c", 30.0)], &[("Bot", 40.0)])
    }

    fn lobby(settings: LobbySettings) -> Lobby {
        let mut lobby = Lobby::new(settings);
        lobby.apply(&ctf(), 0).unwrap();
        for id in ["a", "b", "c"] {
            let (id, update) = (Ident::from_text(id), Update::default());
            lobby.apply(&Command::Join { id, update }, 0).unwrap();
        }
        lobby
    }

    #[test]
    fn bots_that_do_not_come_weigh_nothing() {
        let bots = |settings, acts: Option<bool>| {
            let mut lobby = lobby(settings);
            if let Some(acts) = acts {
                lobby.apply(&Command::DeclareBots { acts }, 0).unwrap();
            }
            let question = lobby.balance(&weights(), LIMITS, Default::default());
            question.unwrap().problem.bots
        };
        let usual = bots(LobbySettings::default(), Some(true));
        assert_eq!((usual.weight, usual.target), (40.0, 6));
        let off = RosterSettings {
            bots: false,
            ..RosterSettings::default()
        };
        let waiting = RosterSettings {
            min_humans: Count::of(4),
            ..RosterSettings::default()
        };
        for (roster, acts) in [
            (off, Some(true)),
            (waiting, Some(true)),
            (RosterSettings::default(), Some(false)),
            (RosterSettings::default(), None),
        ] {
            let settings = LobbySettings {
                roster,
                ..LobbySettings::default()
            };
            let none = bots(settings, acts);
            assert_eq!((none.weight, none.target), (0.0, 0));
        }
    }

    #[test]
    fn a_kept_party_counts_what_was_learned_of_friends() {
        let mut lobby = lobby(LobbySettings::default());
        lobby.apply(&Command::Start, 0).unwrap();
        for id in ["a", "b"] {
            let party = Some("p".into());
            let (id, update) = (
                Ident::from_text(id),
                Update {
                    party,
                    ..Update::default()
                },
            );
            lobby.apply(&Command::Join { id, update }, 0).unwrap();
        }
        let mut weights = weights();
        let question = |weights: &WeightTable| {
            let settings = partition::Settings {
                objective: Objective::Gap,
                party_multiplier: vec![Factor::of(1.3)],
                ..partition::Settings::default()
            };
            let question = lobby.balance(weights, LIMITS, settings).unwrap();
            let humans = question.problem.humans.iter().map(|human| human.weight);
            let multiplier = question.settings.party_multiplier[0].get();
            (humans.collect::<Vec<f64>>(), multiplier)
        };
        weights.outlook = Some(outlook());
        let (without, multiplier) = question(&weights);
        assert_eq!(multiplier, 1.3);
        let company = Company {
            per_friend: 0.2,
            learned: 0.5,
        };
        weights.outlook = Some(Outlook {
            company,
            ..outlook()
        });
        let (with, multiplier) = question(&weights);
        // Half of what was assumed is left, and each of the pair has 0.2 more, at 25 points each.
        assert!((multiplier - 1.15).abs() < 1e-12);
        let more: Vec<f64> = with.iter().zip(&without).map(|(x, y)| x - y).collect();
        let by_hand = [5.0, 5.0, 0.0];
        let near = more.iter().zip(by_hand).all(|(x, y)| (x - y).abs() < 1e-9);
        assert!(near, "{more:?}");
    }

    #[test]
    fn a_stored_decision_is_read_and_replayed() {
        let mut lobby = lobby(LobbySettings::default());
        let question = lobby.balance(&weights(), LIMITS, Default::default());
        let decided = question.unwrap().decide(7, &mut || false).unwrap();
        let balanced = lobby.follow(&decided, &weights()).unwrap();
        assert_eq!(balanced.humans.len(), 3);
        let why = decided.to_string();
        let Decided {
            question,
            seed,
            answer,
        } = decided.clone();
        let decision = Decision::from(decided);
        let json = serde_json::to_string(&decision).unwrap();
        // Version 0.1 stored these parts side by side, and the memory in bytes.
        let mut settings = serde_json::to_value(&question.settings).unwrap();
        let keys = settings.as_object_mut().unwrap();
        assert_eq!(keys.remove("memory_mb"), Some(256.into()));
        keys.insert("memory".to_owned(), (256 << 20).into());
        let first = serde_json::json!({
            "problem": question.problem,
            "settings": settings,
            "seed": seed,
            "team_of": answer.team_of,
            "cut_short": false,
        });
        for stored in [json, first.to_string()] {
            let read = Decision::parse(decision.kind(), &stored).unwrap();
            assert_eq!(read, decision);
            let again = read.again(&mut || false).unwrap();
            assert_eq!((&again, again.to_string()), (&decision, why.clone()));
        }
    }

    #[test]
    fn a_deadline_is_noted() {
        let humans = (0..60).map(|n| format!("p{n}"));
        let humans: Vec<String> = humans.collect();
        let table: Vec<(&str, f64)> = (humans.iter())
            .enumerate()
            .map(|(n, id)| (id.as_str(), (n * n % 61) as f64 + 0.5))
            .collect();
        let table = WeightTable::new(&table, &[]);
        let mut lobby = Lobby::new(LobbySettings::default());
        let game = NewGame {
            game_type: "ctf".into(),
            has_teams: true,
            tournament: false,
        };
        lobby.apply(&Command::Game(game), 0).unwrap();
        for id in &humans {
            let (id, update) = (Ident::from_text(id), Update::default());
            lobby.apply(&Command::Join { id, update }, 0).unwrap();
        }
        let question = lobby.balance(&table, LIMITS, Default::default()).unwrap();
        let decided = question.decide(1, &mut || true).unwrap();
        assert!(decided.answer.cut_short);
        assert_eq!(lobby.follow(&decided, &table).unwrap().humans.len(), 60);
    }

    #[test]
    fn nonsense_is_refused() {
        let question =
            lobby(LobbySettings::default()).balance(&weights(), LIMITS, Default::default());
        let mut question = question.unwrap();
        question.problem.teams = 1;
        assert!(!question.is_sound());
        assert!(question.answer(1).refused.is_some());
        assert!(question.decide(1, &mut || false).is_err());
    }
}
