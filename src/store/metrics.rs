//! What is counted about a database.

use crate::metrics::{Buckets, Counter, Family, SECONDS};

/// What is counted about the writes of this process to a database.
#[derive(Debug)]
pub struct StoreMetrics {
    writes: Buckets,
    failures: Counter,
}

impl Default for StoreMetrics {
    fn default() -> Self {
        Self {
            writes: Buckets::new(SECONDS),
            failures: Counter::default(),
        }
    }
}

impl StoreMetrics {
    /// Adds a write that took so long and is on the disk.
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

    /// The names, meanings and values.
    pub fn families(&self) -> Vec<Family> {
        vec![
            Family::histogram(
                "evenkeel_database_write_seconds",
                "Time of a write to the database: with the wait for other writes, until it is on the disk.",
                self.writes.counts(),
            ),
            Family::counter(
                "evenkeel_database_write_failures_total",
                "Writes to the database that failed: the disk is full or broken, or the database was locked.",
                &self.failures,
            ),
        ]
    }
}
