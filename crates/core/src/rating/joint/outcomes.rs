//! How the matches of a mode end: the noise of their points, and their share of ties.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::{bank::Observations, columns::precision, filter::Observation};
use crate::rating::{RatedGame, game::Comparison, normal, running::Running};

/// Statistics of the final results of the matches of a mode.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct OutcomeStatistics {
    /// Mean of the squared part of the difference of points that strength does not explain, divided by
    /// 1 + a·S·a.
    pub(super) points: Running,
    ties: f64,
    decided: f64,
    /// Mean of a·S·a, the uncertainty of the latent difference before a match.
    variance: Running,
}

impl Default for OutcomeStatistics {
    /// The state after one imaginary match with a typical score, 2 : 1, and five imaginary
    /// outcomes, one of which is a tie.
    fn default() -> Self {
        Self {
            points: Running::from(0.1),
            ties: 1.0,
            decided: 4.0,
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
        Observations { outcome, points }
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
            Ordering::Equal => Observation::Within(self.tie_margin()),
        }
    }

    /// The ε that gives, at typical uncertainty, the share of ties that the matches so far had.
    pub(super) fn tie_margin(&self) -> f64 {
        let share = self.ties / (self.ties + self.decided);
        normal::quantile(0.5 + 0.5 * share) * libm::sqrt(1.0 + self.variance.mean())
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
