//! What operators watch: metrics for Prometheus, the status of the daemon, and what is wrong with it.
//!
//! All numbers come from memory, except for the size of the database and whether it answers, for which there is a
//! time limit: a daemon whose disk is stuck can still be watched. Nothing here changes anything.
//!
//! Counted here are the requests over HTTP, the daily backups with their failures, and how far the clock of this
//! machine is from that of the database.
//!
//! Entry point: [`Monitor`].

mod monitor;
mod status;

pub use monitor::{Monitor, NotReady};
pub use status::{
    BacklogStatus, BackupStatus, FollowStatus, GameStatus, HookStatus, HostingStatus,
    JournalStatus, MatchStatus, OtherSettingsStatus, PredictionStatus, QueueStatus, ShareStatus,
    Status, StoreStatus,
};

use parking_lot::Mutex;

use crate::{
    metrics::{Counter, Gauge, Histogram, Registry, SECONDS},
    model::Timestamp,
    server::Service,
};

/// What is counted about visitors of the pages, and of the metrics themselves.
#[derive(Debug)]
pub struct HttpMetrics {
    registry: Registry,
    /// Number of connections that are open now.
    pub connections: Gauge,
    /// Connections that were refused because there were too many.
    pub refused: Counter,
    seconds: Histogram,
    /// Answers by the first digit of their status, from 1.
    answers: [Counter; 5],
}

impl Default for HttpMetrics {
    fn default() -> Self {
        let mut all = Registry::default();
        Self {
            connections: all.gauge(
                "evenkeel_http_connections",
                "Connections over HTTP that are open.",
            ),
            refused: all.counter(
                "evenkeel_http_refused_total",
                "Connections over HTTP that were refused because there were too many.",
            ),
            seconds: all.histogram(
                "evenkeel_http_request_seconds",
                "Time to make an answer over HTTP, without the time to send it.",
                SECONDS,
            ),
            answers: ["1xx", "2xx", "3xx", "4xx", "5xx"].map(|class| {
                all.counter(
                    ("evenkeel_http_requests_total", "status", class),
                    "Requests over HTTP, by the status of the answer.",
                )
            }),
            registry: all,
        }
    }
}

impl HttpMetrics {
    /// Adds an answer with this status, and the seconds that it took to make it.
    pub fn answered(&self, status: u16, seconds: f64) {
        let class = usize::from(status / 100).saturating_sub(1);
        if let Some(count) = self.answers.get(class) {
            count.count();
        }
        self.seconds.observe(seconds);
    }
}

/// When the latest daily backup was made, and how many have failed.
#[derive(Debug)]
pub struct BackupMetrics {
    registry: Registry,
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

/// The greatest difference between the two clocks that is not reported, in seconds.
const APART: f64 = 3.0;

/// The difference between the clocks of this machine and of the database, as it was last measured.
#[derive(Debug, Default)]
struct ClockDifference(Mutex<Option<f64>>);

impl ClockDifference {
    /// By how many seconds this machine's clock is ahead; `None` if the database has no clock of its own, or has not
    /// been asked.
    pub fn seconds(&self) -> Option<f64> {
        *self.0.lock()
    }

    /// Measures it. Logs when the clocks begin to differ, and when they no longer do.
    pub async fn measure(&self, service: &Service) {
        let clock = service.sessions().clock();
        let before = clock.now();
        let theirs = match service.store().clock().await {
            Ok(Some(theirs)) => theirs,
            Ok(None) => return,
            Err(error) => return tracing::debug!(%error, "the clock of the database is not known"),
        };
        let seconds = ahead(before, theirs, clock.now());
        let was_apart = self.0.lock().replace(seconds).is_some_and(is_apart);
        match (was_apart, is_apart(seconds)) {
            (false, true) => tracing::warn!(
                seconds,
                "the clock of this machine differs from that of the database: set it, for example with NTP"
            ),
            (true, false) => tracing::info!("the clocks of this machine and of the database agree"),
            _ => {}
        }
    }
}

/// Whether a difference is to be reported.
fn is_apart(seconds: f64) -> bool {
    seconds.abs() > APART
}

/// By how many seconds this machine's clock is ahead, at least. The database has read its clock between two readings
/// of this machine's.
fn ahead(before: Timestamp, theirs: Timestamp, after: Timestamp) -> f64 {
    let (least, most) = (
        before.0.saturating_sub(theirs.0),
        after.0.saturating_sub(theirs.0),
    );
    let nearest = match (least > 0, most < 0) {
        (true, _) => least,
        (_, true) => most,
        _ => 0,
    };
    nearest as f64 / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_answer_is_no_difference() {
        let seconds =
            |before, theirs, after| ahead(Timestamp(before), Timestamp(theirs), Timestamp(after));
        assert_eq!(seconds(10_000, 15_000, 60_000), 0.0);
        assert_eq!(seconds(610_000, 10_000, 612_000), 600.0);
        assert_eq!(seconds(10_000, 610_000, 12_000), -598.0);
        assert!(is_apart(-598.0) && !is_apart(2.9));
    }
}
