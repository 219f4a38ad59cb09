//! A factor, learned from outcomes, that corrects chances which are too close to 50 % or too far
//! from it.
//!
//! A member's chance is Φ(z), where z is the latent difference divided by its standard deviation.
//! If the outcome depends more on strength than what the member learns from, Φ(z) is too close to a
//! half; if less, it is too far from it. So the chance is Φ(κ·z), where κ starts at 1 and is
//! learned from the outcomes. Each ruleset has its own κ: the sum of a part that all games share
//! and a part that is learned from its own matches.
//!
//! No favourite is as sure as Φ says far from a half: somebody is ill, or a line fails. So a share λ of
//! all matches counts as decided by a coin, and the chance is λ/2 + (1 − λ)·Φ(κ·z). λ is learned as
//! well: each outcome adds to the matches decided by a coin the chance that it was one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::filter::Latent;
use crate::normal;

/// Standard deviation of the common part of κ before any match. With it, κ is learned in some
/// hundred matches.
const ALL: f64 = 0.1;
/// Standard deviation of the part of κ that belongs to a ruleset, before any match.
const RULESET: f64 = 0.05;
/// The matches that a coin decided before any match, out of [`IMAGINARY`].
const UPSETS: f64 = 0.5;
/// The imaginary matches before any match. With them, λ is learned in some hundred matches.
const IMAGINARY: f64 = 100.0;

/// A Gaussian over κ, as the sum of a part that all games share and one per ruleset.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Calibration {
    all: KappaPart,
    rulesets: BTreeMap<u32, KappaPart>,
    /// How many matches a coin decided, by the chance that it did.
    upsets: f64,
    /// All decided matches.
    matches: f64,
}

/// The mean and variance of one part of κ.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct KappaPart {
    mean: f64,
    variance: f64,
}

impl Default for Calibration {
    fn default() -> Self {
        let all = KappaPart {
            mean: 1.0,
            variance: ALL * ALL,
        };
        Self {
            all,
            rulesets: BTreeMap::new(),
            upsets: UPSETS,
            matches: IMAGINARY,
        }
    }
}

impl KappaPart {
    /// The part of a ruleset without matches.
    const RULESET: Self = Self {
        mean: 0.0,
        variance: RULESET * RULESET,
    };
}

impl Calibration {
    /// The mean of κ for a ruleset.
    pub fn factor(&self, ruleset: u32) -> f64 {
        self.all.mean + self.own(ruleset).mean
    }

    /// λ: the share of matches that a coin decides.
    fn upset(&self) -> f64 {
        self.upsets / self.matches
    }

    /// The chance that the first team wins: λ/2 + (1 − λ)·Φ(κ·z), as the mean over κ.
    pub fn chance(&self, ruleset: u32, latent: Latent) -> f64 {
        let z = latent.standardised();
        let by_strength = normal::cdf(self.factor(ruleset) * z / self.deviation(ruleset, z));
        0.5 * self.upset() + (1.0 - self.upset()) * by_strength
    }

    /// Learns from a decided outcome: `sign` is 1 if the first team won, otherwise −1. One step of
    /// moment matching, in which the parts of κ stay independent. Where a coin has probably decided, κ
    /// hardly learns.
    pub fn learn(&mut self, ruleset: u32, latent: Latent, sign: f64) {
        let chance = self.chance(ruleset, latent);
        let given = if sign > 0.0 { chance } else { 1.0 - chance };
        let coin = (0.5 * self.upset() / given).min(1.0);
        self.upsets += coin;
        self.matches += 1.0;
        let z = latent.standardised();
        let deviation = self.deviation(ruleset, z);
        let moments = normal::above(sign * self.factor(ruleset) * z / deviation);
        let (v, w) = (
            (1.0 - coin) * sign * moments.v / deviation,
            (1.0 - coin) * moments.w / (deviation * deviation),
        );
        let own = self.rulesets.entry(ruleset).or_insert(KappaPart::RULESET);
        for part in [&mut self.all, own] {
            let gain = part.variance * z;
            part.mean += gain * v;
            part.variance -= gain * gain * w;
        }
    }

    fn own(&self, ruleset: u32) -> KappaPart {
        self.rulesets
            .get(&ruleset)
            .copied()
            .unwrap_or(KappaPart::RULESET)
    }

    /// The standard deviation of κ·z + N(0, 1).
    fn deviation(&self, ruleset: u32, z: f64) -> f64 {
        libm::sqrt(1.0 + (self.all.variance + self.own(ruleset).variance) * z * z)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A latent difference of which the standardised one is `z`.
    fn latent(z: f64) -> Latent {
        Latent {
            mean: 2.0 * z,
            variance: 3.0,
        }
    }

    #[test]
    fn it_starts_at_one_and_is_symmetric() {
        let fresh = Calibration::default();
        assert_eq!(fresh.factor(3), 1.0);
        assert_eq!(fresh.chance(3, latent(0.0)), 0.5);
        let (a, b) = (fresh.chance(3, latent(0.7)), fresh.chance(3, latent(-0.7)));
        assert!((a + b - 1.0).abs() < 1e-15);
        assert!((a - normal::cdf(0.7)).abs() < 3e-3);
        let (mut won, mut lost) = (fresh.clone(), fresh);
        won.learn(3, latent(0.7), 1.0);
        lost.learn(3, latent(-0.7), -1.0);
        assert_eq!(won.factor(3), lost.factor(3));
        assert!(won.factor(3) > 1.0);
    }

    /// The favourite, of standardised difference 0.5, wins `wins` of a hundred games, a thousand games long.
    fn after(wins: u32) -> Calibration {
        let mut calibration = Calibration::default();
        for at in 0..1_000_u32 {
            let won = (at * 37) % 100 < wins;
            calibration.learn(3, latent(0.5), if won { 1.0 } else { -1.0 });
        }
        calibration
    }

    #[test]
    fn it_follows_the_outcomes_both_ways() {
        // Φ(0.5) = 0.69.
        for (wins, chance) in [(80, 0.80), (60, 0.60)] {
            let learned = after(wins).chance(3, latent(0.5));
            assert!((learned - chance).abs() < 0.035, "{wins} {learned}");
        }
        assert!((after(69).factor(3) - 1.0).abs() < 0.02);
    }

    #[test]
    fn an_upset_raises_their_share_and_hardly_moves_the_factor() {
        // λ = 0.005 and Φ(3) = 0.99865 (κ is uncertain, which makes it 0.9979): 0.0025 + 0.995 · 0.9979.
        let mut calibration = Calibration::default();
        let deviation = libm::sqrt(1.0 + 0.0125 * 9.0);
        let favourite = 0.0025 + 0.995 * normal::cdf(3.0 / deviation);
        assert!((calibration.chance(3, latent(3.0)) - favourite).abs() < 1e-12);
        assert!((favourite - 0.9953).abs() < 1e-3, "{favourite}");
        // A coin has decided with the chance 0.0025 / (1 − 0.9953), about a half.
        let coin = 0.0025 / (1.0 - favourite);
        calibration.learn(3, latent(3.0), -1.0);
        assert!((calibration.upset() - (0.5 + coin) / 101.0).abs() < 1e-12);
        assert!((0.4..0.7).contains(&coin), "{coin}");
        assert!(calibration.factor(3) > 0.93, "{}", calibration.factor(3));
        // However strong the favourite, the chance is not surer than the share allows.
        assert!(calibration.chance(3, latent(9.0)) < 1.0 - 0.5 * calibration.upset() + 1e-12);
        // It is 0.0102 now. Expected outcomes make it smaller.
        for _ in 0..1_000 {
            calibration.learn(3, latent(3.0), 1.0);
        }
        assert!(calibration.upset() < 0.004, "{}", calibration.upset());
    }

    #[test]
    fn another_ruleset_gets_most_of_it() {
        let learned = after(80);
        let (own, other) = (learned.factor(3), learned.factor(4));
        assert!(1.2 < other && other < own, "{own} {other}");
    }
}
