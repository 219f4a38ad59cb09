//! ADVANTAGE: how much help the weaker team needs to make the game even.
//!
//! # The formula
//!
//! Only teams with players count. With `W` a team's weight (every human and every bot present, by
//! its own weight), `o` its side's odds and `P` its score, lifted so that none is negative:
//!
//! ```text
//! prior  q = W·o / Σ W·o                        the share by weight
//! seen   s = (P + 1) / Σ (P + 1)                the share by score
//! trust  τ = c^1.5,  c = elapsed / (elapsed + left);  0 until the first SCORE
//! share  b = q^(1−τ) · s^τ
//! factor f = max b / min b, for the team of min b
//! ```
//!
//! `q` is the UT2004 page's ratio of sums; a side's odds multiply it as they do in the NS2 page's
//! logistic model, where they are a term F that is added to the log-odds. `s` is Laplace's rule of
//! succession, so that the first point of a game doesn't decide everything. The two are pooled
//! geometrically (logarithmic opinion pool, Genest and Zidek 1986), since factors multiply: swapping
//! the teams gives the reciprocal. Trust moves from the prior to the score as time runs out, as in
//! H. Stern's model of scores as a Brownian motion (1994).
//!
//! `f` is 1 below the dead band, and at most the cap. The answer approaches it at most as fast as
//! the slew limit allows, measured in ln f.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Question;
use crate::domain::{
    MAX_TEAMS, counted,
    units::{Factor, GrowthFactor, ShareExponent, UpToADay},
};

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
    /// The exponent of the completed share of the game in the trust in the scores.
    pub trust: ShareExponent,
    /// The length of a game without CLOCK; with 0 the scores of such games are ignored.
    pub usual_seconds: UpToADay,
}

impl Default for AdvantageSettings {
    /// Players consider help above 1.5 unfair; they do not notice a factor below 1.05, or a change
    /// by a twentieth per minute, with which the cap is reached in eight minutes. With an exponent
    /// of 1.5 the scores are trusted by a third at half-time; this is a first guess, to be fitted
    /// to stored decisions. 20 minutes are the usual time limit of a round.
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
    /// The last answer in this game, and how long ago it was given.
    pub last: Option<(Help, u64)>,
    /// The settings when the question was asked.
    pub settings: AdvantageSettings,
}

/// One team when the question was asked.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TeamState {
    /// Number of humans and bots on the team.
    pub players: usize,
    /// Sum of the players' weights.
    pub weight: f64,
    /// How much more often the team's side wins than in an even game, between equal teams; 1 if
    /// unknown.
    pub odds: f64,
    /// The team's score so far.
    pub score: f64,
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
    /// The help that is approached within the slew limit; `None` for no help.
    pub target: Option<Help>,
    /// Each team's share by weight; 0 for a team without players.
    pub prior: Vec<f64>,
    /// Each team's share by score; 0 for a team without players.
    pub seen: Vec<f64>,
    /// Trust in the scores, 0 to 1.
    pub trust: f64,
    /// The factor before the cap and the dead band are applied.
    pub factor: f64,
}

impl Question for Advantage {
    type Answer = Assistance;

    fn is_sound(&self) -> bool {
        (2..=MAX_TEAMS).contains(&self.teams.len())
    }

    fn answer(&self, _seed: u64) -> Assistance {
        let prior = self.shares(|team| team.weight.max(0.0) * team.odds.max(0.0));
        let lowest = self.teams.iter().map(|team| team.score).fold(0.0, f64::min);
        let seen = self.shares(|team| team.score - lowest + 1.0);
        let trust = self.trust();
        let logs = self.playing().map(|team| {
            let pooled = (1.0 - trust) * log(prior[team]) + trust * log(seen[team]);
            (team as u8, pooled)
        });
        let logs: Vec<(u8, f64)> = logs.collect();
        let weakest = logs
            .iter()
            .copied()
            .reduce(|a, b| if b.1 < a.1 { b } else { a });
        let most = logs
            .iter()
            .map(|(_, log)| *log)
            .fold(f64::NEG_INFINITY, f64::max);
        let (team, gap) = weakest.map_or((0, 0.0), |(team, least)| (team, most - least));
        let target = self.target(team, gap);
        Assistance {
            help: self.slewed(target),
            target,
            prior,
            seen,
            trust,
            factor: libm::exp(gap),
        }
    }

    fn explain(&self, answer: &Assistance, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let describe = |help: Option<Help>| match help {
            Some(Help { team, factor }) => format!("factor {factor:.3} for team {team}"),
            None => "none".to_owned(),
        };
        writeln!(
            f,
            "help now: {}; target: {} ({:.6} before cap and dead band)",
            describe(answer.help),
            describe(answer.target),
            answer.factor
        )?;
        writeln!(f, "trust in the scores: {:.6}", answer.trust)?;
        for (index, team) in self.teams.iter().enumerate() {
            writeln!(
                f,
                "team {index}: {}, weight {:.3}, odds of the side {:.3}, share by weight {:.6}; score {}, share by score {:.6}",
                counted(team.players, "player"),
                team.weight,
                team.odds,
                answer.prior[index],
                team.score,
                answer.seen[index]
            )?;
        }
        if let Some((help, ago)) = self.last {
            writeln!(
                f,
                "previous help, {} s ago: {}",
                ago / 1_000,
                describe(Some(help).filter(|help| help.factor > 1.0))
            )?;
        }
        Ok(())
    }
}

impl Advantage {
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

    fn trust(&self) -> f64 {
        let length = match self.left {
            Some(left) => self.elapsed.saturating_add(left),
            None => self.settings.usual_seconds.millis(),
        };
        if !self.scored || self.elapsed == 0 || length == 0 {
            return 0.0;
        }
        let completion = (self.elapsed as f64 / length as f64).min(1.0);
        libm::pow(completion, self.settings.trust.get())
    }

    /// The help for a gap of `gap` in ln f.
    fn target(&self, team: u8, gap: f64) -> Option<Help> {
        let factor = libm::exp(gap).min(self.settings.max.get());
        (factor > 1.0 && factor >= self.settings.dead_band.get()).then_some(Help { team, factor })
    }

    /// The help between the last answer and `target` that the slew limit allows. The first answer
    /// in a game is the target itself.
    fn slewed(&self, target: Option<Help>) -> Option<Help> {
        let Some((last, ago)) = self.last else {
            return target;
        };
        let step = log(self.settings.slew.get()) * (ago as f64 / 60_000.0);
        let from = log(last.factor);
        let to = target.map_or(0.0, |target| log(target.factor));
        match target {
            Some(target) if target.team == last.team => {
                help(last.team, from + (to - from).clamp(-step, step))
            }
            // Help for one team ends before help for another begins.
            _ if step < from => help(last.team, from - step),
            Some(target) => help(target.team, to.min(step - from)),
            None => None,
        }
    }
}

/// Help with ln f = `log`; `None` if the factor would be written as 1.000.
fn help(team: u8, log: f64) -> Option<Help> {
    let factor = libm::exp(log);
    (factor >= 1.0005).then_some(Help { team, factor })
}

/// ln of a share; of 1e-9 if the share is smaller.
fn log(share: f64) -> f64 {
    libm::log(share.max(1e-9))
}

#[cfg(test)]
mod tests;
