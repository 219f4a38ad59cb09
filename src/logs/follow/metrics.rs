//! What is counted about followed logs.

use crate::metrics::{Counter, Gauge, Registry};

/// What is counted about all followed logs. Gauges are as of the last poll.
#[derive(Debug)]
pub struct FollowMetrics {
    /// All of them.
    pub registry: Registry,
    pub(super) logs: Gauge,
    /// In bytes.
    pub(super) unread: Gauge,
    pub(super) failing: Gauge,
    pub(super) missing: Gauge,
    pub(super) recorded: Counter,
    pub(super) is_broken: Gauge,
}

impl Default for FollowMetrics {
    fn default() -> Self {
        let mut all = Registry::default();
        Self {
            logs: all.gauge("evenkeel_followed_logs", "Logs that the daemon follows."),
            unread: all.gauge(
                "evenkeel_followed_unread_bytes",
                "Bytes of followed logs that are not read yet.",
            ),
            failing: all.gauge(
                "evenkeel_followed_failing",
                "Followed logs that could not be read.",
            ),
            missing: all.gauge(
                "evenkeel_followed_missing",
                "Configured logs and folders to follow that do not exist.",
            ),
            recorded: all.counter(
                "evenkeel_followed_matches_total",
                "Matches that were recorded from followed logs.",
            ),
            is_broken: all.gauge(
                "evenkeel_followed_broken",
                "Whether the thread that reads followed logs has failed, 0 or 1.",
            ),
            registry: all,
        }
    }
}

impl FollowMetrics {
    /// The number of bytes that are not read yet.
    pub fn unread(&self) -> i64 {
        self.unread.get() as i64
    }

    /// The number of logs that could not be read.
    pub fn failing(&self) -> i64 {
        self.failing.get() as i64
    }

    /// The number of configured paths at which there is nothing: removed, or never there.
    pub fn missing(&self) -> i64 {
        self.missing.get() as i64
    }

    /// Whether no log is followed any more, because the thread that reads them has failed.
    pub fn is_broken(&self) -> bool {
        self.is_broken.get() != 0.0
    }
}
