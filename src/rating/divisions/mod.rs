//! Divisions: named parts of the players of a ruleset, by weight, which players are shown instead of a
//! number.
//!
//! A division begins at a percentile of the players' weights. The coordinator page gives the reasons for
//! showing one: a number invites players to count every point, a division to leave it upwards. What
//! players would hold against divisions is prevented here:
//!
//! - A player gets a division only once enough is known ([`Settings::is_calibrated`]).
//! - A player at a border does not flicker: crossing it takes a weight that is [`Settings::hysteresis`]
//!   points beyond it, in either direction ([`Borders::place`]).
//! - In a small community, the best of five is not in the highest division at once: the borders are those
//!   of the players and of [`IMAGINED`] others ([`Borders::of`]).
//! - Who stays away to keep a division sees it fall ([`Settings::displayed`]). Only what is displayed
//!   falls. The function takes the time away as an argument, so that no weight depends on a clock.
//!
//! Everything here is a pure function of its arguments. Who has which division is derived data, and the
//! room `history` keeps it.

mod settings;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::domain::Rank;

pub use settings::{Display, DivisionName, MOST, Settings};

/// The number of players who are imagined besides those of a ruleset, with weights that are spread evenly
/// over [`IMAGINED_WEIGHTS`]. With two dozen real players, half of a border's position is theirs.
const IMAGINED: usize = 20;
/// The range of the imagined weights. Half of the way from 50 to either end is what a known strength of
/// one [`halfway`](super::Scale) is worth, which few players of a new community reach.
const IMAGINED_WEIGHTS: (f64, f64) = (25.0, 75.0);
/// The multiple of the calibration matches after which a player gets a division however large the
/// deviation is: in large teams, it may stay large for ever.
const PATIENCE: u32 = 3;
/// The largest part of the narrower division beside a border that the hysteresis may take.
const MOST_OF_A_DIVISION: f64 = 0.25;
/// The share of players beyond each end of the scale of progress: one who is far stronger than all others
/// does not empty everybody's bar.
const EXTREME: f64 = 0.01;
const MILLIS_A_DAY: f64 = 86_400_000.0;

impl Settings {
    /// Whether a player with so many rated matches and this deviation of the weight gets a division.
    pub fn is_calibrated(&self, games: u32, deviation: f64) -> bool {
        let least = self.calibration_matches.get();
        let known = deviation <= self.calibration_deviation.get();
        games >= least && (known || games >= least.saturating_mul(PATIENCE))
    }

    /// The rank to display for a player who was last seen so many milliseconds ago. It falls with time,
    /// and never rises above `rank`.
    pub fn displayed(&self, rank: Rank, millis_away: i64) -> Rank {
        let days = millis_away as f64 / MILLIS_A_DAY;
        let beyond = days - f64::from(self.decay_after_days.get());
        match self.decay_days.get() {
            0 => rank,
            per_division => rank.lowered(beyond / f64::from(per_division)),
        }
    }
}

/// The weights at which the divisions of a ruleset begin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Borders {
    /// Ascending: the weight that only [`EXTREME`] players are below, the first weight of each division
    /// but the lowest, and the weight that only [`EXTREME`] players are above. Two at least.
    marks: Vec<f64>,
    hysteresis: f64,
}

impl Borders {
    /// The borders for players with these weights. O(n log n).
    pub fn of(settings: &Settings, weights: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = weights.into_iter().filter(|w| w.is_finite()).collect();
        sorted.extend(imagined_weights());
        sorted.sort_unstable_by(f64::total_cmp);
        let inner = settings.shares_below();
        let (first, last) = (inner.first(), inner.last());
        let lowest = first.map_or(EXTREME, |&share| share.min(EXTREME));
        let highest = last.map_or(1.0 - EXTREME, |&share| share.max(1.0 - EXTREME));
        let shares = [&[lowest], inner.as_slice(), &[highest]].concat();
        let marks = shares.into_iter();
        Self {
            marks: marks.map(|share| quantile(&sorted, share)).collect(),
            hysteresis: settings.hysteresis.get(),
        }
    }

    /// The number of the highest division.
    fn top(&self) -> usize {
        self.marks.len().saturating_sub(2)
    }

    /// How far beyond the lower border of a division a weight must be to cross it, in points.
    fn margin(&self, division: usize) -> f64 {
        let width = |i: usize| match (self.marks.get(i), self.marks.get(i + 1)) {
            (Some(low), Some(high)) => high - low,
            _ => 0.0,
        };
        let narrower = width(division).min(width(division.saturating_sub(1)));
        self.hysteresis.min(MOST_OF_A_DIVISION * narrower)
    }

    /// The weight below which a player leaves this division downwards.
    fn falls_below(&self, division: usize) -> f64 {
        match division {
            0 => f64::NEG_INFINITY,
            _ => self.mark(division) - self.margin(division),
        }
    }

    /// The weight from which on a player leaves this division upwards.
    fn rises_from(&self, division: usize) -> f64 {
        match division >= self.top() {
            true => f64::INFINITY,
            false => self.mark(division + 1) + self.margin(division + 1),
        }
    }

    fn mark(&self, index: usize) -> f64 {
        let last = self.marks.last();
        let mark = self.marks.get(index).or(last);
        mark.copied().unwrap_or(50.0)
    }

    /// The division of a player with this weight, who is in the division `held` already, or in none.
    ///
    /// For one `held`, a higher weight never means a lower division. Within [`Settings::hysteresis`] of a
    /// border, both divisions beside it are kept.
    pub fn place(&self, weight: f64, held: Option<u8>) -> u8 {
        let top = self.top();
        let mut division = match held {
            Some(held) => usize::from(held).min(top),
            None => {
                let begun = (1..=top).take_while(|&i| self.mark(i) <= weight);
                begun.last().unwrap_or(0)
            }
        };
        while held.is_some() && weight >= self.rises_from(division) {
            division += 1;
        }
        while held.is_some() && weight < self.falls_below(division) {
            division -= 1;
        }
        u8::try_from(division).unwrap_or(u8::MAX)
    }

    /// The rank of a player of this division with this weight.
    pub fn rank(&self, division: u8, weight: f64) -> Rank {
        let index = usize::from(division);
        let (low, high) = (
            self.falls_below(index).max(self.mark(0)),
            self.rises_from(index).min(self.mark(self.top() + 1)),
        );
        let progress = match high > low && weight.is_finite() {
            true => ((weight - low) / (high - low)).clamp(0.0, 1.0),
            false => 0.0,
        };
        Rank { division, progress }
    }
}

/// The weights of the players who are imagined.
fn imagined_weights() -> impl Iterator<Item = f64> {
    let (low, high) = IMAGINED_WEIGHTS;
    (0..IMAGINED).map(move |i| low + (high - low) * (i as f64 + 0.5) / IMAGINED as f64)
}

/// The number that has this share of the sorted numbers below it, interpolated; 50 if there are none.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return 50.0;
    };
    let at = share.clamp(0.0, 1.0) * last as f64;
    let below = (at.floor() as usize).min(last);
    let above = (below + 1).min(last);
    sorted[below] + (at - below as f64) * (sorted[above] - sorted[below])
}
