//! The settings of ADVANTAGE.

use serde::{Deserialize, Serialize};

use evenkeel_model::units::{Factor, GrowthFactor, ShareExponent, UpToADay};

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
