//! ADVANTAGE: how much help the weaker team needs for an even game.
//!
//! # The formula
//!
//! Only teams with players count. With `W` a team's weight (every human and every bot present, by
//! its own weight), `o` its side's odds and `P` its score, lifted so that none is negative:
//!
//! ```text
//! prior  q = W·o / Σ W·o                        what the weights promise
//! seen   s = (P + 1) / Σ (P + 1)                what the scores say
//! trust  τ = c^1.5,  c = elapsed / (elapsed + left);  0 while no score has been told
//! share  b = q^(1−τ) · s^τ
//! factor f = max b / min b, for the team of min b
//! ```
//!
//! `q` is the UT2004 page's ratio of sums; a side's odds multiply it as they do in the NS2 page's
//! logistic model, where they are a term F that is added to the log-odds. `s` is Laplace's rule of
//! succession, so that the first point of a game isn't infinitely telling. The two are pooled
//! geometrically (logarithmic opinion pool, Genest and Zidek 1986), since factors multiply: swapping
//! the teams gives the reciprocal. That trust moves from the prior to the score as time runs out is
//! H. Stern's model of scores as a Brownian motion (1994).
//!
//! `f` is 1 below the dead band and at most the cap; what is answered approaches it no faster than
//! the slew limit allows, both measured in ln f.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Question;
use crate::domain::{
    MAX_TEAMS,
    units::{Factor, GrowthFactor, ShareExponent, UpToADay},
};

/// What an admin decides about helping the weaker team.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdvantageSettings {
    /// The largest factor.
    pub max: Factor,
    /// A smaller factor is answered as no help.
    pub dead_band: Factor,
    /// The factor by which help may change within a minute.
    pub slew: GrowthFactor,
    /// The power of the completed share of play that makes the trust in the score.
    pub trust: ShareExponent,
    /// The length of a game whose server sends no CLOCK; with 0 its score is never trusted.
    pub usual_seconds: UpToADay,
}

impl Default for AdvantageSettings {
    /// Beyond 1.5, helping is felt as cheating. Below 1.05, one player's shooting hours, it isn't
    /// felt at all, nor is a twentieth more a minute: the cap is reached in eight. Completion^1.5
    /// trusts a third of what is seen at half-time; a start, to be fitted to stored decisions. 20
    /// minutes are the usual time limit of a round.
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
    /// Each team.
    pub teams: Vec<TeamState>,
    /// Play so far; 0 before START.
    pub elapsed: u64,
    /// Play left, if CLOCK told.
    pub left: Option<u64>,
    /// Whether any score has been told: without, 0 to 0 may only mean that nobody tells.
    pub scored: bool,
    /// The help that was answered last in this game, and how long ago that was.
    pub last: Option<(Help, u64)>,
    /// How.
    pub settings: AdvantageSettings,
}

/// One team.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TeamState {
    /// Humans and bots on it.
    pub players: usize,
    /// What they weigh.
    pub weight: f64,
    /// How much likelier its side wins than an even chance, between even teams; 1 where unknown.
    pub odds: f64,
    /// Its score.
    pub score: f64,
}

/// Help for a team.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Help {
    /// Which.
    pub team: u8,
    /// What to multiply its strength by, in whatever way the game can; above 1.
    pub factor: f64,
}

/// How much help is due, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assistance {
    /// The answer; `None` when no help is due.
    pub help: Option<Help>,
    /// What it is on its way to.
    pub target: Option<Help>,
    /// Each team's share by the weights; 0 for one without players.
    pub prior: Vec<f64>,
    /// Each team's share by the scores.
    pub seen: Vec<f64>,
    /// How far the scores are trusted, 0 to 1.
    pub trust: f64,
    /// Strongest over weakest, before cap and dead band.
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
        let tell = |help: Option<Help>| match help {
            Some(Help { team, factor }) => format!("{factor:.3} for team {team}"),
            None => "none".to_owned(),
        };
        writeln!(
            f,
            "advantage {}; due {}, from {:.6} before cap and dead band",
            tell(answer.help),
            tell(answer.target),
            answer.factor
        )?;
        writeln!(f, "the scores are trusted by {:.6}", answer.trust)?;
        for (index, team) in self.teams.iter().enumerate() {
            writeln!(
                f,
                "team {index}: {} players weigh {:.3}, side's odds {:.3}, share {:.6}; score {}, share {:.6}",
                team.players,
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
                "{} s ago it was {}",
                ago / 1_000,
                tell(Some(help).filter(|help| help.factor > 1.0))
            )?;
        }
        Ok(())
    }
}

impl Advantage {
    fn playing(&self) -> impl Iterator<Item = usize> {
        (0..self.teams.len()).filter(|&team| self.teams[team].players > 0)
    }

    /// Each playing team's share of the sum of `value`; equal shares when that is 0.
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

    /// What is due for a gap of `gap` in ln f.
    fn target(&self, team: u8, gap: f64) -> Option<Help> {
        let factor = libm::exp(gap).min(self.settings.max.get());
        (factor > 1.0 && factor >= self.settings.dead_band.get()).then_some(Help { team, factor })
    }

    /// As far towards `target` as the slew limit lets go from the last answer. The first answer of
    /// a game goes all the way: there is nothing to jump from.
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
            // Help for one team ends before another's begins.
            _ if step < from => help(last.team, from - step),
            Some(target) => help(target.team, to.min(step - from)),
            None => None,
        }
    }
}

/// Help of ln f = `log`, unless it is written 1.000.
fn help(team: u8, log: f64) -> Option<Help> {
    let factor = libm::exp(log);
    (factor >= 1.0005).then_some(Help { team, factor })
}

/// ln, of nothing less than a share that is as good as none.
fn log(share: f64) -> f64 {
    libm::log(share.max(1e-9))
}

#[cfg(test)]
mod tests;
