//! The Gamma prior on skills.

use serde::{Deserialize, Serialize};

use crate::Strength;
use evenkeel_model::units::{GammaShape, PositiveAmount};

/// The prior on skills. Only the ratio of skills to the noise of a game matters, so both keys
/// change how far apart the skills of players are expected to be before they have played.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// k, the shape of the Gamma prior. A larger value makes very low skills rarer.
    #[serde(rename = "hive_k")]
    pub shape: GammaShape,
    /// θ, the scale of the Gamma prior. A smaller value makes very high skills rarer.
    #[serde(rename = "hive_theta")]
    pub scale: PositiveAmount,
}

/// The mode is (k − 1)θ = 6; one player in six is above about 12.
impl Default for Settings {
    fn default() -> Self {
        Self {
            shape: const { GammaShape::of(4.0) },
            scale: const { PositiveAmount::of(2.0) },
        }
    }
}

impl Settings {
    /// The prior of a player without games.
    pub(super) fn prior(&self) -> Gamma {
        Gamma {
            excess: self.shape.get() - 1.0,
            rate: 1.0 / self.scale.get(),
        }
    }
}

/// A Gamma distribution of a skill. Its logarithm is excess · ln(s) − rate · s, and a constant.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Gamma {
    /// k − 1, above 0.
    pub(super) excess: f64,
    /// 1/θ, above 0.
    pub(super) rate: f64,
}

impl Gamma {
    /// The distribution with this mode, above 0, and this variance there.
    pub(super) fn around(Strength { mean, deviation }: Strength) -> Self {
        let rate = mean / (deviation * deviation);
        Self {
            excess: mean * rate,
            rate,
        }
    }

    /// The most likely skill.
    pub(super) fn mode(self) -> f64 {
        self.excess / self.rate
    }

    /// The mode, with the deviation of the Gaussian that has the same curvature there.
    pub(super) fn strength(self) -> Strength {
        Strength {
            mean: self.mode(),
            deviation: libm::sqrt(self.excess) / self.rate,
        }
    }
}
