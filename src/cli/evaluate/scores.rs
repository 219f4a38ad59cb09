//! The measures of one rating system over the matches of a history.

use serde::Serialize;

use super::BASE_RATE;
use crate::{
    rating::SystemName,
    rating::history::{Comparison, Evaluation, Line},
};

/// The measures of one system, or of the base rate.
#[derive(Debug, Default, Serialize)]
pub(super) struct SystemScores {
    /// A system's name, or `base rate`, which predicts the share of earlier matches that team 0 won.
    pub(super) system: &'static str,
    pub(super) matches: usize,
    pub(super) accuracy: f64,
    pub(super) log_loss: f64,
    pub(super) brier: f64,
    pub(super) calibration_error: f64,
    /// The 95 % bootstrap interval of the log loss minus that of the system compared with.
    pub(super) against: Option<[f64; 2]>,
    /// `better`, `worse` or `level` beside the system compared with. `None` for that system, and for too
    /// few matches.
    #[serde(serialize_with = "as_word")]
    pub(super) comparison: Option<Comparison>,
    pub(super) micros_per_match: Option<f64>,
    /// For each bin of predicted chances: their mean, how often team 0 won, and the number of matches.
    pub(super) calibration: Vec<(f64, f64, u32)>,
}

impl SystemScores {
    /// Whether every predicted chance is one half.
    pub(super) fn is_coin(&self) -> bool {
        let even = |&(chance, _, _): &(f64, f64, u32)| chance == 0.5;
        self.matches > 0 && self.accuracy == 0.5 && self.calibration.iter().all(even)
    }

    /// The measures of a line of a table, beside the system `against`.
    pub(super) fn new(line: &Line, result: &Evaluation, against: SystemName) -> Self {
        let position = line
            .system
            .and_then(|s| result.systems.iter().position(|own| *own == s));
        let seconds = position.and_then(|position| result.seconds.get(position));
        let metrics = &line.metrics;
        let bins = metrics.bins.iter().filter(|bin| bin.count > 0);
        Self {
            system: line.system.map_or(BASE_RATE, SystemName::as_str),
            matches: metrics.matches,
            accuracy: metrics.accuracy,
            log_loss: metrics.log_loss,
            brier: metrics.brier,
            calibration_error: metrics.calibration_error,
            against: line
                .against
                .as_ref()
                .map(|interval| [interval.low, interval.high]),
            comparison: line.comparison().filter(|_| line.system != Some(against)),
            micros_per_match: seconds.map(|s| s * 1e6 / result.matches.max(1) as f64),
            calibration: bins
                .map(|bin| (bin.chance, bin.frequency, bin.count))
                .collect(),
        }
    }
}

/// Serialises a comparison as its word, or as null.
fn as_word<S: serde::Serializer>(
    comparison: &Option<Comparison>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    comparison.map(Comparison::as_str).serialize(serializer)
}
