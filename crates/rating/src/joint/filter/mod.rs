//! The filter: a Gaussian over all columns, moment-matched to one match after another.
//!
//! A history may do without some effects: they count as far as its matches show them. The filter learns as if the
//! effects were there. If they were 0, the same matches would have led to another state: that of the Gaussian under
//! the condition that they are 0. So one state serves both assumptions, and each [mean](Filter::mean) is the mean
//! over both. How much better the effects explain the matches is the ratio of Savage and Dickey (1971): the density
//! of 0 before the matches, divided by that after them.

use serde::{Deserialize, Serialize};

use super::{
    columns::{Column, MatchRow},
    triangle::Triangle,
};
use crate::{
    Strength,
    normal::{self, Moments},
};

/// The prior distribution of the columns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prior {
    /// Standard deviation of strengths between players.
    pub skill: f64,
    /// Standard deviation of a player's drift from one match to the next.
    pub drift: f64,
    /// The days of absence that add as much drift as a match.
    pub days: f64,
}

/// Standard deviation of the effect of a side: in 95 % of rulesets one side wins between 16 and 84
/// % of matches between equals.
const SIDE: f64 = 0.5;
/// The same where the first match of a ruleset states no map: the number of a team then rarely stands for a side of
/// anything. 46 to 54 %.
const SIDE_WITHOUT_MAP: f64 = 0.1;
/// Standard deviation of the effect of a map, added to the side's: 42 to 58 %.
const SIDE_MAP: f64 = 0.1;
/// Standard deviation of the effect of one player more.
const SIZE: f64 = 0.3;
/// Mean of the effect of one player more before any match. Among equals it gives odds of seven to five.
/// That is cautious: where uneven teams are common, the larger one wins nearly two of three matches of
/// equals, and in four against three more. It is smaller than [`SIZE`], so that matches soon overrule
/// it.
const SIZE_MEAN: f64 = 0.2;
/// Standard deviation of the effect of a team e times as large, which is added to the effect of
/// [`SIZE`].
const LOG_SIZE: f64 = 0.15;
/// Standard deviation of the effect of being new, as a factor on [`Prior::skill`]. In a tournament whose best teams
/// enter late, somebody new is stronger than who has won before.
const NEWNESS: f64 = 1.0;
/// Standard deviation of the effect of e times as many games, as a factor on [`Prior::skill`].
const EXPERIENCE: f64 = 0.15;
/// Standard deviation of the effect of a record, as a factor on [`Prior::skill`].
const RECORD: f64 = 2.5;
/// Standard deviation of commanding, as a factor on [`Prior::skill`].
const COMMAND: f64 = 0.25;
/// Standard deviation of the effect of a party, as a factor on [`Prior::skill`].
const PARTY: f64 = 0.1;

impl Prior {
    /// The mean and standard deviation of a column before any match.
    pub fn strength(&self, column: Column) -> Strength {
        Strength {
            mean: self.mean(column),
            deviation: self.deviation(column),
        }
    }

    /// The same for a column whose first match states a map or, with `no_map`, none.
    pub fn strength_in(&self, column: Column, no_map: bool) -> Strength {
        let mut strength = self.strength(column);
        if no_map && matches!(column, Column::Side(_)) {
            strength.deviation = SIDE_WITHOUT_MAP;
        }
        strength
    }

    /// The mean of a column before any match.
    pub fn mean(&self, column: Column) -> f64 {
        match column {
            Column::Size => SIZE_MEAN,
            _ => 0.0,
        }
    }

    /// The standard deviation of a column before any match.
    pub fn deviation(&self, column: Column) -> f64 {
        match column {
            Column::Skill(_) => self.skill,
            Column::Command(_) => COMMAND * self.skill,
            Column::Newness => NEWNESS * self.skill,
            Column::Experience => EXPERIENCE * self.skill,
            Column::Record => RECORD * self.skill,
            Column::Party => PARTY * self.skill,
            Column::Size => SIZE,
            Column::LogSize => LOG_SIZE,
            Column::Side(_) => SIDE,
            Column::SideMap(..) => SIDE_MAP,
        }
    }
}

/// One observation of the latent difference d = a·x + N(0, 1) of a match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Observation {
    /// d was above 0 (`1.0`) or below (`-1.0`).
    Sign(f64),
    /// A tie.
    Within(Tie),
    /// d was this: the difference of points, in units of the latent difference.
    Value(f64),
}

/// What a tie says of the latent difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tie {
    /// The most that |d| is in a tie, if ties follow the forecast.
    pub margin: f64,
    /// The chance that they do, 0 to 1: this part of a tie is learned.
    pub share: f64,
}

impl Observation {
    /// The moments of d after the observation, where d had mean `z` · `c` and standard deviation
    /// `c`, noise included, before it.
    fn moments(self, z: f64, c: f64) -> Moments {
        match self {
            Observation::Sign(sign) => {
                let moments = normal::above(sign * z);
                let v = sign * moments.v;
                Moments { v, w: moments.w }
            }
            Observation::Within(Tie { margin, share }) => {
                let all = normal::between(-margin / c - z, margin / c - z);
                Moments {
                    v: share * all.v,
                    w: share * all.w,
                }
            }
            Observation::Value(value) => Moments {
                v: (value / c - z).clamp(-SURPRISE, SURPRISE),
                w: 1.0,
            },
        }
    }

    /// The change of a column's mean per unit of its gain S·a.
    pub fn step(self, latent: Latent) -> f64 {
        let c = libm::sqrt(1.0 + latent.variance);
        self.moments(latent.mean / c, c).v / c
    }
}

/// A Gaussian over the columns: means and covariances. Single precision is enough to keep
/// the covariances: its error is far below the drift that every match adds. What is computed from them has double precision.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Filter {
    /// With the optional effects; without their [pull](Optional::pull).
    mean: Vec<f64>,
    covariance: Triangle,
    optional: Optional,
}

/// The latent difference without noise: its mean and variance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Latent {
    /// a·m, positive if the first team is stronger.
    pub mean: f64,
    /// a·S·a, the uncertainty of the estimate.
    pub variance: f64,
}

impl Latent {
    /// The same uncertainty with a mean that is so many times as far from 0.
    pub fn times(self, factor: f64) -> Self {
        Self {
            mean: factor * self.mean,
            ..self
        }
    }

    /// The mean of d in units of its standard deviation, noise included: a·m / √(1 + a·S·a).
    pub fn standardised(&self) -> f64 {
        self.mean / libm::sqrt(1.0 + self.variance)
    }
}

/// The standard deviations from the expectation beyond which points have no further effect.
const SURPRISE: f64 = 3.0;

impl Filter {
    /// The number of columns, players' and shared ones.
    pub fn width(&self) -> usize {
        self.mean.len()
    }

    /// Appends a column that is independent of the others, with this mean and deviation.
    pub fn add(&mut self, start: Strength) {
        self.mean.push(start.mean);
        self.covariance.push(start.variance());
    }

    /// Appends the column of an effect with mean 0 that counts as far as the matches show it.
    pub fn add_optional(&mut self, deviation: f64) {
        self.optional.add(self.width(), deviation * deviation);
        self.add(Strength {
            mean: 0.0,
            deviation,
        });
    }

    /// The mean and deviation of one column.
    pub fn strength(&self, column: usize) -> Strength {
        Strength {
            mean: self.mean(column),
            deviation: libm::sqrt(self.variance(column).max(0.0)),
        }
    }

    /// The mean of one column.
    pub fn mean(&self, column: usize) -> f64 {
        self.mean[column] - self.pull(column)
    }

    /// Replaces a column's mean.
    pub fn set_mean(&mut self, column: usize, mean: f64) {
        self.mean[column] = mean + self.pull(column);
    }

    fn pull(&self, column: usize) -> f64 {
        let optional = &self.optional;
        optional.pull(|effect| self.covariance.get(column, effect))
    }

    /// The variance of one column.
    pub fn variance(&self, column: usize) -> f64 {
        self.covariance.get(column, column)
    }

    /// Adds `variance` to that of a column.
    pub fn widen(&mut self, column: usize, variance: f64) {
        self.covariance.add_to_diagonal(column, variance);
    }

    /// The latent difference of a row; writes S·a to `gain`. Columns without a number contribute
    /// their prior. O(columns · factors).
    pub fn latent(&self, row: &MatchRow, prior: &Prior, gain: &mut Vec<f64>) -> Latent {
        self.covariance.times(&row.known, gain);
        let own = row.known.iter().map(|&(column, _)| gain[column]);
        let mut latent = self.latent_of(row, prior, own);
        latent.mean -= self.optional.pull(|effect| gain[effect]);
        latent
    }

    /// The same without the gains. O(factors²).
    pub fn prediction(&self, row: &MatchRow, prior: &Prior) -> Latent {
        let own = self.covariance.times_within(&row.known);
        let mut latent = self.latent_of(row, prior, own.into_iter());
        latent.mean -= self.optional.pull(|effect| {
            let with = |&(column, x): &(usize, f64)| x * self.covariance.get(column, effect);
            row.known.iter().map(with).sum()
        });
        latent
    }

    /// The latent difference of a row whose known columns have these gains, with the optional effects.
    fn latent_of(&self, row: &MatchRow, prior: &Prior, gains: impl Iterator<Item = f64>) -> Latent {
        let known = row.known.iter();
        let variance = known.zip(gains).map(|(&(_, x), gain)| x * gain);
        let variance = variance.sum::<f64>();
        let mean = row.known.iter().map(|&(column, x)| x * self.mean[column]);
        let means = row.new.iter().map(|&(column, x)| x * prior.mean(column));
        let variances = row.new.iter().map(|&(column, x)| {
            let deviation = x * prior.deviation(column);
            deviation * deviation
        });
        Latent {
            mean: mean.sum::<f64>() + means.sum::<f64>(),
            variance: variance.max(0.0) + variances.sum::<f64>(),
        }
    }

    /// Learns from a match, all of whose columns have numbers. `gain` and `latent` are the results
    /// of [`latent`](Self::latent) for its row. The columns in `still` take part without changing.
    ///
    /// One rank-1 change, O(columns²/2): with g = S·a, q = a·g, c² = 1 + q and the moments v, w of
    /// the standardised difference, m += g·v/c and S −= g·gᵀ·w/c². For the columns in `still` it is
    /// the Schmidt (consider) form of the same: their own block stays, their covariance with the
    /// others is updated.
    ///
    /// The mean of the column `slow` changes by no more than the number with it. If the full step is larger, the
    /// column makes that part of it, and its variance falls less (Brink 2017, the partial update).
    pub fn learn(
        &mut self,
        observed: Observation,
        latent: Latent,
        gain: &[f64],
        still: &[usize],
        slow: Option<(usize, f64)>,
    ) {
        let c = libm::sqrt(1.0 + latent.variance);
        let mean = latent.mean + self.optional.pull(|effect| gain[effect]);
        let Moments { v, w } = observed.moments(mean / c, c);
        let before = self.block(still);
        let step = v / c;
        for (m, g) in self.mean.iter_mut().zip(gain) {
            *m += g * step;
        }
        self.covariance.minus_outer(gain, w / (c * c));
        if let Some((column, most)) = slow {
            let own = gain[column];
            let full = own * step;
            if full.abs() > most {
                let left = 1.0 - most / full.abs();
                self.mean[column] -= left * full;
                self.widen(column, left * left * own * own * w / (c * c));
            }
        }
        self.restore(still, &before);
        self.optional.weigh(&self.mean, &self.covariance);
    }

    /// Learns one column: the Schmidt form of [`learn`](Self::learn) with all others still. O(columns).
    pub fn learn_one(&mut self, column: usize, step: f64, information: f64, gain: &[f64]) {
        let own = gain[column];
        self.mean[column] += own * step;
        for (other, gain) in gain.iter().enumerate() {
            let less = own * gain * information;
            let covariance = self.covariance.get(column, other) - less;
            self.covariance.set(column, other, covariance);
        }
    }

    /// Copies the means and covariances of some columns.
    fn block(&self, columns: &[usize]) -> Self {
        Self {
            mean: columns.iter().map(|&i| self.mean[i]).collect(),
            covariance: self.covariance.select(columns),
            optional: self.optional.keep(columns),
        }
    }

    /// Writes the means and covariances of a copied block back.
    fn restore(&mut self, columns: &[usize], block: &Self) {
        for (&i, mean) in columns.iter().zip(&block.mean) {
            self.mean[i] = *mean;
        }
        self.covariance.restore(columns, &block.covariance);
    }

    /// Multiplies all deviations from the prior by `keep` in the columns for which `pulled` gives a
    /// prior deviation: one step of an Ornstein-Uhlenbeck process, m → ρm and S → ρ²S + (1 −
    /// ρ²)·prior.
    pub fn fade(&mut self, keep: f64, pulled: impl Fn(usize) -> Option<f64>) {
        let rho: Vec<f64> = (0..self.width())
            .map(|i| pulled(i).map_or(1.0, |_| keep))
            .collect();
        for (m, r) in self.mean.iter_mut().zip(&rho) {
            *m *= r;
        }
        for i in 0..self.width() {
            for j in 0..=i {
                let faded = rho[i] * rho[j] * self.covariance.get(i, j);
                self.covariance.set(i, j, faded);
            }
            let prior = pulled(i).unwrap_or(0.0);
            self.widen(i, (1.0 - keep * keep) * prior * prior);
        }
    }

    /// Keeps the columns with these numbers (ascending) and drops the others.
    pub fn keep(&mut self, kept: &[usize]) {
        *self = self.block(kept);
    }
}

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
struct Optional(Vec<Effect>);

impl Optional {
    /// Adds an effect whose mean is 0.
    fn add(&mut self, column: usize, variance: f64) {
        debug_assert!(self.0.len() < 2, "the equations are those of two");
        self.0.push(Effect {
            column,
            variance,
            pull: 0.0,
        });
    }

    /// What is subtracted from a mean whose covariances with the columns are these.
    fn pull(&self, covariance: impl Fn(usize) -> f64) -> f64 {
        let pulls = self.0.iter();
        pulls.map(|own| own.pull * covariance(own.column)).sum()
    }

    /// Weighs the effects against none, after the filter has learned.
    fn weigh(&mut self, mean: &[f64], covariance: &Triangle) {
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
    fn keep(&self, kept: &[usize]) -> Self {
        let renumbered = |own: &Effect| {
            let column = kept.binary_search(&own.column).ok()?;
            Some(Effect { column, ..*own })
        };
        Self(self.0.iter().filter_map(renumbered).collect())
    }
}

#[cfg(test)]
mod tests;
