//! Counters of the daily backups: the time of the latest one, and the failures.

use crate::{
    domain::Timestamp,
    metrics::{Counter, Family, Gauge},
};

/// When the latest daily backup was made, and how many have failed.
#[derive(Debug, Default)]
pub struct BackupMetrics {
    /// When the latest backup was made, in milliseconds since 1970; 0 if there is none.
    latest: Gauge,
    failures: Counter,
}

impl BackupMetrics {
    /// Notes the time of the latest backup in the folder.
    pub fn found(&self, latest: Option<Timestamp>) {
        self.latest.set(latest.map_or(0, |time| time.0));
    }

    /// Counts a backup that failed.
    pub fn failed(&self) {
        self.failures.count();
    }

    /// The time of the latest backup.
    pub fn latest(&self) -> Option<Timestamp> {
        Some(Timestamp(self.latest.get())).filter(|time| time.0 != 0)
    }

    /// How many backups have failed.
    pub fn failures(&self) -> u64 {
        self.failures.get()
    }

    /// The names, meanings and values.
    pub fn families(&self) -> Vec<Family> {
        vec![
            Family::gauge(
                "evenkeel_backup_timestamp_seconds",
                "When the latest daily backup was made, in seconds since 1970; 0 if there is none.",
                self.latest.get() as f64 / 1_000.0,
            ),
            Family::counter(
                "evenkeel_backup_failures_total",
                "Daily backups that failed; they are tried again every minute.",
                &self.failures,
            ),
        ]
    }
}
