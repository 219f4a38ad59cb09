//! Converts strengths to the weights that people read.

use crate::{
    domain::UNITS,
    rating::{Scale, Strength},
};

/// The points of weight in a unit of strength.
pub(super) const POINTS_PER_UNIT: f64 = 50.0 / UNITS;

/// Converts strengths to weights: weight = 50 + 50 · x / (6 units), where x is the strength minus a newcomer's; at
/// least 0 and at most 100.
///
/// It is linear, so that the sums of weights order splits as the sums of strengths do: a mutator may do its own
/// partition with weights. A unit is a constant of the rating system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Curve {
    /// Strengths that are weights already.
    Weights,
    Strengths {
        newcomer: f64,
        unit: f64,
    },
}

impl Curve {
    pub fn of(scale: Scale) -> Self {
        match scale {
            Scale::Weights => Self::Weights,
            Scale::Strengths { newcomer, unit, .. } => Self::Strengths { newcomer, unit },
        }
    }

    pub fn weight(self, strength: f64) -> f64 {
        let weight = match self {
            Self::Weights => strength,
            Self::Strengths { newcomer, unit } => {
                50.0 + POINTS_PER_UNIT * (strength - newcomer) / unit
            }
        };
        if weight.is_finite() {
            weight.clamp(0.0, 100.0)
        } else {
            50.0
        }
    }

    /// The strength of a newcomer.
    pub fn newcomer(self) -> f64 {
        match self {
            Self::Weights => 50.0,
            Self::Strengths { newcomer, .. } => newcomer,
        }
    }

    /// The strength that has this weight, minus a newcomer's. The weight is limited to 0 to 100.
    pub fn strength(self, weight: f64) -> f64 {
        let above = weight.clamp(0.0, 100.0) - 50.0;
        match self {
            Self::Weights => above,
            Self::Strengths { unit, .. } => above / POINTS_PER_UNIT * unit,
        }
    }

    /// The deviation of a weight that is not limited.
    pub fn deviation(self, strength: Strength) -> f64 {
        match self {
            Self::Weights => strength.deviation,
            Self::Strengths { unit, .. } => POINTS_PER_UNIT * strength.deviation / unit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(newcomer: f64) -> Scale {
        Scale::Strengths {
            newcomer,
            unit: 2.0,
        }
    }

    #[test]
    fn weights_grow_with_strength_from_fifty_and_stay_in_range() {
        let curve = Curve::of(scale(1.0));
        let weights = [1.0, 1.5, 2.0, 3.0, 5.0, -1.0].map(|strength| curve.weight(strength));
        let by_hand = [0.0, 0.25, 0.5, 1.0, 2.0, -1.0].map(|units| 50.0 + 50.0 * units / 6.0);
        for (weight, by_hand) in weights.iter().zip(by_hand) {
            assert!((weight - by_hand).abs() < 1e-12, "{weight} {by_hand}");
        }
        assert_eq!(curve.weight(1e300), 100.0);
        assert_eq!(curve.weight(-1e300), 0.0);
        assert_eq!(curve.weight(f64::NAN), 50.0);
        let known = Strength {
            mean: 1.0,
            deviation: 2.0,
        };
        assert!((curve.deviation(known) - 50.0 / 6.0).abs() < 1e-12);
    }

    #[test]
    fn a_weight_is_turned_back_into_its_strength() {
        for scale in [scale(1.0), Scale::Weights] {
            let curve = Curve::of(scale);
            for weight in [0.0, 1.0, 20.0, 50.0, 58.0, 75.0, 100.0] {
                let strength = curve.newcomer() + curve.strength(weight);
                assert!((curve.weight(strength) - weight).abs() < 1e-9, "{weight}");
            }
            assert_eq!(curve.strength(101.0), curve.strength(100.0));
            assert_eq!(curve.strength(0.0), -curve.strength(100.0));
        }
        assert!((Curve::of(scale(1.0)).strength(75.0) - 6.0).abs() < 1e-12);
    }

    #[test]
    fn weights_of_a_system_that_has_them_stay() {
        assert_eq!(Curve::of(Scale::Weights).weight(81.25), 81.25);
    }
}
