//! The slope of a logistic regression: how much a difference of weights changes the odds.

use serde::{Deserialize, Serialize};

use evenkeel_model::{Crowding, Link, WinModel};

use super::{
    Player, RatedGame,
    game::{TeamPair, score},
    joint::columns,
    normal,
};

/// How much stronger team `a` is than team `b` by these weights: the difference of their Σ (weight
/// − 50), divided by 50 · √(n/2), which is the noise of a match of n players.
pub fn edge(game: &RatedGame, a: usize, b: usize, weight: impl Fn(Player) -> Option<f64>) -> f64 {
    let (mut sum, mut shares) = (0.0, 0.0);
    for (team, sign) in [(a, 1.0), (b, -1.0)] {
        for seat in game.team(team) {
            let above = weight(seat.player).unwrap_or(50.0) / 50.0 - 1.0;
            sum += sign * seat.share * above;
            shares += seat.share;
        }
    }
    sum * columns::unit(shares)
}

/// The pairs of a game, each with the [`edge`] of its first team.
pub fn edges(game: &RatedGame, weight: impl Fn(Player) -> Option<f64>) -> Vec<(f64, TeamPair)> {
    let pairs = game.neighbours().into_iter();
    pairs
        .map(|pair| (edge(game, pair.a, pair.b, &weight), pair))
        .collect()
}

/// The posterior of the one coefficient b of a logistic regression, chance = 1/(1 + e^(−b·x)), as a
/// Gaussian. Each game is one step of Newton's method (the extended Kalman filter).
///
/// It converts strengths that are not log odds to chances, so that all systems can be compared.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Slope {
    mean: f64,
    variance: f64,
}

/// Mean 1, deviation 1: in a duel of the extremes, 100 against 0, the stronger wins seven of eight.
impl Default for Slope {
    fn default() -> Self {
        Self {
            mean: 1.0,
            variance: 1.0,
        }
    }
}

impl Slope {
    /// The chance at difference `x`, with the uncertainty of the slope included (MacKay's
    /// approximation).
    pub fn chance(&self, x: f64) -> f64 {
        let spread = std::f64::consts::PI / 8.0 * self.variance * x * x;
        normal::logistic(self.mean * x / libm::sqrt(1.0 + spread))
    }

    /// Turns weights, less 50, into a chance, without the uncertainty of the slope itself.
    pub fn win_model(&self, game: &RatedGame) -> WinModel {
        let players = game.shares().max(1.0);
        let per_strength = self.mean * columns::unit(players) / 50.0;
        WinModel::of_strengths(Link::Logistic, per_strength, players, Crowding::Root, 25.0)
    }

    /// Learns from the pairs of a game, each with its difference. All are compared with the slope before it.
    pub fn learn(&mut self, pairs: &[(f64, TeamPair)]) {
        let before = *self;
        let chance = |x: f64| normal::logistic(before.mean * x);
        let information = pairs.iter().map(|&(x, pair)| {
            let p = chance(x);
            p * (1.0 - p) * x * x * pair.weight
        });
        self.variance /= 1.0 + before.variance * information.sum::<f64>();
        for &(x, pair) in pairs {
            self.mean += self.variance * x * (score(pair.result) - chance(x)) * pair.weight;
        }
        self.mean = self.mean.max(0.0); // a higher weight never lowers the chance
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use super::*;

    #[test]
    fn it_finds_the_slope() {
        let mut slope = Slope::default();
        assert!(slope.chance(2.0) > 0.7);
        // Three of four games won at a difference of 1: b = ln 3.
        for _ in 0..2_000 {
            for result in [
                Ordering::Less,
                Ordering::Less,
                Ordering::Greater,
                Ordering::Less,
            ] {
                slope.learn(&[(1.0, TeamPair::of(0, 1, result))]);
            }
        }
        assert!(
            (slope.chance(1.0) - 0.75).abs() < 0.01,
            "{}",
            slope.chance(1.0)
        );
        assert_eq!(slope.chance(0.0), 0.5);
    }
}
