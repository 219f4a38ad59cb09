//! What is counted about followed logs.

use crate::metrics::{Counter, Family, Gauge};

/// What is counted about all followed logs.
#[derive(Debug, Default)]
pub struct FollowMetrics {
    /// Logs that are followed.
    pub(super) logs: Gauge,
    /// Bytes of them that are not read yet.
    pub(super) unread: Gauge,
    /// Logs that could not be read at the last poll.
    pub(super) failing: Gauge,
    /// Configured paths at which there was nothing at the last poll.
    pub(super) missing: Gauge,
    /// Matches that were recorded.
    pub(super) recorded: Counter,
    /// Whether the thread that reads the logs has failed: 0 or 1.
    pub(super) is_broken: Gauge,
}

impl FollowMetrics {
    /// The number of bytes that are not read yet.
    pub fn unread(&self) -> i64 {
        self.unread.get()
    }

    /// The number of logs that could not be read.
    pub fn failing(&self) -> i64 {
        self.failing.get()
    }

    /// The number of configured paths at which there is nothing: removed, or never there.
    pub fn missing(&self) -> i64 {
        self.missing.get()
    }

    /// Whether no log is followed any more, because the thread that reads them has failed.
    pub fn is_broken(&self) -> bool {
        self.is_broken.get() != 0
    }

    /// The names, meanings and values.
    pub fn families(&self) -> Vec<Family> {
        vec![
            Family::gauge(
                "evenkeel_followed_logs",
                "Logs that the daemon follows.",
                &self.logs,
            ),
            Family::gauge(
                "evenkeel_followed_unread_bytes",
                "Bytes of followed logs that are not read yet.",
                &self.unread,
            ),
            Family::gauge(
                "evenkeel_followed_failing",
                "Followed logs that could not be read.",
                &self.failing,
            ),
            Family::gauge(
                "evenkeel_followed_missing",
                "Configured logs and folders to follow that do not exist.",
                &self.missing,
            ),
            Family::gauge(
                "evenkeel_followed_broken",
                "Whether the thread that reads followed logs has failed, 0 or 1.",
                &self.is_broken,
            ),
            Family::counter(
                "evenkeel_followed_matches_total",
                "Matches that were recorded from followed logs.",
                &self.recorded,
            ),
        ]
    }
}
