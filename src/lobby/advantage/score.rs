//! The strength that a team lacks by the score, as the logarithm of a factor.

use serde::{Deserialize, Serialize};

use super::strength::LN_HALFWAY;

/// The number of matches that the guess from the score itself counts as.
const GUESSES: f64 = 1.0;

/// How far apart the scores of such matches are in the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScoreSpread {
    /// Matches seen, older ones counting less.
    pub matches: f64,
    /// The mean square of the difference between two teams' scores in them.
    pub square: f64,
}

impl ScoreSpread {
    /// By what logarithm of a factor a team is stronger that leads by `lead` when the share `done` of
    /// the game is over, of a score that adds up to `sum`.
    ///
    /// After the share c of a game, scores of equal teams are √c times as far apart as in the end (Stern,
    /// "A Brownian motion model for the progress of sports scores", 1994). A lead of that much counts as
    /// a player of weight 75 does against one of weight 50.
    pub(super) fn stronger(&self, lead: f64, sum: f64, done: f64) -> f64 {
        let guess = sum.max(0.0) + 1.0;
        // Counts vary as a Poisson variable does, and points that come in tens by shares of the sum.
        let guess = guess + guess * guess / 16.0;
        let all = self.matches * self.square * done.clamp(0.0, 1.0) + GUESSES * guess;
        let usual = libm::sqrt(all / (self.matches + GUESSES));
        LN_HALFWAY * lead / usual
    }
}
