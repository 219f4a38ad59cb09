//! How close some matches were, as sums.

use std::{iter::Sum, ops::AddAssign};

use serde::{Deserialize, Serialize};

/// How close some matches were, as sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Closeness {
    /// Number of rated matches.
    pub rated: i64,
    /// Number of rated matches with teams; the other fields count only these.
    pub matches: i64,
    /// Number of matches that were draws.
    pub draws: i64,
    /// Number of matches with scores: not those that a team has won with the same score as all others.
    pub scored: i64,
    /// Sum of the differences between the highest and the lowest score.
    pub gap: f64,
    /// Sum of the lengths of play, in minutes.
    pub minutes: f64,
    /// Number of matches whose length is not known.
    pub untimed: i64,
    /// Number of matches that team 0 won.
    pub first_won: i64,
    /// Number of matches that a team won.
    pub decided: i64,
    /// Number of matches with a prediction and a result.
    pub predicted: i64,
    /// How many of these a team won.
    pub predicted_won: i64,
    /// In how many of these the team with the higher chance won.
    pub favoured: i64,
    /// Sum of the squared differences between chance and result; a draw is half a win.
    pub brier: f64,
}

impl Closeness {
    /// The mean difference between the highest and the lowest score; `None` if no scores were reported. Then only the
    /// draws, if there are any, seem to have scores.
    pub fn mean_gap(&self) -> Option<f64> {
        let has_scores = self.gap > 0.0 || self.scored == self.matches;
        mean(self.gap, self.scored).filter(|_| has_scores)
    }

    /// The share of draws.
    pub fn draw_share(&self) -> Option<f64> {
        mean(self.draws as f64, self.matches)
    }

    /// The share of matches that team 0 won, of those that a team won.
    pub fn first_share(&self) -> Option<f64> {
        mean(self.first_won as f64, self.decided)
    }

    /// The share of predicted matches that the favourite won, of those that a team won.
    pub fn favourite_share(&self) -> Option<f64> {
        mean(self.favoured as f64, self.predicted_won)
    }

    /// The mean squared difference between chance and result.
    pub fn mean_brier(&self) -> Option<f64> {
        mean(self.brier, self.predicted)
    }

    /// The mean length of play, in minutes.
    pub fn mean_minutes(&self) -> Option<f64> {
        mean(self.minutes, self.matches - self.untimed)
    }
}

impl AddAssign for Closeness {
    fn add_assign(&mut self, of: Self) {
        self.rated += of.rated;
        self.matches += of.matches;
        self.draws += of.draws;
        self.scored += of.scored;
        self.gap += of.gap;
        self.minutes += of.minutes;
        self.untimed += of.untimed;
        self.first_won += of.first_won;
        self.decided += of.decided;
        self.predicted += of.predicted;
        self.predicted_won += of.predicted_won;
        self.favoured += of.favoured;
        self.brier += of.brier;
    }
}

impl Sum for Closeness {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |mut sum, of| {
            sum += of;
            sum
        })
    }
}

/// A mean, or `None` without anything to take it over.
fn mean(sum: f64, count: i64) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}
