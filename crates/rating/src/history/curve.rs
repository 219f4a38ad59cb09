//! Converts strengths to points of weight and back.

use crate::{Effects, NEWCOMER_FACTORS, Scale, Strength, with_effects};
use evenkeel_model::{PointScale, UNITS};

/// The points of weight in a unit of strength.
pub(super) const POINTS_PER_UNIT: f64 = 50.0 / UNITS;
/// Between this and 100 less this a weight is linear in the strength.
const SOFT: f64 = 15.0;

/// Converts strengths to points: 50 + 50 · (x − x̄) / (6 units), where x̄ is the strength of the average seat with an own
/// part of 0. A unit is a constant of the rating system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Curve {
    /// Strengths that are weights already.
    Weights,
    Strengths(PointScale),
}

impl Curve {
    /// The curve of a rating system with these effects, whose average seat has these factors: those of a newcomer
    /// before any match.
    pub fn new(scale: Scale, effects: Effects, average: Option<Effects>) -> Self {
        match scale {
            Scale::Weights => Self::Weights,
            Scale::Strengths { newcomer, unit } => {
                let at = |factors| with_effects(0.0, effects, factors);
                let own = newcomer - at(NEWCOMER_FACTORS);
                let average = average.map_or(newcomer, |average| own + at(average));
                Self::Strengths(PointScale {
                    average,
                    newcomer,
                    unit,
                })
            }
        }
    }

    /// A strength in points: linear, without ends. What is no number is 50.
    pub fn points(self, strength: f64) -> f64 {
        let points = match self {
            Self::Weights => strength,
            Self::Strengths(scale) => {
                50.0 + POINTS_PER_UNIT * (strength - scale.average) / scale.unit
            }
        };
        if points.is_finite() { points } else { 50.0 }
    }

    /// The strength of a newcomer.
    pub fn newcomer(self) -> f64 {
        match self {
            Self::Weights => 50.0,
            Self::Strengths(scale) => scale.newcomer,
        }
    }

    /// The strength of this weight, minus a newcomer's. The weight is limited to 0 to 100.
    pub fn strength(self, weight: f64) -> f64 {
        let above = weight.clamp(0.0, 100.0) - 50.0;
        match self {
            Self::Weights => above,
            Self::Strengths(scale) => {
                scale.average - scale.newcomer + above / POINTS_PER_UNIT * scale.unit
            }
        }
    }

    /// The deviation of a strength in points.
    pub fn deviation(self, strength: Strength) -> f64 {
        match self {
            Self::Weights => strength.deviation,
            Self::Strengths(scale) => POINTS_PER_UNIT * strength.deviation / scale.unit,
        }
    }
}

/// Points with soft ends: as they are from 15 to 85, and nearer and nearer to 0 or 100 beyond, so that nobody stands at a
/// limit.
pub(super) fn soft(points: f64) -> f64 {
    let above = points - (100.0 - SOFT);
    let below = SOFT - points;
    if above > 0.0 {
        100.0 - SOFT * libm::exp(-above / SOFT)
    } else if below > 0.0 {
        SOFT * libm::exp(-below / SOFT)
    } else {
        points
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EFFECTS: Effects = [1.0, 0.5, 0.0];

    fn joint(average: Option<Effects>) -> Curve {
        let scale = Scale::Strengths {
            newcomer: 1.0,
            unit: 2.0,
        };
        Curve::new(scale, EFFECTS, average)
    }

    #[test]
    fn fifty_is_the_average_seat() {
        // A newcomer before any match, then somebody with half the newness and an experience of 2.
        assert_eq!(joint(None).points(1.0), 50.0);
        let later = joint(Some([0.5, 2.0, 0.3]));
        assert_eq!(later.points(1.5), 50.0);
        for (units, strength) in [(0.5, 2.5), (1.0, 3.5), (-1.0, -0.5)] {
            let by_hand = 50.0 + 50.0 * units / 6.0;
            assert!((later.points(strength) - by_hand).abs() < 1e-12);
        }
        let constant = Scale::Strengths {
            newcomer: 1_500.0,
            unit: 60.0,
        };
        let elo = Curve::new(constant, [0.0; 3], Some([0.0; 3]));
        assert_eq!(elo.points(1_500.0), 50.0);
        assert!((elo.points(1_560.0) - 50.0 - 50.0 / 6.0).abs() < 1e-12);
        assert_eq!(elo.points(f64::NAN), 50.0);
    }

    #[test]
    fn points_are_turned_back_into_their_strength() {
        for curve in [joint(None), joint(Some([0.2, 3.0, 0.0])), Curve::Weights] {
            for weight in [0.0, 1.0, 20.0, 50.0, 58.0, 75.0, 100.0] {
                let strength = curve.newcomer() + curve.strength(weight);
                assert!((curve.points(strength) - weight).abs() < 1e-9, "{weight}");
            }
            assert_eq!(curve.strength(101.0), curve.strength(100.0));
        }
        assert_eq!(Curve::Weights.points(81.25), 81.25);
    }

    #[test]
    fn the_ends_are_soft_and_the_middle_is_linear() {
        for points in [15.0, 37.5, 50.0, 85.0] {
            assert_eq!(soft(points), points);
        }
        assert!((soft(100.0) - (85.0 + 15.0 * (1.0 - (-1.0_f64).exp()))).abs() < 1e-12);
        assert!((soft(85.0 + 1e-9) - 85.0).abs() < 1e-8, "without a jump");
        for points in [90.0, 120.0, 300.0] {
            assert!((85.0..100.0).contains(&soft(points)), "{points}");
            assert!((soft(points) + soft(100.0 - points) - 100.0).abs() < 1e-12);
        }
    }
}
