//! How the matches of a mode end: the noise of their points, their share of ties, and what ties mean.
//!
//! Where a match ties because its teams were level, a tie is evidence of that. But in many games the clock, a limit or a
//! custom decides, and even matches tie no more often than others; then learning from ties as if they showed level
//! teams does harm. So both explanations predict each match, tied or not, and a tie is learned by the chance that ties
//! follow the forecast. It begins low: a tie that is not learned costs a match, one that is wrongly learned spoils others.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::{
    bank::Observations,
    columns::precision,
    filter::{Latent, Observation, Tie},
};
use crate::{RatedGame, game::Comparison, normal};

/// Statistics of the final results of the matches of a mode.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct OutcomeStatistics {
    /// Mean of the squared part of the difference of points that strength does not explain, divided by
    /// 1 + a·S·a.
    pub(super) points: Running,
    ties: f64,
    decided: f64,
    /// The ties that there would have been in the mean if they followed the forecast.
    expected: f64,
    /// The logarithm of the odds that ties follow the forecast.
    follow: f64,
    /// Mean of a·S·a, the uncertainty of the latent difference before a match.
    variance: Running,
}

/// The logarithm of the odds that ties follow the forecast, before any match: less than one to fifty.
const FOLLOW: f64 = -4.0;
/// The factor on the logarithm of each chance in the evidence on ties, as in the evidence of the bank.
const EVIDENCE: f64 = 0.5;
/// The limit of that logarithm of odds, so that a change of custom is learned.
const SURE: f64 = 20.0;

impl Default for OutcomeStatistics {
    /// The state after one imaginary match with a typical score, 2 : 1, and five imaginary
    /// outcomes, one of which is a tie.
    fn default() -> Self {
        Self {
            points: Running::from(0.1),
            ties: 1.0,
            decided: 4.0,
            expected: 1.0,
            follow: FOLLOW,
            variance: Running::from(1.0),
        }
    }
}

impl OutcomeStatistics {
    /// The observations of the latent difference that a comparison contains; adds it to the
    /// statistics. `mean` and `variance` are those of the latent difference before the match.
    pub(super) fn observe(
        &mut self,
        game: &RatedGame,
        comparison: &Comparison,
        mean: f64,
        variance: f64,
    ) -> Observations {
        let sharpness = self.sharpness();
        self.compare_ties(comparison.result, Latent { mean, variance });
        self.variance.add(variance);
        let outcome = self.outcome(comparison.result);
        match comparison.result {
            Ordering::Equal => self.ties += 1.0,
            _ => self.decided += 1.0,
        }
        let points = difference(game, comparison).map(|difference| {
            // The part that strength does not explain is noise.
            let rest = difference - self.noise() * mean;
            self.points.add(rest * rest / (1.0 + variance));
            Observation::Value(difference / self.noise())
        });
        Observations {
            outcome,
            points,
            sharpness,
        }
    }

    /// The difference of two sides' points in a part of the game `whole`, in units of the latent
    /// difference. The leads of all parts of a game add up to the value of the whole.
    ///
    /// The scale comes from the final points, not from the few points of the part: only on a scale that
    /// stays the same is the lead between equal teams a martingale.
    pub(super) fn lead(
        &self,
        part: &RatedGame,
        whole: &RatedGame,
        comparison: &Comparison,
    ) -> Option<f64> {
        let roots = mean(whole, comparison, anscombe)?;
        let points = mean(part, comparison, |points| points.max(0.0))?;
        let scale = roots[0] + roots[1];
        Some(precision(comparison) * (points[0] - points[1]) / (scale * self.noise()))
    }

    /// The standard deviation of the difference of points between equal teams.
    fn noise(&self) -> f64 {
        libm::sqrt(self.points.mean())
    }

    /// The observation of the latent difference that follows from the first team's result.
    fn outcome(&self, result: Ordering) -> Observation {
        match result {
            Ordering::Less => Observation::Sign(1.0),
            Ordering::Greater => Observation::Sign(-1.0),
            Ordering::Equal => Observation::Within(self.tie()),
        }
    }

    /// Lets both explanations of ties predict a match: that ties follow the forecast, and that they come at a constant
    /// rate. Either expects as many ties as there were.
    fn compare_ties(&mut self, result: Ordering, latent: Latent) {
        let (z, c) = (latent.standardised(), libm::sqrt(1.0 + latent.variance));
        let margin = self.tie().margin / c;
        let level = normal::cdf(margin - z) - normal::cdf(-margin - z);
        let rate = self.tie_rate();
        let following = (level * self.ties / self.expected).min(0.5 + 0.5 * level); // below 1
        self.expected += level;
        let gain = match result {
            Ordering::Equal => libm::log(following.max(1e-12) / rate),
            _ => libm::log((1.0 - following) / (1.0 - rate)),
        };
        self.follow = (self.follow + EVIDENCE * gain).clamp(-SURE, SURE);
    }

    /// The share of ties so far.
    fn tie_rate(&self) -> f64 {
        self.ties / (self.ties + self.decided)
    }

    /// By how much strength tells more of who wins, of the matches that do not tie, than of which team was ahead.
    ///
    /// Where matches tie if the teams were level, the others are those in which one was clearly ahead. With the share r of
    /// ties among equals, |z| < μ = Φ⁻¹((1 + r) / 2) ties, and the chance of a decided match is that of d > μ, given
    /// |d| > μ. At even teams it grows with z by φ(μ) / (1 − r), where that of d > 0 grows by φ(0). The factor is the ratio,
    /// exp(−μ²/2) / (1 − r), as far as ties follow the forecast. The calibration alone learns it in thousands of matches.
    pub(super) fn sharpness(&self) -> f64 {
        let rate = self.tie_rate();
        let margin = normal::quantile(0.5 + 0.5 * rate);
        let following = libm::exp(-0.5 * margin * margin) / (1.0 - rate);
        1.0 + self.tie().share * (following - 1.0)
    }

    /// What a tie means. The margin is the ε that gives, at typical uncertainty, the share of ties that the matches so
    /// far had.
    pub(super) fn tie(&self) -> Tie {
        let typical = libm::sqrt(1.0 + self.variance.mean());
        Tie {
            margin: normal::quantile(0.5 + 0.5 * self.tie_rate()) * typical,
            share: normal::logistic(self.follow),
        }
    }
}

/// The difference of two sides' points at the end of a game after Anscombe's transform; `None` without points.
fn difference(game: &RatedGame, comparison: &Comparison) -> Option<f64> {
    let [one, other] = mean(game, comparison, anscombe)?;
    Some(precision(comparison) * (one - other))
}

/// The mean over the teams of each side, of what their points give; `None` without points.
fn mean(game: &RatedGame, comparison: &Comparison, of: fn(f64) -> f64) -> Option<[f64; 2]> {
    let points = |team: &usize| game.scores.get(*team).copied().map(of);
    let mean = |side: &Vec<usize>| {
        let sum: Option<f64> = side.iter().map(points).sum();
        sum.map(|sum| sum / side.len() as f64)
    };
    let [one, other] = &comparison.sides;
    mean(one).zip(mean(other)).map(<[f64; 2]>::from)
}

/// Half of Anscombe's transform, by which counts of any size have about the same noise.
fn anscombe(points: f64) -> f64 {
    libm::sqrt(points.max(0.0) + 0.375)
}

/// A running mean that starts from one initial number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Running {
    sum: f64,
    count: f64,
}

impl Running {
    /// A mean in which `first` counts as the first number.
    pub(super) fn from(first: f64) -> Self {
        Self {
            sum: first,
            count: 1.0,
        }
    }

    /// Adds a number to the mean.
    pub(super) fn add(&mut self, x: f64) {
        self.sum += x;
        self.count += 1.0;
    }

    /// The mean of `first` and all numbers added.
    pub(super) fn mean(&self) -> f64 {
        self.sum / self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::game;

    /// The chance that ties follow the forecast after matches of which every fourth is between unequal teams; all of
    /// those tie or none.
    fn learned(matches: usize, unequal_tie: bool) -> f64 {
        let (one, mut statistics): (&[f64], _) = (&[1.0], OutcomeStatistics::default());
        for number in 0..matches {
            let unequal = number.is_multiple_of(4);
            let tie = if unequal {
                unequal_tie
            } else {
                number % 4 == 1
            };
            let places = if tie { [0, 0] } else { [0, 1] };
            let game = game(&[one, one], &places);
            let mean = if unequal { 2.0 } else { 0.0 };
            for comparison in game.comparisons() {
                statistics.observe(&game, &comparison, mean, 0.3);
            }
        }
        statistics.tie().share
    }

    #[test]
    fn a_match_that_does_not_tie_tells_more_where_ties_follow_the_forecast() {
        // The slope of the chance of d > margin, given |d| > margin, over that of the chance of d > 0.
        let slope = |margin: f64| {
            let above = |z: f64| normal::cdf(z - margin);
            let chance = |z: f64| above(z) / (above(z) + above(-z));
            (chance(1e-4) - chance(-1e-4)) / (normal::cdf(1e-4) - normal::cdf(-1e-4))
        };
        for (ties, decided) in [(0.0, 9.0), (3.0, 7.0), (60.0, 40.0)] {
            let statistics = |follow| OutcomeStatistics {
                ties,
                decided,
                follow,
                ..OutcomeStatistics::default()
            };
            let margin = normal::quantile(0.5 + 0.5 * ties / (ties + decided));
            let following = statistics(SURE).sharpness();
            assert!((following - slope(margin)).abs() < 1e-6, "{following}");
            assert!((statistics(-SURE).sharpness() - 1.0).abs() < 1e-8);
        }
    }

    #[test]
    fn ties_are_learned_where_they_follow_the_forecast() {
        assert!(learned(0, false) < 0.02, "cautious before any match");
        assert!(learned(400, false) > 0.99);
        assert!(learned(400, true) < 0.001);
    }
}
