//! Effects that a history may do without: they count as far as its matches show them.
//!
//! The filter learns as if the effects were there. If they were 0, the same matches would have led to another state: that of
//! the Gaussian under the condition that they are 0. So one state serves both assumptions, and each [mean](Filter::mean) is the
//! mean over both. How much better the effects explain the matches is the ratio of Savage and Dickey (1971): the density of 0
//! before the matches, divided by that after them.

use serde::{Deserialize, Serialize};

use super::super::triangle::Triangle;

/// The logarithm of the odds against the effects before any match.
const AGAINST: f64 = 1.0;
/// The factor on the logarithm of the ratio, for the reason of the bank's: matches of a community resemble each other.
const EVIDENCE: f64 = 0.5;

/// One such effect.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Effect {
    column: usize,
    /// Its variance before any match.
    variance: f64,
    /// By how much the mean of another column falls per unit of its covariance with this one.
    pull: f64,
}

/// The effects, at most two. They are there together, or both are 0.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Optional(Vec<Effect>);

impl Optional {
    /// Adds an effect whose mean is 0.
    pub(super) fn add(&mut self, column: usize, variance: f64) {
        debug_assert!(self.0.len() < 2, "the equations are those of two");
        self.0.push(Effect {
            column,
            variance,
            pull: 0.0,
        });
    }

    /// What is subtracted from a mean whose covariances with the columns are these.
    pub(super) fn pull(&self, covariance: impl Fn(usize) -> f64) -> f64 {
        let pulls = self.0.iter();
        pulls.map(|own| own.pull * covariance(own.column)).sum()
    }

    /// Weighs the effects against none, after the filter has learned.
    pub(super) fn weigh(&mut self, mean: &[f64], covariance: &Triangle) {
        let Some(one) = self.0.first() else {
            return;
        };
        // An effect that no match has had yet is as good as independent: it changes nothing below.
        let other = self.0.get(1);
        let between = other.map_or(0.0, |other| covariance.get(one.column, other.column));
        let of = |effect: Option<&Effect>| {
            effect.map_or([0.0, 1.0, 1.0], |own| {
                let now = covariance.get(own.column, own.column);
                [mean[own.column], now, own.variance]
            })
        };
        let ([m, s, before_one], [n, t, before_other]) = (of(Some(one)), of(other));
        let (before, now) = (before_one * before_other, s * t - between * between);
        // Rounding can make it 0 or less after very many matches: then nothing is subtracted.
        let pulls = if now > 0.0 && before > 0.0 {
            let (x, y) = ((t * m - between * n) / now, (s * n - between * m) / now);
            let ratio = 0.5 * (libm::log(now / before) + m * x + n * y);
            let none = 1.0 / (1.0 + libm::exp(EVIDENCE * ratio - AGAINST));
            [none * x, none * y]
        } else {
            [0.0; 2]
        };
        let effects = self.0.iter_mut().zip(pulls);
        effects.for_each(|(own, pull)| own.pull = pull);
    }

    /// The effects after only these columns (ascending) were kept.
    pub(super) fn keep(&self, kept: &[usize]) -> Self {
        let renumbered = |own: &Effect| {
            let column = kept.binary_search(&own.column).ok()?;
            Some(Effect { column, ..*own })
        };
        Self(self.0.iter().filter_map(renumbered).collect())
    }
}
