//! Metrics of the daily backups: the time of the latest one, and the failures.

use crate::{
    metrics::{Counter, Gauge, Registry},
    model::Timestamp,
};

/// When the latest daily backup was made, and how many have failed.
#[derive(Debug)]
pub struct BackupMetrics {
    pub(super) registry: Registry,
    /// In seconds since 1970; 0 if there is none.
    latest: Gauge,
    failures: Counter,
}

impl Default for BackupMetrics {
    fn default() -> Self {
        let mut all = Registry::default();
        Self {
            latest: all.gauge(
                "evenkeel_backup_timestamp_seconds",
                "When the latest daily backup was made, in seconds since 1970; 0 if there is none.",
            ),
            failures: all.counter(
                "evenkeel_backup_failures_total",
                "Daily backups that failed; they are tried again every minute.",
            ),
            registry: all,
        }
    }
}

impl BackupMetrics {
    /// Notes the time of the latest backup in the folder.
    pub fn found(&self, latest: Option<Timestamp>) {
        self.latest
            .set(latest.map_or(0.0, |time| time.0 as f64 / 1_000.0));
    }

    /// Counts a backup that failed.
    pub fn failed(&self) {
        self.failures.count();
    }

    /// The time of the latest backup.
    pub fn latest(&self) -> Option<Timestamp> {
        let millis = (self.latest.get() * 1_000.0).round() as i64;
        Some(Timestamp(millis)).filter(|time| time.0 != 0)
    }

    /// How many backups have failed.
    pub fn failures(&self) -> u64 {
        self.failures.get()
    }
}
