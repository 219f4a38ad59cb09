//! OpenSkill's Plackett–Luce with partial play. Weng and Lin, "A Bayesian Approximation Method for
//! Online Ranking" (2011), algorithm 4, with the defaults of the package openskill. The crate openskill
//! is not used: its only version is 0.0.1, of 2023.
//!
//! With partial play, a player adds the skill times the share of the match to the team's, as in
//! TrueSkill (Herbrich, Minka and Graepel 2006).

use crate::peers::{Game, Peer, Seat, assert_published, normal_cdf, whole_game};

// The package's defaults.
const MEAN: f64 = 25.0;
const SIGMA: f64 = 25.0 / 3.0;
const BETA: f64 = 25.0 / 6.0;
const TAU: f64 = 25.0 / 300.0;
const KAPPA: f64 = 1e-4;

#[derive(Clone, Copy, Debug)]
struct Rating {
    mean: f64,
    variance: f64,
}

impl Rating {
    const NEW: Self = Self {
        mean: MEAN,
        variance: SIGMA * SIGMA,
    };
}

/// OpenSkill's Plackett–Luce.
#[derive(Debug)]
pub struct PlackettLuce {
    ratings: Vec<Rating>,
    /// The variance that each match adds before it is learned from.
    drift: f64,
}

impl Default for PlackettLuce {
    fn default() -> Self {
        Self {
            ratings: Vec::new(),
            drift: TAU * TAU,
        }
    }
}

impl PlackettLuce {
    fn rating(&self, player: usize) -> Rating {
        self.ratings.get(player).copied().unwrap_or(Rating::NEW)
    }

    /// The mean, the variance and the sum of squared shares of a team.
    fn team(&self, seats: &[Seat]) -> (f64, f64, f64) {
        let (mut mean, mut variance, mut players) = (0.0, 0.0, 0.0);
        for seat in seats {
            let rating = self.rating(seat.player);
            mean += seat.share * rating.mean;
            variance += seat.share * seat.share * rating.variance;
            players += seat.share * seat.share;
        }
        (mean, variance, players)
    }
}

impl Peer for PlackettLuce {
    /// As the package's `predict_win`, which has a normal distribution.
    fn chance(&self, game: &Game) -> f64 {
        let [one, other] = [0, 1].map(|team| self.team(&game.teams[team]));
        let variance = one.1 + other.1 + (one.2 + other.2) * BETA * BETA;
        normal_cdf((one.0 - other.0) / variance.sqrt())
    }

    fn learn(&mut self, game: &Game) {
        for seat in game.teams.iter().flatten() {
            let most = self.ratings.len().max(seat.player + 1);
            self.ratings.resize(most, Rating::NEW);
            self.ratings[seat.player].variance += self.drift;
        }
        let teams = [0, 1].map(|team| self.team(&game.teams[team]));
        let square = teams.iter().map(|t| t.1 + BETA * BETA).sum::<f64>();
        let c = square.sqrt();
        let chance = 1.0 / (1.0 + ((teams[1].0 - teams[0].0) / c).exp());
        let beyond = game.result - chance;
        for (team, sign) in [(0, 1.0), (1, -1.0)] {
            let gamma = teams[team].1.sqrt() / c;
            for seat in &game.teams[team] {
                let rating = &mut self.ratings[seat.player];
                let moved = seat.share * rating.variance;
                rating.mean += sign * moved / c * beyond;
                let known = seat.share * moved / square * chance * (1.0 - chance) * gamma;
                rating.variance *= (1.0 - known).max(KAPPA);
            }
        }
    }
}

/// The example of the package's README, which is without drift.
pub fn check() {
    let before = [
        (25.0, SIGMA),
        (32.444, 5.123),
        (43.381, 2.421),
        (25.188, 6.211),
    ];
    let rating = |(mean, sigma): (f64, f64)| Rating {
        mean,
        variance: sigma * sigma,
    };
    let mut model = PlackettLuce {
        ratings: before.map(rating).to_vec(),
        drift: 0.0,
    };
    model.learn(&whole_game([&[0, 1], &[2, 3]], 0, 1.0));
    let published = [
        (28.669_648_436_583, 8.071_520_788_025),
        (33.830_869_711_080, 5.062_772_998_706),
        (43.071_274_808_242, 2.416_690_045_272),
        (23.149_503_312_339, 6.137_860_697_362),
    ];
    for (rating, (mean, sigma)) in model.ratings.iter().zip(published) {
        assert_published("openskill, mean", rating.mean, mean, 9);
        assert_published("openskill, sigma", rating.variance.sqrt(), sigma, 9);
    }
}
