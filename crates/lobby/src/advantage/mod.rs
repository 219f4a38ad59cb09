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
//! (`strength`(mod@strength)). Before anything has been learned, `p` is the logarithm of the
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

mod strength;

pub use strength::{ScoreSoFar, ScoreSpread, StrengthSource, usual_length};

use std::fmt;

use evenkeel_model::{
    record::MAX_TEAMS,
    team_names::Naming,
    text::counted,
    units::{Factor, GrowthFactor, ShareExponent, UpToADay},
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

#[cfg(test)]
mod tests;
