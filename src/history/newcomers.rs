//! A newcomer's starting value from how their first game went.
//!
//! One victory says little of one player among eight; points, kills, deaths and captures say more,
//! if they mean anything in this game. Whether they do is learnt from everyone's past: a ridge
//! regression from somebody's first game to the strength they turned out to have ten games later. Each
//! case is predicted before it is learnt, and as long as these predictions are no better than the
//! mean, nobody starts anywhere but at the mean.

use serde::{Deserialize, Serialize};

use crate::rating::{Game, Player, Strength};

/// Points, kills, deaths and captures per minute, each as a share of the game's mean less 1.
pub(super) type Features = [f64; WIDTH];

const WIDTH: usize = 4;
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
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Newcomers {
    /// Σ x·xᵀ + ridge, and Σ x·(y less the mean then).
    squares: [Features; WIDTH],
    products: Features,
    /// Σ y, and how many there were.
    sum: f64,
    cases: f64,
    /// Squared errors of predictions before learning: by the regression, and by the mean.
    errors: f64,
    errors_of_mean: f64,
    /// Σ of the variances that the strengths themselves had.
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
    /// How a player's game went beside that of the others.
    pub fn features(game: &Game, player: Player) -> Option<Features> {
        let own = game.tallies.iter().find(|t| t.player == player)?;
        let mut features = [0.0; WIDTH];
        for (k, feature) in features.iter_mut().enumerate() {
            let rates = game.tallies.iter().map(|t| t.rates()[k]);
            let mean = rates.sum::<f64>() / game.tallies.len() as f64;
            if mean > 0.0 {
                *feature = (own.rates()[k] / mean - 1.0).clamp(-1.0, MOST);
            } // else the game says nothing by it
        }
        Some(features)
    }

    /// Learns what somebody with this first game turned out to be.
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

    /// Whether the regression has been better than the mean.
    pub fn believed(&self) -> bool {
        self.cases >= CASES && self.errors < BETTER * self.errors_of_mean
    }

    /// What a first game says of somebody's strength beyond a newcomer's, as an observation to be put
    /// beside what is believed anyway. `None` as long as the mean predicts as well.
    ///
    /// Strengths of variance t are left with variance r when the first game is known. The observation
    /// that does this to a Gaussian has precision 1/r − 1/t, and a value t/(t − r) times as far out as
    /// the mean it leads to; it says nothing where r is t.
    pub fn predict(&self, features: &Features) -> Option<Strength> {
        let left = (self.errors + self.doubt) / self.cases.max(1.0);
        let all = (self.errors_of_mean + self.doubt) / self.cases.max(1.0);
        self.believed().then(|| Strength {
            mean: self.beyond(features) * all / (all - left),
            deviation: libm::sqrt(left * all / (all - left)),
        })
    }

    /// How far beyond the mean somebody is expected.
    fn beyond(&self, features: &Features) -> f64 {
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
        let told = learnt(0.8).predict(&[0.0, 0.5, 0.0, 0.0]).unwrap();
        // Strengths have variance 0.8²/3 + 0.6²/12 + 0.1² and keep the last two.
        let (all, left) = (0.64 / 3.0 + 0.03 + 0.01, 0.03 + 0.01);
        let part = all / (all + told.variance());
        assert!((part * told.mean - 0.4).abs() < 0.05, "{told:?}");
        assert!(((1.0 - part) * all - left).abs() < 0.01, "{told:?}");
    }

    #[test]
    fn what_tells_nothing_is_not_believed() {
        assert_eq!(learnt(0.0).predict(&[0.0, 0.5, 0.0, 0.0]), None);
        assert_eq!(Newcomers::default().predict(&[1.0; WIDTH]), None);
        let mut silent = Newcomers::default(); // games that tell nothing but who won
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
        let mut game = Game::default();
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
