//! Weights that whoever asks for teams states: what decides then. All entry points ask here.

use evenkeel_model::units::PlayerWeight;

/// What is known of the weight of one player on a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ListedWeight {
    /// Whoever asks has stated it.
    Stated(f64),
    /// It was learned from matches, or an operator has pinned it or given it to start with.
    Learned,
    /// Nothing is known.
    Unknown,
}

/// What decides the teams of a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decider {
    /// The sums of the stated weights. These are amounts on a scale of their own, from which no chance follows.
    Sums {
        /// What a player without a stated weight counts: the mean of the stated ones.
        unknown: f64,
    },
    /// What was learned. Stated weights are on the scale of learned ones, and unknown players are newcomers.
    Learned,
}

/// Why a stated weight is none; `at` is the place of the player on the list.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum StatedError {
    /// It is negative, infinite or NaN.
    #[error("must be a finite number of at least 0, not {weight}")]
    NoAmount {
        /// The place on the list, from 0.
        at: usize,
        /// The weight.
        weight: f64,
    },
    /// It is above the largest learned weight, and learned weights are on the same list.
    #[error("must be 0 to 100 beside learned weights, not {weight}")]
    OtherScale {
        /// The place on the list, from 0.
        at: usize,
        /// The weight.
        weight: f64,
    },
}

impl StatedError {
    /// The place of the player on the list, from 0.
    pub fn at(&self) -> usize {
        match self {
            Self::NoAmount { at, .. } | Self::OtherScale { at, .. } => *at,
        }
    }
}

impl Decider {
    /// What decides the teams of these players: the sums if some weights are stated and none is learned.
    ///
    /// # Errors
    /// Fails if a stated weight is no amount, or not on the scale of learned weights that are on the list.
    pub fn of(list: &[ListedWeight]) -> Result<Self, StatedError> {
        let mut stated = Vec::new();
        for (at, listed) in list.iter().enumerate() {
            if let ListedWeight::Stated(weight) = *listed {
                match weight.is_finite() && weight >= 0.0 {
                    true => stated.push((at, weight)),
                    false => return Err(StatedError::NoAmount { at, weight }),
                }
            }
        }
        if stated.is_empty() {
            return Ok(Self::Learned);
        }
        if !list.contains(&ListedWeight::Learned) {
            let weights = stated.into_iter().map(|(_, weight)| weight);
            return Ok(Self::Sums {
                unknown: mean(weights.collect()),
            });
        }
        let is_other = |&&(_, weight): &&(usize, f64)| PlayerWeight::try_from(weight).is_err();
        match stated.iter().find(is_other) {
            Some(&(at, weight)) => Err(StatedError::OtherScale { at, weight }),
            None => Ok(Self::Learned),
        }
    }
}

/// The mean of some numbers, whatever their order.
fn mean(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let count = numbers.len() as f64;
    let sum: f64 = numbers.iter().sum();
    match sum.is_finite() {
        true => sum / count,
        false => numbers.iter().map(|number| number / count).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::{ListedWeight::*, *};

    #[test]
    fn stated_weights_are_amounts_unless_learned_ones_are_beside_them() {
        let sums = |unknown| Ok(Decider::Sums { unknown });
        assert_eq!(Decider::of(&[]), Ok(Decider::Learned));
        assert_eq!(Decider::of(&[Unknown, Unknown]), Ok(Decider::Learned));
        assert_eq!(Decider::of(&[Learned, Unknown]), Ok(Decider::Learned));
        assert_eq!(Decider::of(&[Stated(1500.0), Stated(1700.0)]), sums(1600.0));
        let zero = Decider::of(&[Unknown, Stated(0.0), Stated(0.25)]);
        assert_eq!(zero, sums(0.125));
        assert_eq!(Decider::of(&[Stated(0.0)]), sums(0.0));
        assert_eq!(Decider::of(&[Stated(f64::MAX); 2]), sums(f64::MAX));
        let mixed = [Stated(100.0), Learned, Stated(0.0), Unknown];
        assert_eq!(Decider::of(&mixed), Ok(Decider::Learned));
    }

    #[test]
    fn what_is_no_weight_is_named_with_its_place() {
        for weight in [-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for other in [Unknown, Learned, Stated(1.0)] {
                let error = Decider::of(&[other, Stated(weight)]).unwrap_err();
                assert!(matches!(error, StatedError::NoAmount { at: 1, .. }));
            }
        }
        let error = Decider::of(&[Learned, Stated(100.0), Stated(100.5)]).unwrap_err();
        assert_eq!(error.at(), 2);
        let said = "must be 0 to 100 beside learned weights, not 100.5";
        assert_eq!(error.to_string(), said);
    }
}
