//! ADVANTAGE: how much help the weaker team needs to make the game even.
//!
//! # The formula
//!
//! Only teams with players count. For any two of them, in logarithms of factors:
//!
//! ```text
//! heads    h = ln n₁ − ln n₂                       n: players on the team, bots included
//! players  p = the shift of strength per player that makes up for what is sure of the edge
//! trust    τ = c^1.5,  c = elapsed / (elapsed + left);  0 until the first SCORE
//! score    s = τ · ln 1.5 · lead / (usual difference after c)
//! factor   ln f = h + (1 − τ) · p + s
//! ```
//!
//! `p` is 0 unless the 99 % interval of the predicted chance lies on one side of a half
//! ([`strength`](mod@strength)). Before anything has been learned it is the ratio of the mean weights. Trust moves
//! from what was known before to the score as time runs out, as in H. Stern's model of scores as a
//! Brownian motion (1994), and a lead counts by how far apart such matches end ([`score`](mod@score)).
//!
//! The team with the largest f against it gets help. `s` follows the score no faster than the slew
//! limit allows, measured in ln f, and starts at 0 with START; who is there counts at once. `f` is 1 below the
//! dead band and at most the cap.
//!
//! Decisions that version 0.1 stored have no [`Basis`] and are answered by its formula ([`first`](mod@first)).

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Question;

mod first;
mod score;
mod strength;

pub use score::ScoreSpread;
pub use strength::Known;

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
    /// The last answer in this game, and how long ago it was given. Only in decisions of version 0.1.
    pub last: Option<(Help, u64)>,
    /// The settings when the question was asked.
    pub settings: AdvantageSettings,
    /// What the answer is made from beside that; `None` in decisions of version 0.1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub basis: Option<Basis>,
}

/// What is known beside the teams.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Basis {
    /// What is known of who is stronger.
    pub known: Known,
    /// How far apart the scores of such matches are in the end.
    pub spread: ScoreSpread,
    /// What each team's score counted in the last answer since START, as the logarithm of a factor; empty before
    /// the first.
    pub last: Vec<f64>,
    /// How long ago that was, or since START.
    pub ago: u64,
}

/// One team when the question was asked.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TeamState {
    /// Number of humans and bots on the team.
    pub players: usize,
    /// Sum of the players' weights.
    pub weight: f64,
    /// How much more often its side wins than in an even game, between equal teams. Only in decisions
    /// of version 0.1; otherwise 1.
    pub odds: f64,
    /// The team's score so far.
    pub score: f64,
    /// Sum of its players' strengths, in the unit of the outlook; 0 without one.
    #[serde(default)]
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
    /// The help that is approached within the slew limit; `None` for no help.
    pub target: Option<Help>,
    /// Each team's share by weight; 0 for a team without players.
    pub prior: Vec<f64>,
    /// Each team's share by score. Only in decisions of version 0.1.
    #[serde(default)]
    pub seen: Vec<f64>,
    /// Trust in the scores, 0 to 1.
    pub trust: f64,
    /// The factor before the cap and the dead band are applied.
    pub factor: f64,
    /// What each team's score counts now, as the logarithm of a factor. Empty in decisions of version 0.1.
    #[serde(default)]
    pub by_score: Vec<f64>,
    /// What the factor is made of, as logarithms: heads, players, score. `None` in decisions of version 0.1.
    #[serde(default)]
    pub parts: Option<[f64; 3]>,
}

impl Question for Advantage {
    type Answer = Assistance;

    fn is_sound(&self) -> bool {
        (2..=MAX_TEAMS).contains(&self.teams.len())
    }

    fn answer(&self, _seed: u64) -> Assistance {
        match &self.basis {
            Some(basis) => self.answer_from(basis),
            None => self.first_answer(),
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
        let Some(basis) = &self.basis else {
            return self.explain_first(answer, f);
        };
        if let Some(parts) = answer.parts {
            let [heads, players, score] = parts.map(libm::exp);
            writeln!(
                f,
                "factor by the number of players {heads:.6}, by their strength {players:.6}, by the score {score:.6}"
            )?;
        }
        basis.explain(f)?;
        for (index, team) in self.teams.iter().enumerate() {
            writeln!(
                f,
                "team {index}: {}, weight {:.3}, share by weight {:.6}, strength {:.6}; score {}, factor by the score {:.6}",
                counted(team.players, "player"),
                team.weight,
                answer.prior[index],
                team.strength,
                team.score,
                libm::exp(answer.by_score.get(index).copied().unwrap_or(0.0))
            )?;
        }
        Ok(())
    }
}

impl Basis {
    fn explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.known {
            Known::Weights => writeln!(f, "nothing has been learned yet: the weights decide")?,
            Known::Strengths(outlook) => writeln!(
                f,
                "the predicted edge is known to within {:.6}, one standard deviation",
                outlook.doubt
            )?,
        }
        if self.spread.matches > 0.0 {
            let usual = libm::sqrt(self.spread.square);
            writeln!(f, "such matches end {usual:.3} apart (root mean square)")?;
        }
        Ok(())
    }
}

impl Advantage {
    /// The help of version 0.1 is explained by its own lines.
    fn explain_first(&self, answer: &Assistance, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let describe = |help: Option<Help>| match help {
            Some(Help { team, factor }) => format!("factor {factor:.3} for team {team}"),
            None => "none".to_owned(),
        };
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
        match self.scored {
            true => libm::pow(self.done(), self.settings.trust.get()),
            false => 0.0,
        }
    }

    /// The help for a gap of `gap` in ln f.
    fn target(&self, team: u8, gap: f64) -> Option<Help> {
        let factor = libm::exp(gap).min(self.settings.max.get());
        (factor > 1.0 && factor >= self.settings.dead_band.get()).then_some(Help { team, factor })
    }

    fn answer_from(&self, basis: &Basis) -> Assistance {
        let trust = self.trust();
        let wanted = self.by_score(basis, trust);
        let step = log(self.settings.slew.get()) * (basis.ago as f64 / 60_000.0);
        let slewed = wanted.iter().enumerate().map(|(team, &wanted)| {
            let last = basis.last.get(team).copied().unwrap_or(0.0);
            // Two teams go apart twice as fast as one goes from the middle.
            last + (wanted - last).clamp(-step / 2.0, step / 2.0)
        });
        let by_score: Vec<f64> = slewed.collect();
        let (team, parts) = self.weakest(basis, trust, &by_score);
        let (to, target) = self.weakest(basis, trust, &wanted);
        let gap = parts.iter().sum::<f64>();
        Assistance {
            help: self.target(team, gap),
            target: self.target(to, target.iter().sum()),
            prior: self.shares(|team| team.weight.max(0.0)),
            seen: Vec::new(),
            trust,
            factor: libm::exp(gap),
            by_score,
            parts: Some(parts),
        }
    }

    /// What each team's score counts, as the logarithm of a factor: its lead over the mean of those that play.
    fn by_score(&self, basis: &Basis, trust: f64) -> Vec<f64> {
        let playing = self.playing().count().max(1) as f64;
        let scores = || self.playing().map(|team| self.teams[team].score);
        let mean = scores().sum::<f64>() / playing;
        // Between two teams: the mean is half a lead away from each.
        let sum = 2.0 * scores().map(f64::abs).sum::<f64>() / playing;
        let score = |team: &TeamState| match team.players {
            0 => 0.0,
            _ => trust * basis.spread.stronger(team.score - mean, sum, self.done()),
        };
        self.teams.iter().map(score).collect()
    }

    /// The team against which another's factor is largest, and that factor's parts as logarithms: heads,
    /// players, score. O(teams²).
    fn weakest(&self, basis: &Basis, trust: f64, by_score: &[f64]) -> (u8, [f64; 3]) {
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
                let stronger = basis
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
