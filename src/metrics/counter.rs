//! Counters and gauges: single numbers, which any number of threads may change at once.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// A number that only grows, from 0 at the start of the daemon.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

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

/// A number that rises and falls.
#[derive(Debug, Default)]
pub struct Gauge(AtomicI64);

impl Gauge {
    /// Sets the number to `value`.
    pub fn set(&self, value: i64) {
        self.0.store(value, Ordering::Relaxed);
    }

    /// Raises the number by one.
    pub fn rise(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Lowers the number by one.
    pub fn fall(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }

    /// The number as it is now.
    pub fn get(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}
