//! The filter: a Gaussian over all columns, moment-matched to one match after the other.

use serde::{Deserialize, Serialize};

use crate::rating::{Strength, normal};

use super::{
    columns::{Column, Row},
    triangle::Triangle,
};

/// What is believed of a column before anything is seen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prior {
    /// Standard deviation of players' strengths.
    pub skill: f64,
    /// Standard deviation of a player's drift from one match to the next.
    pub drift: f64,
    /// The days of absence that let a player drift as far as a match does.
    pub days: f64,
}

/// Standard deviation of the side's effect: 95 % of rulesets are believed to be won by one side in
/// between 16 and 84 % of matches of equals.
const SIDE: f64 = 0.5;
/// The same of a map's effect on top: 42 to 58 %.
const SIDE_MAP: f64 = 0.1;
/// The same of one head more.
const SIZE: f64 = 0.3;
/// Being new, commanding and being with friends, beside how much players differ.
const NEWNESS: f64 = 0.5;
const RECORD: f64 = 1.5;
const COMMAND: f64 = 0.25;
const PARTY: f64 = 0.1;

impl Prior {
    /// The standard deviation of a column.
    pub fn deviation(&self, column: Column) -> f64 {
        match column {
            Column::Skill(_) => self.skill,
            Column::Command(_) => COMMAND * self.skill,
            Column::Newness => NEWNESS * self.skill,
            Column::Record => crate::domain::knob(1, RECORD) * self.skill,
            Column::Party => PARTY * self.skill,
            Column::Size => if crate::domain::knob(5, 2.0) > 1.5 { crate::domain::knob(6, 1.4) } else { SIZE },
            Column::Side(_) => SIDE,
            Column::SideMap(..) => SIDE_MAP,
        }
    }
}

/// What a match told about the latent difference d = a·x + N(0, 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sight {
    /// It was above nothing (`1.0`) or below (`-1.0`).
    Sign(f64),
    /// It was this close to nothing.
    Within(f64),
    /// It was this: the points of a match, in units of the latent difference.
    Value(f64),
}

/// A Gaussian: means and covariances. The latter's single precision is far finer than the drift that
/// every match adds.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Filter {
    mean: Vec<f64>,
    covariance: Triangle,
}

/// Mean of the latent difference without noise, and its variance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Latent {
    /// a·m.
    pub mean: f64,
    /// a·S·a.
    pub variance: f64,
}

impl Latent {
    /// The chance that it is above nothing with noise: Φ(a·m / √(1 + a·S·a)).
    pub fn chance(&self) -> f64 {
        normal::cdf(self.mean / libm::sqrt(1.0 + self.variance))
    }
}

/// Points beyond this many standard deviations of what was expected tell no more than those do.
const SURPRISE: f64 = 3.0;

impl Filter {
    /// Number of columns.
    pub fn width(&self) -> usize {
        self.mean.len()
    }

    /// Appends a column, independent of the others.
    pub fn add(&mut self, start: Strength) {
        self.mean.push(start.mean);
        self.covariance.push(start.variance());
    }

    /// A column on its own.
    pub fn strength(&self, column: usize) -> Strength {
        Strength {
            mean: self.mean[column],
            deviation: libm::sqrt(self.variance(column).max(0.0)),
        }
    }

    /// A column's mean.
    pub fn mean(&self, column: usize) -> f64 {
        self.mean[column]
    }

    /// A column's variance.
    pub fn variance(&self, column: usize) -> f64 {
        self.covariance.get(column, column)
    }

    /// Adds to a column's variance.
    pub fn widen(&mut self, column: usize, variance: f64) {
        let wider = self.variance(column) + variance;
        self.covariance.set(column, column, wider);
    }

    /// The latent difference of a row, with S·a in `gain`. What is new in it comes with its prior.
    /// O(columns · factors).
    pub fn latent(&self, row: &Row, prior: &Prior, gain: &mut Vec<f32>) -> Latent {
        self.covariance.times(&row.known, gain);
        let known =
            |f: &dyn Fn(usize) -> f64| row.known.iter().map(|&(c, x)| x * f(c)).sum::<f64>();
        let new = row.new.iter().map(|&(column, x)| {
            let deviation = x * prior.deviation(column);
            deviation * deviation
        });
        Latent {
            mean: known(&|c| self.mean[c]),
            variance: known(&|c| gain[c].into()).max(0.0) + new.sum::<f64>(),
        }
    }

    /// Learns from a match whose columns all have numbers. `gain` and `latent` are what
    /// [`latent`](Self::latent) gave for it. The columns `still` take part without being changed.
    ///
    /// One rank-1 change, O(columns²/2): with g = S·a, q = a·g, c² = 1 + q and the moments v, w of the
    /// standardised difference, m += g·v/c and S −= g·gᵀ·w/c². Leaving a column still is the Schmidt
    /// (consider) form of the same: its own block stays, its covariance with the others is updated.
    pub fn learn(&mut self, sight: Sight, latent: Latent, gain: &[f32], still: &[usize]) {
        let c = libm::sqrt(1.0 + latent.variance);
        let z = latent.mean / c;
        let (v, w) = match sight {
            Sight::Sign(sign) => {
                let moments = normal::above(sign * z);
                (sign * moments.v, moments.w)
            }
            Sight::Within(margin) => {
                let moments = normal::between(-margin / c - z, margin / c - z);
                (moments.v, moments.w)
            }
            Sight::Value(value) => ((value / c - z).clamp(-SURPRISE, SURPRISE), 1.0),
        };
        let before = self.block(still);
        let step = v / c;
        for (m, g) in self.mean.iter_mut().zip(gain) {
            *m += f64::from(*g) * step;
        }
        self.covariance.minus_outer(gain, w / (c * c));
        self.restore(still, &before);
    }

    /// Means and covariances of some columns.
    fn block(&self, columns: &[usize]) -> Self {
        Self {
            mean: columns.iter().map(|&i| self.mean[i]).collect(),
            covariance: self.covariance.select(columns),
        }
    }

    /// Puts them back.
    fn restore(&mut self, columns: &[usize], block: &Self) {
        for (k, &i) in columns.iter().enumerate() {
            self.mean[i] = block.mean[k];
            for (l, &j) in columns[..=k].iter().enumerate() {
                self.covariance.set(i, j, block.covariance.get(k, l));
            }
        }
    }

    /// Lets everything about the columns that `pulled` names fade by `keep` towards a prior: the step
    /// of an Ornstein-Uhlenbeck process, m → ρm and S → ρ²S + (1 − ρ²)·prior.
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

    /// Keeps the columns with these numbers (ascending); of the others nothing remains.
    pub fn keep(&mut self, kept: &[usize]) {
        *self = self.block(kept);
    }
}

#[cfg(test)]
mod tests;
