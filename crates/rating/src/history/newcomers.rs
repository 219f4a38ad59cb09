//! Estimates a newcomer's strength from the statistics of their first game.
//!
//! One victory reveals little about one player among eight. Points, kills, deaths and captures
//! reveal more, if they matter in the game. A ridge regression learns this from the history: it
//! predicts the strength that a player has after ten games from their first game. Each case is
//! predicted before the regression learns from it. Newcomers start at the mean unless these
//! predictions have been clearly better than the mean.

use serde::{Deserialize, Serialize};

use crate::{Player, RatedGame, Strength};

/// Points, kills, deaths and captures per minute, each divided by the game's mean, minus 1.
pub(super) type Features = [f64; WIDTH];

const WIDTH: usize = 4;
/// The number of games after which a player's strength is used as the target of the regression.
pub(super) const SETTLED: u32 = 10;
/// The ridge penalty. It pulls each coefficient towards 0 as much as this many typical games
/// without any effect would.
const RIDGE: f64 = 5.0;
/// The number of cases from which on the regression is used.
const CASES: f64 = 30.0;
/// The largest squared error, relative to that of the mean, at which the regression is used.
const BETTER: f64 = 0.9;
/// The largest feature: everything from three times the mean on counts alike, so features are from
/// −1 to 2.
const MOST: f64 = 2.0;

/// The regression of one ruleset.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Newcomers {
    /// Σ x·xᵀ + ridge, and Σ x·(y minus the mean at the time).
    squares: [Features; WIDTH],
    products: Features,
    /// Σ y, and the number of cases.
    sum: f64,
    cases: f64,
    /// Sums of squared prediction errors before learning: of the regression, and of the mean.
    errors: f64,
    errors_of_mean: f64,
    /// Σ of the variances of the target strengths.
    doubt: f64,
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
            doubt: 0.0,
        }
    }
}

impl Newcomers {
    /// A player's features in a game; `None` if they have no tally in it.
    pub fn features(game: &RatedGame, player: Player) -> Option<Features> {
        let own = game.tallies.iter().find(|t| t.player == player)?;
        let mut features = [0.0; WIDTH];
        for (k, feature) in features.iter_mut().enumerate() {
            let rates = game.tallies.iter().map(|t| t.rates()[k]);
            let mean = rates.sum::<f64>() / game.tallies.len() as f64;
            if mean > 0.0 {
                *feature = (own.rates()[k] / mean - 1.0).clamp(-1.0, MOST);
            } // else all rates are 0, and so is the feature
        }
        Some(features)
    }

    /// Learns from a player with this first game and this strength after [`SETTLED`] games.
    pub fn learn(&mut self, features: &Features, strength: Strength) {
        let beyond = strength.mean - self.sum / self.cases.max(1.0);
        let error = beyond - self.beyond(features);
        self.errors += error * error;
        self.errors_of_mean += beyond * beyond;
        self.doubt += strength.variance();
        self.cases += 1.0;
        self.sum += strength.mean;
        for (i, x) in features.iter().enumerate() {
            self.products[i] += x * beyond;
            for (j, y) in features.iter().enumerate() {
                self.squares[i][j] += x * y;
            }
        }
    }

    /// Whether the regression has predicted clearly better than the mean, in enough cases.
    pub fn believed(&self) -> bool {
        self.cases >= CASES && self.errors < BETTER * self.errors_of_mean
    }

    /// The strength beyond a newcomer's that a first game indicates, as an observation to be
    /// combined with the player's estimate. `None` while the mean predicts as well.
    ///
    /// The variance of strengths is t, and r once the first game is known. The observation that
    /// reduces the variance of a Gaussian from t to r has precision 1/r − 1/t, and its value is
    /// t/(t − r) times the resulting mean. It carries no information if r = t.
    pub fn predict(&self, features: &Features) -> Option<Strength> {
        let left = (self.errors + self.doubt) / self.cases.max(1.0);
        let all = (self.errors_of_mean + self.doubt) / self.cases.max(1.0);
        self.believed().then(|| Strength {
            mean: self.beyond(features) * all / (all - left),
            deviation: libm::sqrt(left * all / (all - left)),
        })
    }

    /// The expected strength beyond the mean, by the regression.
    fn beyond(&self, features: &Features) -> f64 {
        let coefficients = solve(self.squares, self.products);
        coefficients.iter().zip(features).map(|(c, x)| c * x).sum()
    }
}

/// Solves a·x = b by Gaussian elimination; `a` is positive definite and needs no pivoting.
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
    use crate::Tally;
    use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

    fn learned(slope: f64) -> Newcomers {
        let mut random = ChaCha8Rng::seed_from_u64(2);
        let mut newcomers = Newcomers::default();
        for _ in 0..1_000 {
            let features = [(); WIDTH].map(|()| random.random_range(-1.0..1.0));
            let noise = random.random_range(-0.3..0.3);
            let strength = Strength {
                mean: 0.5 + slope * features[1] + noise,
                deviation: 0.1,
            };
            newcomers.learn(&features, strength);
        }
        newcomers
    }

    #[test]
    fn what_tells_something_moves_the_prior_to_what_is_expected() {
        let predicted = learned(0.8).predict(&[0.0, 0.5, 0.0, 0.0]).unwrap();
        // Strengths have variance 0.8²/3 + 0.6²/12 + 0.1²; the last two remain unexplained.
        let (all, left) = (0.64 / 3.0 + 0.03 + 0.01, 0.03 + 0.01);
        let part = all / (all + predicted.variance());
        assert!((part * predicted.mean - 0.4).abs() < 0.05, "{predicted:?}");
        assert!(((1.0 - part) * all - left).abs() < 0.01, "{predicted:?}");
    }

    #[test]
    fn what_tells_nothing_is_not_believed() {
        assert_eq!(learned(0.0).predict(&[0.0, 0.5, 0.0, 0.0]), None);
        assert_eq!(Newcomers::default().predict(&[1.0; WIDTH]), None);
        let mut silent = Newcomers::default(); // games without statistics
        for i in 0..1_000 {
            let strength = Strength {
                mean: f64::from(i % 7),
                deviation: 0.1,
            };
            silent.learn(&[0.0; WIDTH], strength);
        }
        assert_eq!(silent.predict(&[0.0; WIDTH]), None);
    }

    #[test]
    fn equations_are_solved() {
        let mut a = [[1.0; WIDTH]; WIDTH];
        (0..WIDTH).for_each(|i| a[i][i] = 2.0 + i as f64);
        let x = [1.0, -2.0, 3.0, 0.5];
        let b = a.map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum());
        let solved = solve(a, b);
        assert!(
            solved.iter().zip(x).all(|(s, x)| (s - x).abs() < 1e-12),
            "{solved:?}"
        );
    }

    #[test]
    fn features_are_relative_to_the_game() {
        let mut game = RatedGame::default();
        let tally = |player, points, kills, minutes| Tally {
            points: Some(points),
            kills,
            minutes,
            ..Tally::new(Player(player))
        };
        game.tallies = vec![tally(0, 3.0, 0.0, 1.0), tally(1, 2.0, 0.0, 2.0)];
        let features = |p| Newcomers::features(&game, Player(p));
        assert_eq!(features(0), Some([0.5, 0.0, 0.0, 0.0]));
        assert_eq!(features(1), Some([-0.5, 0.0, 0.0, 0.0]));
        assert_eq!(features(2), None);
    }
}
