//! What is counted about learning.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use super::learned::LearnedState;
use crate::{
    metrics::{Counter, Histogram, Registry, SECONDS},
    model::Timestamp,
    rating::history::BesideCoin,
};

/// What is counted about learning, and what the published weights were learned from.
#[derive(Debug)]
pub struct LearningMetrics {
    registry: Registry,
    folds: Histogram,
    failures: Counter,
    waiting: Mutex<UnlearnedSince>,
    learned: Mutex<LearnedFigures>,
    /// How far the predictions of each ruleset are from a coin.
    beside_coin: Mutex<BTreeMap<String, BesideCoin>>,
}

/// The milliseconds at which the oldest matches were noticed that the weights do not include.
#[derive(Debug, Default)]
struct UnlearnedSince {
    /// Of those that are learned from now.
    begun: Option<u64>,
    /// Of those that came later.
    new: Option<u64>,
}

/// What the published weights were learned from, and how good the predictions for these matches were.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LearnedFigures {
    /// Number of matches, rated or not.
    pub matches: i64,
    /// When the latest of them ended; `None` without any, and while the weights in the database are served.
    pub last_end: Option<Timestamp>,
    /// How many of them are rated.
    pub rated: u64,
    /// Number of matches with a predicted chance and a winner.
    pub predictions: u64,
    /// The mean log loss of these predictions; 0 if there are none.
    pub log_loss: f64,
    /// The mean log loss of the last predictions, at most 100 of them.
    pub recent_log_loss: f64,
    /// How far all predictions are from a coin; `None` while the weights in the database are served.
    pub beside_coin: Option<BesideCoin>,
}

impl Default for LearningMetrics {
    fn default() -> Self {
        let mut all = Registry::default();
        Self {
            folds: all.histogram(
                "evenkeel_fold_seconds",
                "Time to learn from new matches, with the time to write what was learned.",
                SECONDS,
            ),
            failures: all.counter(
                "evenkeel_fold_failures_total",
                "How often learning has failed; it is tried again.",
            ),
            registry: all,
            waiting: Mutex::default(),
            learned: Mutex::default(),
            beside_coin: Mutex::default(),
        }
    }
}

impl LearningMetrics {
    /// Adds the time of learning from new matches.
    pub(super) fn folded(&self, seconds: f64) {
        self.folds.observe(seconds);
    }

    /// Counts a failure.
    pub(super) fn failed(&self) {
        self.failures.count();
    }

    /// Notes that a match waits from this millisecond on, unless another one already does.
    pub(super) fn waits(&self, millis: u64) {
        self.waiting.lock().new.get_or_insert(millis);
    }

    /// Notes that what waits is learned from now. If that fails, it still waits.
    pub(super) fn begin(&self) {
        let mut waiting = self.waiting.lock();
        let new = waiting.new.take();
        waiting.begun = waiting.begun.or(new);
    }

    /// Notes that what has waited at the last [`begin`](Self::begin) waits no more.
    pub(super) fn caught_up(&self) {
        self.waiting.lock().begun = None;
    }

    /// Takes over what was learned.
    pub(super) fn publish(&self, learned: &LearnedState) {
        let at = &learned.at;
        let predictions = &at.predictions;
        *self.learned.lock() = LearnedFigures {
            matches: at.matches,
            last_end: at.cursor.end(),
            rated: at.rated,
            predictions: predictions.count(),
            log_loss: predictions.mean(),
            recent_log_loss: predictions.recent_mean(),
            beside_coin: Some(predictions.beside_coin()),
        };
        *self.beside_coin.lock() = predictions.beside_coin_by_ruleset();
    }

    /// Notes that the weights of the database are published, which were learned from `matches` matches.
    pub(super) fn publish_stored(&self, matches: i64) {
        *self.learned.lock() = LearnedFigures {
            matches,
            ..LearnedFigures::default()
        };
        self.beside_coin.lock().clear();
    }

    /// What the published weights were learned from.
    pub fn learned(&self) -> LearnedFigures {
        *self.learned.lock()
    }

    /// How far the predictions of a ruleset are from a coin; `None` without any matches of it, and while the weights
    /// in the database are served.
    pub fn beside_coin(&self, ruleset: &str) -> Option<BesideCoin> {
        self.beside_coin.lock().get(ruleset).copied()
    }

    /// How long the oldest match waits that the weights do not include, in seconds at this millisecond.
    pub fn lag(&self, millis: u64) -> f64 {
        let waiting = self.waiting.lock();
        let since = waiting.begun.or(waiting.new);
        since.map_or(0.0, |since| millis.saturating_sub(since) as f64 / 1_000.0)
    }

    /// How often learning has failed.
    pub fn failures(&self) -> u64 {
        self.failures.get()
    }

    /// Adds all metrics, at this millisecond of the clock, to those of a reading.
    pub fn gather(&self, all: &mut Registry, millis: u64) {
        all.extend(&self.registry);
        let learned = self.learned();
        if let Some(end) = learned.last_end {
            let last = all.gauge(
                "evenkeel_last_match_timestamp_seconds",
                "When the latest match ended that the weights were learned from, in seconds since 1970.",
            );
            last.set(end.0 as f64 / 1_000.0);
        }
        for (name, help, value) in [
            (
                "evenkeel_ingest_lag_seconds",
                "How long the oldest match waits that was noticed and that the weights do not include.",
                self.lag(millis),
            ),
            (
                "evenkeel_matches_learned",
                "Matches that the weights were learned from, rated or not.",
                learned.matches as f64,
            ),
            (
                "evenkeel_matches_rated",
                "Matches that the weights were learned from and that are rated.",
                learned.rated as f64,
            ),
            (
                "evenkeel_predictions",
                "Rated matches of two teams with a winner, whose chance was predicted before.",
                learned.predictions as f64,
            ),
            (
                "evenkeel_prediction_log_loss",
                "Mean log loss of all predictions; 0.693 is that of a coin.",
                learned.log_loss,
            ),
            (
                "evenkeel_prediction_recent_log_loss",
                "Mean log loss of the last 100 predictions.",
                learned.recent_log_loss,
            ),
        ] {
            all.gauge(name, help).set(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lag_is_that_of_the_first_match_that_waits() {
        let metrics = LearningMetrics::default();
        assert_eq!(metrics.lag(5_000), 0.0);
        metrics.waits(0);
        metrics.waits(4_000);
        assert_eq!(metrics.lag(5_000), 5.0);
        metrics.begin();
        metrics.waits(6_000);
        metrics.begin();
        assert_eq!(metrics.lag(7_000), 7.0, "the first fold has failed");
        metrics.waits(8_000);
        metrics.caught_up();
        assert_eq!(metrics.lag(9_000), 1.0, "this one came during the fold");
        metrics.begin();
        metrics.caught_up();
        assert_eq!(metrics.lag(9_500), 0.0);
    }
}
