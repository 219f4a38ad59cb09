//! Histograms: how many values fell into each of a few ranges.

use std::sync::atomic::{AtomicU64, Ordering};

/// The upper bounds of durations, in seconds: from a write to the disk to a long rebuild.
pub const SECONDS: &[f64] = &[
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0,
];

/// The upper bounds of ratios and chances, closest together near the values of even teams.
pub const SHARES: &[f64] = &[
    0.1, 0.2, 0.3, 0.4, 0.45, 0.48, 0.5, 0.52, 0.55, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0,
];

/// The values that were observed, by range.
#[derive(Debug)]
pub struct Buckets {
    bounds: &'static [f64],
    /// One for each bound, and one for larger values.
    counts: Box<[AtomicU64]>,
    /// The bits of the sum of all values.
    sum: AtomicU64,
}

/// What [`Buckets`] contain at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct BucketCounts {
    /// The upper bounds, ascending. A value that is equal to a bound is below it.
    pub bounds: Vec<f64>,
    /// Number of values in each range; the last one has no upper bound.
    pub counts: Vec<u64>,
    /// The sum of all values.
    pub sum: f64,
}

impl Buckets {
    /// A histogram without values. `bounds` are ascending.
    pub fn new(bounds: &'static [f64]) -> Self {
        Self {
            bounds,
            counts: (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect(),
            sum: AtomicU64::new(0.0_f64.to_bits()),
        }
    }

    /// Adds a value. One that is not a number is left out.
    pub fn observe(&self, value: f64) {
        if value.is_nan() {
            return;
        }
        let at = self.bounds.partition_point(|bound| *bound < value);
        if let Some(count) = self.counts.get(at) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let add = |bits| Some((f64::from_bits(bits) + value).to_bits());
        let _ = (self.sum).fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }

    /// The values that were added so far.
    pub fn counts(&self) -> BucketCounts {
        let counts = self.counts.iter();
        BucketCounts {
            bounds: self.bounds.to_vec(),
            counts: counts.map(|n| n.load(Ordering::Relaxed)).collect(),
            sum: f64::from_bits(self.sum.load(Ordering::Relaxed)),
        }
    }
}

impl BucketCounts {
    /// The number of all values, in whatever range.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_belongs_below_the_first_bound_that_it_does_not_exceed() {
        let buckets = Buckets::new(&[1.0, 2.0]);
        for value in [0.5, 1.0, 1.5, 2.0, 2.5, -3.0, f64::NAN] {
            buckets.observe(value);
        }
        let counts = buckets.counts();
        assert_eq!(counts.counts, [3, 2, 1]);
        assert_eq!((counts.total(), counts.sum), (6, 4.5));
    }
}
