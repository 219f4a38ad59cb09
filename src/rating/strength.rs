//! What a system knows of one player, and in which units.

use serde::{Deserialize, Serialize};

/// A strength and how sure it is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Strength {
    /// The mean of what is believed.
    pub mean: f64,
    /// Its standard deviation; 0 in systems that keep none.
    pub deviation: f64,
}

impl Strength {
    /// Nothing known but how much players differ.
    pub fn prior(deviation: f64) -> Self {
        Self {
            mean: 0.0,
            deviation,
        }
    }

    /// Its square.
    pub fn variance(&self) -> f64 {
        self.deviation * self.deviation
    }

    /// This strength a season later, when `keep` of what sets it apart from `newcomer` is kept: the
    /// step of an Ornstein-Uhlenbeck process that tends to what is believed of a newcomer.
    pub fn faded(self, keep: f64, newcomer: Strength) -> Self {
        let square = keep * keep;
        let variance = square * self.variance() + (1.0 - square) * newcomer.variance();
        Self {
            mean: newcomer.mean + keep * (self.mean - newcomer.mean),
            deviation: libm::sqrt(variance),
        }
    }
}

/// The units of a system's strengths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// They are weights already: 0 to 100, with 50 for an average newcomer.
    Weights,
    /// A scale of the system's own, in which strengths add up.
    Strengths {
        /// The strength of an average newcomer.
        newcomer: f64,
        /// How far above a newcomer the weight is 75, half of the way to 100. A constant of the
        /// system, so that no other player's games move a weight: about three times what four
        /// newcomers gain who beat four.
        halfway: f64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seasons_tend_to_a_newcomer() {
        let newcomer = Strength {
            mean: 25.0,
            deviation: 8.0,
        };
        let veteran = Strength {
            mean: 35.0,
            deviation: 1.0,
        };
        let later = veteran.faded(0.8, newcomer);
        assert!((later.mean - 33.0).abs() < 1e-12);
        assert!((later.variance() - (0.64 + 0.36 * 64.0)).abs() < 1e-12);
        assert_eq!(veteran.faded(1.0, newcomer), veteran);
        assert_eq!(veteran.faded(0.0, newcomer), newcomer);
    }
}
