//! A newcomer's starting value from how their first game went.
//!
//! One victory says little of one player among eight; points, kills, deaths and captures say more,
//! if they mean anything in this game. Whether they do is learnt from everyone's past: a ridge
//! regression from somebody's first game to the strength they turned out to have ten games later. Each
//! case is predicted before it is learnt, and as long as these predictions are no better than the
//! mean, nobody starts anywhere but at the mean.

use crate::rating::{Game, Player, Strength};

/// Points, kills, deaths and captures per minute, each as a share of the game's mean less 1; and 1.
pub(super) type Features = [f64; WIDTH];

const WIDTH: usize = 5;
/// Games after which somebody's strength is taken for what they turned out to be.
pub(super) const SETTLED: u32 = 10;
/// Ridge: as if each coefficient had been seen to be 0 in so many games of typical features.
const RIDGE: f64 = 5.0;
/// Cases before the regression is believed, and the most it may err beside the mean.
const CASES: f64 = 30.0;
const BETTER: f64 = 0.9;
/// Three times the mean tells no more than two: features are from −1 to 2.
const MOST: f64 = 2.0;

/// The regression of one ruleset.
#[derive(Clone, Debug)]
pub(super) struct Newcomers {
    /// Σ x·xᵀ + ridge, Σ x·y and Σ y.
    squares: [Features; WIDTH],
    products: Features,
    sum: f64,
    cases: f64,
    /// Squared errors of predictions before learning: by the regression, and by the mean.
    errors: f64,
    errors_of_mean: f64,
}

impl Default for Newcomers {
    fn default() -> Self {
        let mut squares = [[0.0; WIDTH]; WIDTH];
        for (i, row) in squares.iter_mut().enumerate() {
            row[i] = RIDGE;
        }
        Self {
            squares,
            products: [0.0; WIDTH],
            sum: 0.0,
            cases: 0.0,
            errors: 0.0,
            errors_of_mean: 0.0,
        }
    }
}

impl Newcomers {
    /// How a player's game went beside that of the others.
    pub fn features(game: &Game, player: Player) -> Option<Features> {
        let own = game.tallies.iter().find(|t| t.player == player)?;
        let mut features = [1.0; WIDTH];
        for (k, feature) in features.iter_mut().take(WIDTH - 1).enumerate() {
            let rates = game.tallies.iter().map(|t| t.rates()[k]);
            let mean = rates.sum::<f64>() / game.tallies.len() as f64;
            let relative = own.rates()[k] / mean - 1.0;
            // A game without any such thing says nothing by it.
            *feature = if mean > 0.0 {
                relative.clamp(-1.0, MOST)
            } else {
                0.0
            };
        }
        Some(features)
    }

    /// Learns what somebody with this first game turned out to be, relative to a newcomer.
    pub fn learn(&mut self, features: &Features, strength: f64) {
        let error = strength - self.value(features);
        let error_of_mean = strength - self.sum / self.cases.max(1.0);
        self.errors += error * error;
        self.errors_of_mean += error_of_mean * error_of_mean;
        self.cases += 1.0;
        self.sum += strength;
        for (i, x) in features.iter().enumerate() {
            self.products[i] += x * strength;
            for (j, y) in features.iter().enumerate() {
                self.squares[i][j] += x * y;
            }
        }
    }

    /// Whether the regression has been better than the mean.
    pub fn believed(&self) -> bool {
        self.cases >= CASES && self.errors < BETTER * self.errors_of_mean
    }

    /// What somebody with this first game is likely to turn out to be, relative to a newcomer. `None`
    /// as long as that is nothing better than the mean.
    pub fn predict(&self, features: &Features) -> Option<Strength> {
        self.believed().then(|| Strength {
            mean: self.value(features),
            deviation: libm::sqrt(self.errors / self.cases),
        })
    }

    fn value(&self, features: &Features) -> f64 {
        let coefficients = solve(self.squares, self.products);
        coefficients.iter().zip(features).map(|(c, x)| c * x).sum()
    }
}

/// Gaussian elimination; a positive definite matrix needs no pivoting.
fn solve(mut a: [Features; WIDTH], mut b: Features) -> Features {
    for k in 0..WIDTH {
        let (pivot, known) = (a[k], b[k]);
        for (row, right) in a.iter_mut().zip(&mut b).skip(k + 1) {
            let factor = row[k] / pivot[k];
            for (cell, above) in row.iter_mut().zip(pivot) {
                *cell -= factor * above;
            }
            *right -= factor * known;
        }
    }
    for k in (0..WIDTH).rev() {
        let rest: f64 = (k + 1..WIDTH).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - rest) / a[k][k];
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rating::Tally;
    use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

    fn learnt(slope: f64) -> Newcomers {
        let mut random = ChaCha8Rng::seed_from_u64(2);
        let mut newcomers = Newcomers::default();
        for _ in 0..300 {
            let mut features = [(); WIDTH].map(|()| random.random_range(-1.0..1.0));
            features[WIDTH - 1] = 1.0;
            let noise = random.random_range(-0.3..0.3);
            newcomers.learn(&features, 0.5 + slope * features[1] + noise);
        }
        newcomers
    }

    #[test]
    fn what_tells_something_is_believed() {
        let strength = learnt(0.8).predict(&[0.0, 0.5, 0.0, 0.0, 1.0]).unwrap();
        assert!((strength.mean - 0.9).abs() < 0.1, "{strength:?}");
        // The noise's own 0.17, and the errors made before the slope was known.
        assert!((strength.deviation - 0.2).abs() < 0.05, "{strength:?}");
    }

    #[test]
    fn what_tells_nothing_is_not() {
        assert_eq!(learnt(0.0).predict(&[0.0, 0.5, 0.0, 0.0, 1.0]), None);
        assert_eq!(Newcomers::default().predict(&[1.0; WIDTH]), None);
    }

    #[test]
    fn equations_are_solved() {
        let mut a = [[1.0; WIDTH]; WIDTH];
        (0..WIDTH).for_each(|i| a[i][i] = 2.0 + i as f64);
        let x = [1.0, -2.0, 3.0, 0.5, 4.0];
        let b = a.map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum());
        let solved = solve(a, b);
        assert!(
            solved.iter().zip(x).all(|(s, x)| (s - x).abs() < 1e-12),
            "{solved:?}"
        );
    }

    #[test]
    fn features_are_relative_to_the_game() {
        let mut game = Game::default();
        let tally = |player, points, kills, minutes| Tally {
            points: Some(points),
            kills,
            minutes,
            ..Tally::new(Player(player))
        };
        game.tallies = vec![tally(0, 3.0, 0.0, 1.0), tally(1, 2.0, 0.0, 2.0)];
        let features = |p| Newcomers::features(&game, Player(p));
        assert_eq!(features(0), Some([0.5, 0.0, 0.0, 0.0, 1.0]));
        assert_eq!(features(1), Some([-0.5, 0.0, 0.0, 0.0, 1.0]));
        assert_eq!(features(2), None);
    }
}
