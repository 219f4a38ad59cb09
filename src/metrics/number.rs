//! Counters and gauges: single numbers, which any number of threads may change at once. Copies share the number.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// A number that only grows, from 0 at the start of the daemon. Its name ends with `_total`.
#[derive(Clone, Debug, Default)]
pub struct Counter(Arc<AtomicU64>);

impl Counter {
    /// Adds one to the number.
    pub fn count(&self) {
        self.add(1);
    }

    /// Adds `more` to the number.
    pub fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    /// The number that was counted so far.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A number that rises and falls. Whole numbers are exact up to 2⁵³.
#[derive(Clone, Debug, Default)]
pub struct Gauge(Arc<AtomicU64>);

impl Gauge {
    /// Sets the number to `value`.
    pub fn set(&self, value: f64) {
        self.0.store(value.to_bits(), Ordering::Relaxed);
    }

    /// Raises the number by one.
    pub fn rise(&self) {
        add(&self.0, 1.0);
    }

    /// Lowers the number by one.
    pub fn fall(&self) {
        add(&self.0, -1.0);
    }

    /// The number as it is now.
    pub fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }
}

/// Adds `more` to the number whose bits these are.
pub(super) fn add(bits: &AtomicU64, more: f64) {
    let sum = |bits| Some((f64::from_bits(bits) + more).to_bits());
    let _ = bits.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum);
}
