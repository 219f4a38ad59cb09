//! How the matches of a mode end: the noise of their points, and their share of ties.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::{bank::Observations, filter::Observation};
use crate::rating::{RatedGame, normal, running::Running};

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
    /// The observations of the latent difference that a match contains; adds the match to the
    /// statistics. `mean` and `variance` are those of the latent difference before the match.
    pub(super) fn observe(
        &mut self,
        game: &RatedGame,
        a: usize,
        b: usize,
        result: Ordering,
        mean: f64,
        variance: f64,
    ) -> Observations {
        self.variance.add(variance);
        let outcome = self.outcome(result);
        match result {
            Ordering::Equal => self.ties += 1.0,
            _ => self.decided += 1.0,
        }
        let points = game.scores.get(a).zip(game.scores.get(b)).map(|(x, y)| {
            // The part that strength does not explain is noise.
            let rest = difference(*x, *y) - self.noise() * mean;
            self.points.add(rest * rest / (1.0 + variance));
            Observation::Value(self.value(*x, *y))
        });
        Observations { outcome, points }
    }

    /// The difference of two teams' points at the end of a game, in units of the latent difference.
    fn value(&self, x: f64, y: f64) -> f64 {
        difference(x, y) / self.noise()
    }

    /// The difference of two teams' points in a part of the game `whole`, in units of the latent
    /// difference. The leads of all parts of a game add up to the value of the whole.
    ///
    /// The scale comes from the final points, not from the few points of the part: only on a scale that
    /// stays the same is the lead between equal teams a martingale.
    pub(super) fn lead(
        &self,
        part: &RatedGame,
        whole: &RatedGame,
        (a, b): (usize, usize),
    ) -> Option<f64> {
        let points = |game: &RatedGame, team: usize| Some(game.scores.get(team)?.max(0.0));
        let scale = anscombe(points(whole, a)?) + anscombe(points(whole, b)?);
        Some((points(part, a)? - points(part, b)?) / (scale * self.noise()))
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

/// The difference of two teams' points after Anscombe's transform.
fn difference(x: f64, y: f64) -> f64 {
    anscombe(x) - anscombe(y)
}

/// Half of Anscombe's transform, by which counts of any size have about the same noise.
fn anscombe(points: f64) -> f64 {
    libm::sqrt(points.max(0.0) + 0.375)
}
