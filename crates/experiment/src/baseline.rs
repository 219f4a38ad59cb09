//! What was to be expected of a match, whichever arm it belongs to: a prediction from what was known before its arm was
//! drawn, learned from earlier matches only.
//!
//! It is a ridge regression. A good one makes outcomes less surprising, and so the interval narrower. A bad one costs
//! matches, but never makes the interval wrong, see [`sequence`](crate::sequence).

use crate::{Arm, ArmShare, ExperimentError};

/// The most features of a match.
pub const MAX_FEATURES: usize = 16;
/// The features and the mean.
const WIDTH: usize = MAX_FEATURES + 1;
/// The ridge penalty. It pulls the coefficient of each feature towards 0 as much as this many matches without any effect.
const RIDGE: f64 = 5.0;
/// As if one match with the outcome ½ had been seen before the first one.
const RIDGE_OF_MEAN: f64 = 1.0;
/// Features are about from −1 to 1. A larger one than this counts as this, so that no single match decides.
const MOST: f64 = 4.0;

/// A match as the regression sees it: 1 for the mean, then the features, then zeros.
type FeatureRow = [f64; WIDTH];

/// Predicts outcomes from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Baseline {
    features: usize,
    /// Σ w·x·xᵀ + ridge, and Σ w·x·(y − ½). Nothing else was learned, so a match costs the same after any number of others.
    squares: [FeatureRow; WIDTH],
    products: FeatureRow,
}

impl Baseline {
    /// A baseline that expects ½. Without features it learns the mean.
    ///
    /// # Errors
    /// Fails with more than [`MAX_FEATURES`] features.
    pub fn new(features: usize) -> Result<Self, ExperimentError> {
        if features > MAX_FEATURES {
            return Err(ExperimentError::TooManyFeatures(features));
        }
        let mut squares = [[0.0; WIDTH]; WIDTH];
        for (i, row) in squares.iter_mut().enumerate() {
            row[i] = if i == 0 { RIDGE_OF_MEAN } else { RIDGE };
        }
        Ok(Self {
            features,
            squares,
            products: [0.0; WIDTH],
        })
    }

    /// The expected outcome of a match, from 0 to 1.
    ///
    /// # Errors
    /// Fails if the number of features is another one, or a feature is not a number.
    pub fn predict(&self, features: &[f64]) -> Result<f64, ExperimentError> {
        let row = self.row(features)?;
        let width = self.features + 1;
        let coefficients = solve(self.squares, self.products, width);
        let beyond: f64 = coefficients.iter().zip(row).map(|(c, x)| c * x).sum();
        Ok((0.5 + beyond).clamp(0.0, 1.0))
    }

    /// Learns from a match.
    ///
    /// The best baseline is the mean of both arms' expected outcomes, each with the share of the *other* arm: an outcome of the
    /// rarer arm is divided by a smaller share, so its own prediction matters more. Weights of (1 − share) / share per match
    /// lead there, and add up to 1 per match.
    ///
    /// # Errors
    /// Fails as [`predict`](Self::predict), or if the outcome is not in 0 to 1. Then nothing is learned.
    pub fn learn(
        &mut self,
        features: &[f64],
        arm: Arm,
        share: ArmShare,
        outcome: f64,
    ) -> Result<(), ExperimentError> {
        let row = self.row(features)?;
        let outcome = crate::checked(outcome)?;
        let weight = (1.0 - share.of(arm)) / share.of(arm);
        let width = self.features + 1;
        for (i, x) in row.iter().enumerate().take(width) {
            self.products[i] += weight * x * (outcome - 0.5);
            for (j, y) in row.iter().enumerate().take(width) {
                self.squares[i][j] += weight * x * y;
            }
        }
        Ok(())
    }

    fn row(&self, features: &[f64]) -> Result<FeatureRow, ExperimentError> {
        if features.len() != self.features {
            let (given, expected) = (features.len(), self.features);
            return Err(ExperimentError::Features { given, expected });
        }
        let mut row = [0.0; WIDTH];
        row[0] = 1.0;
        for (cell, feature) in row[1..].iter_mut().zip(features) {
            if !feature.is_finite() {
                return Err(ExperimentError::NotFinite(*feature));
            }
            *cell = feature.clamp(-MOST, MOST);
        }
        Ok(row)
    }
}

/// Solves a·x = b for the first `width` rows by Gaussian elimination in O(width³); the ridge keeps `a` positive definite, so
/// it needs no pivoting.
fn solve(mut a: [FeatureRow; WIDTH], mut b: FeatureRow, width: usize) -> FeatureRow {
    for k in 0..width {
        let (pivot, known) = (a[k], b[k]);
        for i in k + 1..width {
            let factor = a[i][k] / pivot[k];
            for (cell, above) in a[i][k..width].iter_mut().zip(&pivot[k..width]) {
                *cell -= factor * above;
            }
            b[i] -= factor * known;
        }
    }
    for k in (0..width).rev() {
        let rest: f64 = (k + 1..width).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - rest) / a[k][k];
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;

    const HALF: ArmShare = ArmShare::HALF;

    #[test]
    fn without_features_it_is_the_mean_of_earlier_outcomes() {
        let mut baseline = Baseline::new(0).unwrap();
        assert_eq!(baseline.predict(&[]).unwrap(), 0.5);
        for outcome in [1.0, 0.0, 0.0] {
            baseline.learn(&[], Arm::A, HALF, outcome).unwrap();
        }
        assert!((baseline.predict(&[]).unwrap() - 1.5 / 4.0).abs() < 1e-12);
    }

    #[test]
    fn a_feature_that_matters_is_found_and_its_prediction_clipped() {
        let mut baseline = Baseline::new(MAX_FEATURES).unwrap();
        let features = |n: usize| -> [f64; MAX_FEATURES] {
            std::array::from_fn(|k| ((n * (k + 3) * 7919) % 101) as f64 / 50.0 - 1.0)
        };
        let truth = |x: &[f64]| (0.3 + 0.25 * x[2] - 0.1 * x[9]).clamp(0.0, 1.0);
        for n in 0..2_000 {
            let x = features(n);
            baseline.learn(&x, Arm::B, HALF, truth(&x)).unwrap();
        }
        for n in 2_000..2_100 {
            let x = features(n);
            let error = baseline.predict(&x).unwrap() - truth(&x);
            assert!(error.abs() < 0.05, "{n}: {error}");
        }
        let mut far = [0.0; MAX_FEATURES];
        far[2] = 1e300;
        assert_eq!(baseline.predict(&far).unwrap(), 1.0);
        far[2] = -1e300;
        assert_eq!(baseline.predict(&far).unwrap(), 0.0);
        // One such match does not make the others worthless.
        baseline.learn(&far, Arm::B, HALF, 1.0).unwrap();
        let x = features(2_100);
        assert!((baseline.predict(&x).unwrap() - truth(&x)).abs() < 0.1);
    }

    /// With a fifth of games in B, the best baseline is 0.8 · mean of B + 0.2 · mean of A.
    #[test]
    fn the_rarer_arm_counts_more() {
        let share = ArmShare::new(0.2).unwrap();
        let mut baseline = Baseline::new(0).unwrap();
        for n in 0..10_000 {
            let (arm, outcome) = if n % 5 == 0 {
                (Arm::B, 0.1)
            } else {
                (Arm::A, 0.6)
            };
            baseline.learn(&[], arm, share, outcome).unwrap();
        }
        assert!((baseline.predict(&[]).unwrap() - 0.2).abs() < 1e-3);
    }

    #[test]
    fn what_is_no_number_is_refused_and_changes_nothing() {
        assert!(Baseline::new(MAX_FEATURES + 1).is_err());
        let mut baseline = Baseline::new(2).unwrap();
        let before = baseline.clone();
        for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert!(baseline.predict(&[0.0, wrong]).is_err());
            assert!(baseline.learn(&[wrong, 0.0], Arm::A, HALF, 0.5).is_err());
            assert!(baseline.learn(&[0.0, 0.0], Arm::A, HALF, wrong).is_err());
        }
        assert!(baseline.predict(&[0.0]).is_err());
        assert!(baseline.learn(&[0.0; 3], Arm::A, HALF, 0.5).is_err());
        assert!(baseline.learn(&[0.0; 2], Arm::A, HALF, 1.01).is_err());
        assert_eq!(baseline, before);
    }
}
