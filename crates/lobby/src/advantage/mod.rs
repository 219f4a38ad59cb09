//! ADVANTAGE: how much help the weaker team needs to make the game even.
//!
//! # The formula
//!
//! Only teams with players count. The factor between any two of them is, in logarithms:
//!
//! ```text
//! heads    h = ln n₁ − ln n₂                       n: players on the team, bots included
//! players p = how much stronger the players are, beyond doubt
//! trust    τ = c^1.5,  c = elapsed / (elapsed + left);  0 until the first SCORE
//! score    s = τ · ln 1.5 · lead / (usual difference after c)
//! factor   ln f = h + (1 − τ) · p + s
//! ```
//!
//! `p` is 0 while the 99 % interval of the predicted chance contains 50 %
//! ([`StrengthSource`]). Before anything has been learned, `p` is the logarithm of the
//! ratio of the mean weights.
//!
//! As time runs out, trust moves from what was known before the game to the score. This follows H.
//! Stern's model of scores as a Brownian motion (1994). A lead is compared with the usual
//! difference of the scores of such matches.
//!
//! The help goes to the weaker team of the pair with the largest f. A player who joins or leaves
//! changes f at once; `s` starts at 0 with START and changes no faster than the slew limit allows.
//! The slew limit is a limit on ln f per minute. If f is below the dead band, no team gets help; if
//! f is above the cap, the help is the cap.
//!
//! # The chance with the score
//!
//! ```text
//! left      l = time left / length, 0.02 to 1
//! before    z = Φ⁻¹(the chance without the score)
//! chance    Φ((lead / σ + l · z) / √l)                 σ: the usual difference of the final scores
//! ```
//!
//! This is Stern's model, too. At the start, the chance is the one without the score. Strengths count for the time that is
//! left, and the lead for all of it. `docs/internals/figures.md` has what this gains on recorded matches.

use std::fmt;

use evenkeel_model::{
    WinModel,
    record::{MAX_TEAMS, UNTIMED_MILLIS},
    team_names::Naming,
    text::counted,
    units::{Factor, GrowthFactor, ShareExponent, UpToADay},
    win_model::{TeamLoad, cdf, quantile},
};
use serde::{Deserialize, Serialize};

use crate::question::Question;

/// The question of ADVANTAGE. Times are in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Advantage {
    /// The teams, in order of their numbers.
    pub teams: Vec<TeamState>,
    /// The time played so far; 0 before START.
    pub elapsed: u64,
    /// The remaining time of play, if CLOCK has stated it.
    pub left: Option<u64>,
    /// Whether SCORE has been sent. If not, a score of 0 to 0 may only mean that the game server
    /// does not report scores.
    pub scored: bool,
    /// The settings when the question was asked.
    pub settings: AdvantageSettings,
    /// What ADVANTAGE knows besides the teams.
    pub basis: Basis,
}

/// What ADVANTAGE knows besides the teams: predictions, earlier matches and the last answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Basis {
    /// What predicts which team is stronger.
    pub known: StrengthSource,
    /// How far apart the final scores of matches under this ruleset are.
    pub spread: ScoreSpread,
    /// [`Assistance::by_score`] of the last answer since START; empty before the first.
    pub last: Vec<f64>,
    /// The time since that answer, or else since START, in milliseconds.
    pub ago: u64,
}

/// One team when the question was asked.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TeamState {
    /// Number of humans and bots on the team.
    pub players: usize,
    /// Sum of the players' weights.
    pub weight: f64,
    /// The team's score so far.
    pub score: f64,
    /// Sum of its players' strengths, in the unit of the win model; 0 without one.
    pub strength: f64,
}

/// Help for a team.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Help {
    /// The team to help, counted from 0.
    pub team: u8,
    /// The factor on the team's strength, above 1. The game server decides how to apply it.
    pub factor: f64,
}

/// The help to give now, and how it was computed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assistance {
    /// The help to give now; `None` for no help.
    pub help: Option<Help>,
    /// The help that the answers approach within the slew limit; `None` for no help.
    pub target: Option<Help>,
    /// Each team's share by weight; 0 for a team without players.
    pub prior: Vec<f64>,
    /// Trust in the scores, 0 to 1.
    pub trust: f64,
    /// The factor before the cap and the dead band are applied.
    pub factor: f64,
    /// How much stronger each team's score makes it now, as the logarithm of a factor.
    pub by_score: Vec<f64>,
    /// The logarithms of the three parts of the factor: heads, players, score.
    pub parts: [f64; 3],
}

impl Question for Advantage {
    type Answer = Assistance;

    fn is_sound(&self) -> bool {
        (2..=MAX_TEAMS).contains(&self.teams.len())
    }

    fn answer(&self, _seed: u64) -> Assistance {
        self.assist()
    }

    /// Its sentences name no player, and its teams have their numbers.
    fn explain(
        &self,
        answer: &Assistance,
        _naming: &Naming,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        self.explain_answer(answer, f)
    }
}

/// Settings of ADVANTAGE.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdvantageSettings {
    /// The largest factor.
    pub max: Factor,
    /// The factor below which no help is given.
    pub dead_band: Factor,
    /// The largest factor by which help may change within a minute.
    pub slew: GrowthFactor,
    /// The exponent that turns the share of the game that is over into the trust in the scores.
    pub trust: ShareExponent,
    /// The length of a game without CLOCK; with 0 the scores of such games are ignored.
    pub usual_seconds: UpToADay,
}

impl Default for AdvantageSettings {
    /// Players consider help above 1.5 unfair. They do not notice a factor below 1.05, or a change by a
    /// twentieth per minute, with which the cap is reached in eight minutes. With an exponent of 1.5 the
    /// scores are trusted by a third at half-time; this is a first guess, to be fitted to stored
    /// decisions. A round usually has a time limit of 20 minutes.
    fn default() -> Self {
        Self {
            max: const { Factor::of(1.5) },
            dead_band: const { Factor::of(1.05) },
            slew: const { GrowthFactor::of(1.05) },
            trust: const { ShareExponent::of(1.5) },
            usual_seconds: const { UpToADay::of(20 * 60) },
        }
    }
}

impl Advantage {
    /// Writes the help, the parts of its factor, and the teams.
    fn explain_answer(&self, answer: &Assistance, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "help now: {}; target: {} ({:.6} before cap and dead band)",
            describe(answer.help),
            describe(answer.target),
            answer.factor
        )?;
        writeln!(f, "trust in the scores: {:.6}", answer.trust)?;
        let [heads, players, score] = answer.parts.map(libm::exp);
        writeln!(
            f,
            "factor by the number of players {heads:.6}, by their strength {players:.6}, by the score {score:.6}"
        )?;
        self.basis.explain(f)?;
        for (index, team) in self.teams.iter().enumerate() {
            writeln!(
                f,
                "team {index}: {}, weight {:.3}, share by weight {:.6}, strength {:.6}; score {}, factor by the score {:.6}",
                counted(team.players, "player"),
                team.weight,
                answer.prior[index],
                team.strength,
                team.score,
                libm::exp(answer.by_score[index])
            )?;
        }
        Ok(())
    }
}

impl Basis {
    fn explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.known {
            StrengthSource::Weights => {
                writeln!(f, "nothing has been learned yet: the weights decide")?
            }
            StrengthSource::Strengths(win_model) => writeln!(
                f,
                "the standard deviation of the predicted edge is {:.6}",
                win_model.deviation
            )?,
        }
        if self.spread.matches > 0.0 {
            let usual = libm::sqrt(self.spread.square);
            writeln!(
                f,
                "final scores of such matches differ by {usual:.3} (root mean square)"
            )?;
        }
        Ok(())
    }
}

fn describe(help: Option<Help>) -> String {
    match help {
        Some(Help { team, factor }) => format!("factor {factor:.3} for team {team}"),
        None => "none".to_owned(),
    }
}

/// Half the width of a 99 % interval, in standard deviations. Measured with 2,000 histories of
/// twelve equally strong players and 20 divisions into six against six after each: with this
/// interval, ADVANTAGE helps in 9 of the 40,000 divisions; with one of 95 % (1.96), in 69.
/// (`cargo test --release --test large -- --ignored --nocapture equals`)
const SURE: f64 = 2.576;

/// ln 1.5: a player who is one unit of strength above an average newcomer counts as one and a half of them.
const LN_PER_UNIT: f64 = 0.405_465_108_108_164_4;

/// What predicts which team is stronger.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StrengthSource {
    /// The weights: no rating system has learned anything that predicts a chance.
    Weights,
    /// The players' strengths, and how the rating system turns them into chances.
    Strengths(WinModel),
}

/// How much stronger one team is than another, as the logarithms of two factors.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Stronger {
    /// The factor by the number of its players.
    heads: f64,
    /// The factor by how strong its players and its side of the map are.
    players: f64,
}

impl StrengthSource {
    /// How much stronger `one` is than `other`; both have players. `side` is 1 if the side of the map
    /// that the win model has learned is that of `one`, −1 if it is that of `other`, and 0 if it is neither.
    ///
    /// Of the edge that the rating system predicts, only the [`sure_part`] counts. Divided by the
    /// number of players of the weaker team, it is the strength that each of them lacks. The scale
    /// of the weights turns that strength into a factor.
    fn stronger(&self, one: &TeamState, other: &TeamState, side: f64) -> Stronger {
        let heads = log(one.players as f64) - log(other.players as f64);
        let Self::Strengths(win_model) = self else {
            let all = log(one.weight) - log(other.weight);
            return Stronger {
                heads,
                players: all - heads,
            };
        };
        let load = |team: &TeamState| TeamLoad {
            heads: team.players,
            strength: team.strength,
        };
        let edge = win_model.edge_of_players(load(one), load(other)) + side * win_model.side;
        let sure = sure_part(edge.abs(), SURE * win_model.deviation);
        let weaker = if edge > 0.0 { other } else { one };
        let per_player =
            win_model.per_strength_at(one.players + other.players) * weaker.players as f64;
        let each = sure / per_player / win_model.unit;
        Stronger {
            heads,
            players: libm::copysign(each * LN_PER_UNIT, edge),
        }
    }
}

/// The part of `edge` that counts. `margin` is half the width of the interval of the edge; both are
/// at least 0.
///
/// If the interval contains 0, an even game, nothing counts. A larger edge is reduced by the share
/// `(margin / edge)²` (Breiman 1995, "Better subset selection using the nonnegative garrote"). So
/// help begins at 0, and an edge far beyond doubt counts almost whole.
fn sure_part(edge: f64, margin: f64) -> f64 {
    if edge <= margin {
        return 0.0;
    }
    let doubtful = margin / edge;
    edge * (1.0 - doubtful * doubtful)
}

impl Advantage {
    /// The teams that have players.
    fn playing(&self) -> impl Iterator<Item = usize> {
        (0..self.teams.len()).filter(|&team| self.teams[team].players > 0)
    }

    /// Each playing team's share of the sum of `value`; equal shares if the sum is 0.
    fn shares(&self, value: impl Fn(&TeamState) -> f64) -> Vec<f64> {
        let sum: f64 = self.playing().map(|team| value(&self.teams[team])).sum();
        let equal = 1.0 / self.playing().count().max(1) as f64;
        let share = |team: &TeamState| match team.players {
            0 => 0.0,
            _ if sum > 0.0 => value(team) / sum,
            _ => equal,
        };
        self.teams.iter().map(share).collect()
    }

    /// Trust in the scores, 0 to 1.
    fn trust(&self) -> f64 {
        match self.scored {
            true => libm::pow(self.done(), self.settings.trust.get()),
            false => 0.0,
        }
    }

    /// The help for a factor whose logarithm is `gap`, within the cap and the dead band.
    fn target(&self, team: u8, gap: f64) -> Option<Help> {
        let factor = libm::exp(gap).min(self.settings.max.get());
        (factor > 1.0 && factor >= self.settings.dead_band.get()).then_some(Help { team, factor })
    }

    /// The help to give now.
    fn assist(&self) -> Assistance {
        let basis = &self.basis;
        let trust = self.trust();
        let wanted = self.by_score(trust);
        let step = log(self.settings.slew.get()) * (basis.ago as f64 / 60_000.0);
        let slewed = wanted.iter().enumerate().map(|(team, &wanted)| {
            let last = basis.last.get(team).copied().unwrap_or(0.0);
            // Two teams move apart at twice the speed of one.
            last + (wanted - last).clamp(-step / 2.0, step / 2.0)
        });
        let by_score: Vec<f64> = slewed.collect();
        let (team, parts) = self.weakest(trust, &by_score);
        let (to, target) = self.weakest(trust, &wanted);
        let gap = parts.iter().sum::<f64>();
        Assistance {
            help: self.target(team, gap),
            target: self.target(to, target.iter().sum()),
            prior: self.shares(|team| team.weight.max(0.0)),
            trust,
            factor: libm::exp(gap),
            by_score,
            parts,
        }
    }

    /// For each team, the logarithm of the factor by which its score makes it stronger. It depends
    /// on the lead over the mean score of the teams that play.
    fn by_score(&self, trust: f64) -> Vec<f64> {
        let playing = self.playing().count().max(1) as f64;
        let scores = || self.playing().map(|team| self.teams[team].score);
        let mean = scores().sum::<f64>() / playing;
        // For two teams this is the sum of their scores; each leads the mean by half the
        // difference.
        let sum = 2.0 * scores().map(f64::abs).sum::<f64>() / playing;
        let score = |team: &TeamState| match team.players {
            0 => 0.0,
            _ => {
                trust
                    * self
                        .basis
                        .spread
                        .stronger(team.score - mean, sum, self.done())
            }
        };
        self.teams.iter().map(score).collect()
    }

    /// Finds the pair of teams with the largest factor of one over the other. Returns the weaker of
    /// the two and the logarithms of the three parts of that factor: heads, players, score.
    /// O(teams²).
    fn weakest(&self, trust: f64, by_score: &[f64]) -> (u8, [f64; 3]) {
        let two = self.teams.len() == 2;
        let pairs = self
            .playing()
            .flat_map(|one| self.playing().map(move |other| (one, other)));
        let factors = pairs
            .filter(|(one, other)| one != other)
            .map(|(one, other)| {
                let side = match (two, one) {
                    (false, _) => 0.0,
                    (true, 0) => 1.0,
                    (true, _) => -1.0,
                };
                let stronger =
                    self.basis
                        .known
                        .stronger(&self.teams[one], &self.teams[other], side);
                let score = by_score[one] - by_score[other];
                let parts = [stronger.heads, (1.0 - trust) * stronger.players, score];
                (other as u8, parts)
            });
        let sum = |parts: &[f64; 3]| parts.iter().sum::<f64>();
        let most = factors.reduce(|a, b| if sum(&b.1) > sum(&a.1) { b } else { a });
        most.unwrap_or((0, [0.0; 3]))
    }

    /// The share of the game that is over, 0 to 1.
    fn done(&self) -> f64 {
        let length = match self.left {
            Some(left) => self.elapsed.saturating_add(left),
            None => self.settings.usual_seconds.millis(),
        };
        match length {
            0 => 0.0,
            _ => (self.elapsed as f64 / length as f64).min(1.0),
        }
    }
}

/// ln of an amount, or of 1e-9 if it is smaller.
fn log(amount: f64) -> f64 {
    libm::log(amount.max(1e-9))
}

/// The guess that is made from the present score counts as much as this many matches.
const GUESSES: f64 = 1.0;

/// How far apart the final scores of matches under a ruleset are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScoreSpread {
    /// Number of matches learned from, older ones counting less.
    pub matches: f64,
    /// The mean square of the difference between two teams' scores in them.
    pub square: f64,
}

impl ScoreSpread {
    /// The usual difference between two scores after the share `done` of the game, 0 to 1. `sum` is the sum of both.
    ///
    /// When the share c of a game is over, the scores of equal teams are √c times as far apart as
    /// at its end (Stern, "A Brownian motion model for the progress of sports scores", 1994).
    pub(crate) fn usual(&self, sum: f64, done: f64) -> f64 {
        let guess = sum.max(0.0) + 1.0;
        // The number of single goals is a Poisson variable, whose variance is its mean. If points
        // come in tens or hundreds, a standard deviation of a quarter of the sum is a better guess.
        let guess = guess + guess * guess / 16.0;
        let all = self.matches * self.square * done.clamp(0.0, 1.0) + GUESSES * guess;
        libm::sqrt(all / (self.matches + GUESSES))
    }

    /// The logarithm of the factor by which a team is stronger if it leads by `lead` after the share
    /// `done` of the game, 0 to 1. `sum` is the sum of both teams' scores. A lead of the usual size counts as much as
    /// weights of 75 against weights of 50.
    fn stronger(&self, lead: f64, sum: f64, done: f64) -> f64 {
        LN_PER_UNIT * lead / self.usual(sum, done)
    }
}

/// The least part of a game that is left. What comes after the stated end (overtime, a late message) can still change the
/// result. Without a limit, the first goal in overtime would be certain to win.
const LEAST_LEFT: f64 = 0.02;

/// A chance without the score is kept this far from 0 and 1.
const LEAST_CHANCE: f64 = 0.001;

/// The score and the time of a running game between two teams.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScoreSoFar {
    /// The score of the first team and of the second one.
    pub scores: [f64; 2],
    /// The time that is left, in milliseconds.
    pub left: u64,
    /// The length of a whole game, in milliseconds ([`usual_length`]).
    pub length: u64,
}

impl ScoreSpread {
    /// The chance of the first team with the score, 0 to 1; a draw is half a win. `before` is its chance without the
    /// score.
    pub fn chance(&self, before: f64, so_far: ScoreSoFar) -> f64 {
        let [one, other] = so_far.scores;
        let usual = self.usual(one.abs() + other.abs(), 1.0);
        let left = so_far.left_part();
        let before = quantile(before.clamp(LEAST_CHANCE, 1.0 - LEAST_CHANCE));
        let chance = cdf(((one - other) / usual + left * before) / libm::sqrt(left));
        // Scores that are no numbers must not make a chance that is none.
        if chance.is_finite() { chance } else { 0.5 }
    }
}

impl ScoreSoFar {
    /// The part of the game that is left.
    fn left_part(self) -> f64 {
        let length = self.length.max(1) as f64;
        (self.left as f64 / length).clamp(LEAST_LEFT, 1.0)
    }
}

/// The time after which a game is over whose end is not stated: nine in ten of the matches with these lengths were.
/// 20 minutes without any match. Lengths are in milliseconds.
pub fn usual_length(lengths: &mut [u64]) -> u64 {
    lengths.sort_unstable();
    let place = (lengths.len() * 9).div_ceil(10);
    let length = place.checked_sub(1).and_then(|at| lengths.get(at));
    length.map_or(UNTIMED_MILLIS, |&length| length.max(1))
}

#[cfg(test)]
mod tests;
