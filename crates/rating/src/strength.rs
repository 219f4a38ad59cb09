//! A system's estimate of one player's strength, and its units.

use serde::{Deserialize, Serialize};

/// An estimate of a strength and its deviation, in the units of a [`Scale`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Strength {
    /// The mean of the estimate.
    pub mean: f64,
    /// The standard deviation of the estimate; 0 in systems that have none.
    pub deviation: f64,
}

impl Strength {
    /// The estimate for a player without games: mean 0, and the standard deviation between players.
    pub fn prior(deviation: f64) -> Self {
        Self {
            mean: 0.0,
            deviation,
        }
    }

    /// The estimate of a system that has no deviations.
    pub fn exact(mean: f64) -> Self {
        Self {
            mean,
            deviation: 0.0,
        }
    }

    /// The square of the deviation.
    pub fn variance(&self) -> f64 {
        self.deviation * self.deviation
    }

    /// This estimate, combined with independent evidence: the product of the two Gaussians.
    pub fn with(self, evidence: Strength) -> Self {
        let part = self.variance() / (self.variance() + evidence.variance());
        Self {
            mean: self.mean + part * (evidence.mean - self.mean),
            deviation: self.deviation * libm::sqrt(1.0 - part),
        }
    }

    /// This estimate one season later, when the player keeps the share `keep` of their distance
    /// from `newcomer`: one step of an Ornstein-Uhlenbeck process whose stationary distribution is
    /// `newcomer`.
    pub(crate) fn faded(self, keep: f64, newcomer: Strength) -> Self {
        let square = keep * keep;
        let variance = square * self.variance() + (1.0 - square) * newcomer.variance();
        Self {
            mean: newcomer.mean + keep * (self.mean - newcomer.mean),
            deviation: libm::sqrt(variance),
        }
    }
}

/// A player's strengths in the parts of a game that a system rates apart, in the units of a
/// [`Scale`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RoleStrengths {
    /// The strengths on side 0 and on side 1.
    pub sides: Option<[f64; 2]>,
    /// The strength as a commander.
    pub commander: Option<f64>,
}

/// The effects that all players of a system share, and the factors of one player on them.
pub type Effects = [f64; 3];

/// The factors of a player without a match: new, without experience and without a record.
pub(crate) const NEWCOMER_FACTORS: Effects = [1.0, 0.0, 0.0];

/// The strength of a player with this part of their own.
pub(crate) fn with_effects(own: f64, effects: Effects, factors: Effects) -> f64 {
    own + (effects[0] * factors[0] + effects[1] * factors[1] + effects[2] * factors[2])
}

/// What a player's strengths are computed from by `with_effects`. A game of others changes it less often than the
/// strengths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StrengthParts {
    /// The player's own part of the strength, and the deviation of the strength.
    pub own: Strength,
    /// The own parts of the strengths by role.
    pub roles: RoleStrengths,
    /// The factors on the shared effects.
    pub factors: Effects,
}

/// The units of a system's strengths, and their conversion to weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// Strengths are weights already: 0 to 100, with 50 for an average newcomer.
    Weights,
    /// A scale of the system's own, on which the strengths of a team add up.
    Strengths {
        /// The strength of an average newcomer.
        newcomer: f64,
        /// The unit of weights: a sixth of the strength from the weight 50 to the weight 100. It is a constant of
        /// the system, so that no other player's games move a weight. Its size is about three times what a
        /// newcomer gains in a first victory in four against four.
        unit: f64,
    },
}

impl Scale {
    /// The deviation of an uncertain prior in units of weights: about that of an unknown player.
    pub const UNCERTAIN: f64 = 0.9;
    /// The deviation of a sure prior in units of weights: about half of that of an unknown player. It counts more
    /// than the first ten matches and less than the first fifty.
    pub const SURE: f64 = 0.45;
    /// The unit of strengths that are weights: the results of a few games are this far apart by chance.
    const OF_WEIGHTS: f64 = 25.0;

    /// The strength of an average newcomer.
    pub fn newcomer(self) -> f64 {
        match self {
            Scale::Weights => 50.0,
            Scale::Strengths { newcomer, .. } => newcomer,
        }
    }

    /// The unit of strengths.
    pub fn unit(self) -> f64 {
        match self {
            Scale::Weights => Self::OF_WEIGHTS,
            Scale::Strengths { unit, .. } => unit,
        }
    }

    /// How many times as many earlier games a prior counts as an uncertain one, 1 to 4. The more games a share is
    /// taken of, the smaller is its variance, in proportion.
    pub(crate) fn times_uncertain(self, prior: Strength) -> f64 {
        let uncertain = Self::UNCERTAIN * self.unit();
        (uncertain * uncertain / prior.variance()).clamp(1.0, 4.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_surer_prior_counts_more_games() {
        let times = |deviation| Scale::Weights.times_uncertain(Strength::prior(deviation));
        assert_eq!(times(22.5), 1.0);
        assert_eq!(times(11.25), 4.0);
        assert_eq!((times(0.0), times(100.0)), (4.0, 1.0));
        assert!((times(15.0) - 2.25).abs() < 1e-12);
    }

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
