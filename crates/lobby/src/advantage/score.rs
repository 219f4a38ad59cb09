//! How much stronger a team is because of its score, as the logarithm of a factor.

use serde::{Deserialize, Serialize};

use super::strength::LN_PER_UNIT;

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
    pub(super) fn stronger(&self, lead: f64, sum: f64, done: f64) -> f64 {
        LN_PER_UNIT * lead / self.usual(sum, done)
    }
}
