//! The settings of the system.

use serde::{Deserialize, Serialize};

use evenkeel_model::units::{Amount, PositiveAmount, ShareBelowOne};

/// The settings of the paper, on its scale around 25.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Mean strength of a newcomer.
    #[serde(default = "mean")]
    pub mean: f64,
    /// Standard deviation of a newcomer's strength, above 0.
    #[serde(default = "deviation")]
    pub deviation: f64,
    /// Standard deviation of a performance around the strength, above 0.
    #[serde(rename = "trueskill_beta")]
    pub beta: PositiveAmount,
    /// Standard deviation of the drift before each game, 0 or more.
    #[serde(rename = "trueskill_drift")]
    pub drift: Amount,
    /// The share of games that two equal players tie, 0 to below 1.
    #[serde(rename = "trueskill_ties")]
    pub ties: ShareBelowOne,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            mean: mean(),
            deviation: deviation(),
            beta: const { PositiveAmount::of(25.0 / 6.0) },
            drift: const { Amount::of(25.0 / 300.0) },
            ties: const { ShareBelowOne::of(0.1) },
        }
    }
}

/// The paper's mean; no key of the configuration changes it.
fn mean() -> f64 {
    25.0
}

/// The paper's deviation; no key of the configuration changes it.
fn deviation() -> f64 {
    25.0 / 3.0
}
