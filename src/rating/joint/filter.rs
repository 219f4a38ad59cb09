//! The filter: a Gaussian over all columns, moment-matched to one match after the other.

use crate::rating::{Strength, normal};

use super::columns::{Column, Row};

/// What is believed of a column before anything is seen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prior {
    /// Standard deviation of players' strengths.
    pub skill: f64,
    /// Standard deviation of a player's drift from one match to the next.
    pub drift: f64,
}

/// Standard deviation of the side's effect: 95 % of rulesets are believed to be won by one side in
/// between 8 and 92 % of matches of equals.
const SIDE: f64 = 0.7;
/// The same of a map's effect on top: 42 to 58 %.
const SIDE_MAP: f64 = 0.1;
/// The same of one head more.
const SIZE: f64 = 0.3;
/// Being new, commanding and being with friends: parts of a player's strength.
const NEWNESS: f64 = 0.4;
const COMMAND: f64 = 0.25;
const PARTY: f64 = 0.1;

impl Prior {
    /// The standard deviation of a column.
    pub fn deviation(&self, column: Column) -> f64 {
        match column {
            Column::Skill(_) => self.skill,
            Column::Command(_) => COMMAND * self.skill,
            Column::Newness => NEWNESS * self.skill,
            Column::Party => PARTY * self.skill,
            Column::Size => SIZE,
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

/// A Gaussian: means and the lower triangle of the covariance, row after row.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    mean: Vec<f64>,
    covariance: Vec<f64>,
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
        let width = self.width();
        self.mean.push(start.mean);
        self.covariance.resize(self.covariance.len() + width, 0.0);
        self.covariance.push(start.deviation * start.deviation);
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
        self.covariance[at(column, column)]
    }

    /// Adds to a column's variance.
    pub fn widen(&mut self, column: usize, variance: f64) {
        self.covariance[at(column, column)] += variance;
    }

    /// S·a into `gain`. O(columns · factors).
    fn gain(&self, row: &[(usize, f64)], gain: &mut Vec<f64>) {
        gain.clear();
        gain.resize(self.width(), 0.0);
        for &(column, x) in row {
            let start = at(column, 0);
            let left = &self.covariance[start..=start + column];
            for (g, s) in gain.iter_mut().zip(left) {
                *g += x * s;
            }
            let mut index = start + column; // walks down the column below the diagonal
            for (i, g) in gain.iter_mut().enumerate().skip(column + 1) {
                index += i;
                *g += x * self.covariance[index];
            }
        }
    }

    /// The latent difference of a row; what is new in it comes with its prior.
    pub fn latent(&self, row: &Row, prior: &Prior, gain: &mut Vec<f64>) -> Latent {
        self.gain(&row.known, gain);
        let known =
            |f: &dyn Fn(usize) -> f64| row.known.iter().map(|&(c, x)| x * f(c)).sum::<f64>();
        let new = row.new.iter().map(|&(column, x)| {
            let deviation = x * prior.deviation(column);
            deviation * deviation
        });
        Latent {
            mean: known(&|c| self.mean[c]),
            variance: known(&|c| gain[c]).max(0.0) + new.sum::<f64>(),
        }
    }

    /// Learns from a match whose columns all have numbers. `gain` and `latent` are what
    /// [`latent`](Self::latent) gave for it. The columns `still` take part without being changed.
    ///
    /// One rank-1 change, O(columns²/2): with g = S·a, q = a·g, c² = 1 + q and the moments v, w of the
    /// standardised difference, m += g·v/c and S −= g·gᵀ·w/c². Leaving a column still is the Schmidt
    /// (consider) form of the same: its own block stays, its covariance with the others is updated.
    pub fn learn(&mut self, sight: Sight, latent: Latent, gain: &[f64], still: &[usize]) {
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
        for (m, g) in self.mean.iter_mut().zip(gain) {
            *m += g * (v / c);
        }
        let mut rows = self.covariance.as_mut_slice();
        for (i, g) in gain.iter().enumerate() {
            let (row, rest) = rows.split_at_mut(i + 1);
            rows = rest;
            let factor = g * (w / (c * c));
            if factor != 0.0 {
                for (s, g) in row.iter_mut().zip(gain) {
                    *s -= factor * g;
                }
            }
        }
        self.restore(still, before);
    }

    fn block(&self, still: &[usize]) -> Vec<f64> {
        let pairs = still.iter().enumerate();
        let covariances = pairs.flat_map(|(k, &i)| still[..=k].iter().map(move |&j| at(i, j)));
        let means = still.iter().map(|&i| self.mean[i]);
        means
            .chain(covariances.map(|index| self.covariance[index]))
            .collect()
    }

    fn restore(&mut self, still: &[usize], before: Vec<f64>) {
        let mut before = before.into_iter();
        for (&i, mean) in still.iter().zip(before.by_ref()) {
            self.mean[i] = mean;
        }
        for (k, &i) in still.iter().enumerate() {
            for (&j, covariance) in still[..=k].iter().zip(before.by_ref()) {
                self.covariance[at(i, j)] = covariance;
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
                self.covariance[at(i, j)] *= rho[i] * rho[j];
            }
            let prior = pulled(i).unwrap_or(0.0);
            self.covariance[at(i, i)] += (1.0 - keep * keep) * prior * prior;
        }
    }

    /// Keeps the columns with these numbers (ascending); of the others nothing remains.
    pub fn keep(&mut self, kept: &[usize]) {
        let rows = kept.iter().enumerate();
        let covariance = rows.flat_map(|(k, &i)| kept[..=k].iter().map(move |&j| at(i, j)));
        self.covariance = covariance.map(|index| self.covariance[index]).collect();
        self.mean = kept.iter().map(|&i| self.mean[i]).collect();
    }
}

/// Index of row `i`, column `j` ≤ `i` in the triangle.
fn at(i: usize, j: usize) -> usize {
    debug_assert!(j <= i, "below the diagonal only");
    i * (i + 1) / 2 + j
}

#[cfg(test)]
mod tests;
