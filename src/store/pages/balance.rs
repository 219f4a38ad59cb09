//! How close matches were, as pages read it.

use crate::domain::Timestamp;

/// A ruleset with rated matches.
#[derive(Clone, Debug, PartialEq)]
pub struct RulesetLine {
    /// The key of the ruleset.
    pub ruleset: String,
    /// Number of humans with a weight.
    pub humans: i64,
    /// Number of bots with a weight.
    pub bots: i64,
    /// When its last match ended; `None` without any.
    pub last: Option<Timestamp>,
    /// How close all its matches were.
    pub closeness: Closeness,
}

/// How close some matches were, as sums.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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

/// A mean, or `None` without anything to take it over.
fn mean(sum: f64, count: i64) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}

/// One week of a ruleset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeekOfBalance {
    /// The Monday on which it begins.
    pub begins: Timestamp,
    /// How close its matches were.
    pub closeness: Closeness,
}

/// One map of a ruleset.
#[derive(Clone, Debug, PartialEq)]
pub struct MapOfBalance {
    /// The name of the map.
    pub map: String,
    /// How close the matches on it were.
    pub closeness: Closeness,
}

/// Predictions of similar chances, from the side of the favourite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChanceStep {
    /// Number of matches with such a prediction.
    pub matches: i64,
    /// Mean predicted chance of the favourite.
    pub chance: f64,
    /// The share of matches that the favourite won; a draw is half a win.
    pub won: f64,
}
