//! Histograms: how many values fell into each of a few ranges.

use std::sync::{
    Arc,
    atomic::{AtomicU64, AtomicUsize, Ordering},
};

use super::number;

/// The upper bounds of durations, in seconds: from a write to the disk to a long rebuild.
pub const SECONDS: &[f64] = &[
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0,
];

/// The upper bounds of ratios and chances, closest together near the values of even teams.
pub const SHARES: &[f64] = &[
    0.1, 0.2, 0.3, 0.4, 0.45, 0.48, 0.5, 0.52, 0.55, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 1.0,
];

/// The number of copies of the counts. Threads beyond that share them.
const COPIES: usize = 16;
/// The numbers of 64 bits in a cache line.
const CACHE_LINE: usize = 8;

/// The values that were observed, by range. Clones share them.
///
/// Threads that count in the same memory slow each other down. So there are several copies of the counts; each thread
/// counts in one of them, and a reader adds them up.
#[derive(Clone, Debug)]
pub struct Histogram {
    bounds: &'static [f64],
    /// In each copy: a count for each bound, one for larger values, and the bits of the sum of all values.
    copies: Arc<[AtomicU64]>,
}

/// What a [`Histogram`] contains at a moment.
#[derive(Clone, Debug, PartialEq)]
pub struct HistogramCounts {
    /// Number of values in each range; the last one has no upper bound.
    pub counts: Vec<u64>,
    /// The sum of all values.
    pub sum: f64,
}

/// The number of the copy in which this thread counts.
fn own_copy() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local! {
        static OWN: usize = NEXT.fetch_add(1, Ordering::Relaxed) % COPIES;
    }
    OWN.with(|own| *own)
}

impl Histogram {
    /// A histogram without values. `bounds` are ascending.
    pub fn new(bounds: &'static [f64]) -> Self {
        let numbers = COPIES * stride(bounds);
        Self {
            bounds,
            copies: (0..numbers).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Adds a value. One that is not a number is left out.
    pub fn observe(&self, value: f64) {
        self.observe_each(1, value);
    }

    /// Adds the same value `times` times.
    pub fn observe_each(&self, times: u32, value: f64) {
        if value.is_nan() {
            return;
        }
        let copy = &self.copies[own_copy() * stride(self.bounds)..];
        // Most durations are below one of the first bounds.
        let at = self.bounds.iter().take_while(|b| **b < value).count();
        copy[at].fetch_add(times.into(), Ordering::Relaxed);
        number::add(&copy[self.bounds.len() + 1], value * f64::from(times));
    }

    /// The upper bounds, ascending. A value that is equal to a bound is below it.
    pub fn bounds(&self) -> &'static [f64] {
        self.bounds
    }

    /// The values that were added so far.
    pub fn counts(&self) -> HistogramCounts {
        let mut counts = vec![0; self.bounds.len() + 1];
        let mut sum = 0.0;
        for copy in self.copies.chunks(stride(self.bounds)) {
            for (count, more) in counts.iter_mut().zip(copy) {
                *count += more.load(Ordering::Relaxed);
            }
            sum += f64::from_bits(copy[counts.len()].load(Ordering::Relaxed));
        }
        HistogramCounts { counts, sum }
    }
}

/// How many numbers a copy takes: at its end is a gap, so that no two copies are in one cache line.
fn stride(bounds: &[f64]) -> usize {
    bounds.len() + 2 + CACHE_LINE
}

impl HistogramCounts {
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
        let histogram = Histogram::new(&[1.0, 2.0]);
        for value in [0.5, 1.0, 1.5, 2.0, 2.5, -3.0, f64::NAN] {
            histogram.observe(value);
        }
        histogram.observe_each(2, 7.0);
        let counts = histogram.counts();
        assert_eq!(counts.counts, [3, 2, 3]);
        assert_eq!((counts.total(), counts.sum), (8, 18.5));
    }
}
