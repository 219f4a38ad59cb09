//! The fold of finished matches into weights, and the evaluation of rating systems on them.
//!
//! [`Fold`] takes match records in (end time, fingerprint) order, one at a time. It rules on
//! whether each match is rated, and if not, why ([`Unrated`]); passes rated matches to the rating
//! system of their ruleset; and keeps the weights of humans and bots apart. It is the only path
//! from matches to weights: rebuilding from all stored matches and learning from each as it arrives
//! run the same code and produce the same bits. The fold refuses a match that arrives late
//! ([`Late`]); the caller then folds all matches again.
//!
//! [`evaluate`] runs any of the systems over a history and predicts each match before it learns
//! from it. [`fresh`] does so for a history that is begun anew again and again.
//!
//! This room does no I/O and reads no clock. Entry points: [`Fold::new`] and [`evaluate`].

mod balance;
mod digest;
mod evaluate;
mod fold;
mod levels;
mod metrics;
mod newcomers;
mod people;
mod rating_pool;
mod ruling;
mod seats;
mod suspects;
mod visits;
mod weight;

use evenkeel_model::{Timestamp, units::Share};
use serde::{Deserialize, Serialize};

use crate::{self as rating, divisions};
use digest::Digest;
use levels::Levels;
use newcomers::{Starts, StartsByNumber};
use people::People;
use rating_pool::RatingPool;

pub use balance::{
    BalanceOfRuleset, BalanceStatistics, ChanceStep, Closeness, GapsByCauses, MapOfBalance,
    RulesetTotals, WeekOfBalance, begin_of_week,
};
pub use evaluate::{
    Evaluation, EvaluationPlan, Evaluator, FIRST as FIRST_MATCHES, FirstMatches, FreshLine,
    FreshPlayers, Prediction, Subset, SystemLine, evaluate, fresh, steps as fresh_steps,
};
pub use fold::{BadState, Fold, Late};
pub use levels::Level;
pub use metrics::{
    BesideCoin, Bin, CONFIDENCE, FEWEST as FEWEST_COMPARED, Forecast, Gains, Interval, Metrics,
    SystemComparison, interval,
};
pub use newcomers::PART as PART_FROM_ELSEWHERE;
pub use rating_pool::Spread;
pub use ruling::{Played, Rules, Ruling, Unrated, unrated};
pub use suspects::{Suspect, THRESHOLD as SUSPECT_THRESHOLD};
pub use visits::{AtOnce, AtOnceFinder};
pub use weight::{LineupReading, Weight};

/// How matches become weights. Plain data; the caller checks the ranges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The rating system and its settings.
    #[serde(flatten)]
    pub rating: rating::Settings,
    /// Which matches are rated.
    #[serde(flatten)]
    pub rules: Rules,
    /// Whether the team number stands for a side of the map, which may be easier to win on. Set it
    /// to false if games number their teams at random.
    pub sides: bool,
    /// The instants at which seasons begin.
    #[serde(skip_deserializing)]
    pub seasons: Vec<Timestamp>,
    /// The share of their distance from a newcomer that each player keeps at a new season, 0 to 1.
    #[serde(skip_deserializing, default = "season_keeps")]
    pub season_keeps: Share,
    /// The divisions of the players of a ruleset.
    #[serde(skip_deserializing)]
    pub divisions: divisions::Settings,
}

impl Default for Settings {
    fn default() -> Self {
        rating::Settings::default().into()
    }
}

impl From<rating::Settings> for Settings {
    fn from(rating: rating::Settings) -> Self {
        Self {
            rating,
            rules: Rules::default(),
            sides: true,
            seasons: Vec::new(),
            season_keeps: season_keeps(),
            divisions: divisions::Settings::default(),
        }
    }
}

/// With 0.8, a regular player stays near the top after a new season, but ten games can change that.
fn season_keeps() -> Share {
    const { Share::of(0.8) }
}

/// The seasons that have not begun yet.
#[derive(Clone, Debug)]
struct Season {
    /// In descending order, so that the next one is last.
    starts: Vec<Timestamp>,
    keep: f64,
}

impl Season {
    fn new(settings: &Settings) -> Self {
        let mut starts = settings.seasons.clone();
        starts.sort_unstable_by(|a, b| b.cmp(a));
        Self {
            starts,
            keep: settings.season_keeps.get(),
        }
    }

    /// When the next season begins; `None` if no more are configured.
    fn next(&self) -> Option<Timestamp> {
        self.starts.last().copied()
    }

    /// The share that players keep, once for each season that began after the `now` of the previous
    /// call, up to and including this `now`.
    fn begun_by(&mut self, now: Timestamp) -> Vec<f64> {
        let still = self.starts.partition_point(|start| *start > now);
        let begun = self.starts.split_off(still);
        vec![self.keep; begun.len()]
    }
}

#[cfg(test)]
mod tests {
    use evenkeel_model::units::Share;

    use super::*;

    #[test]
    fn each_season_begins_once() {
        let settings = Settings {
            seasons: vec![Timestamp(30), Timestamp(10), Timestamp(20)],
            season_keeps: Share::of(0.5),
            ..Settings::default()
        };
        let mut season = Season::new(&settings);
        assert_eq!(season.next(), Some(Timestamp(10)));
        assert!(season.begun_by(Timestamp(9)).is_empty());
        assert_eq!(season.begun_by(Timestamp(20)), [0.5, 0.5]);
        assert!(season.begun_by(Timestamp(29)).is_empty());
        assert_eq!(season.begun_by(Timestamp(99)), [0.5]);
        assert_eq!(season.next(), None);
    }
}
