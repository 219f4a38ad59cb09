//! What is counted about a database.

use crate::metrics::{Counter, Histogram, Registry, SECONDS};

/// What is counted about the writes of this process to a database.
#[derive(Debug)]
pub struct StoreMetrics {
    /// All of them.
    pub registry: Registry,
    writes: Histogram,
    failures: Counter,
}

impl Default for StoreMetrics {
    fn default() -> Self {
        let mut all = Registry::default();
        Self {
            writes: all.histogram(
                "evenkeel_database_write_seconds",
                "Time of a write to the database: with the wait for other writes, until it is on the disk.",
                SECONDS,
            ),
            failures: all.counter(
                "evenkeel_database_write_failures_total",
                "Writes to the database that failed: the disk is full or broken, or the database was locked.",
            ),
            registry: all,
        }
    }
}

impl StoreMetrics {
    /// Adds the duration of a write that is on the disk.
    pub(super) fn written(&self, seconds: f64) {
        self.writes.observe(seconds);
    }

    /// Counts a write that failed.
    pub(super) fn failed(&self) {
        self.failures.count();
    }

    /// How many writes have failed.
    pub fn failures(&self) -> u64 {
        self.failures.get()
    }
}
