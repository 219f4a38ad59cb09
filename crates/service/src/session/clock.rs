//! The clock that sessions use.

#![allow(
    clippy::disallowed_methods,
    reason = "this is the clock that all sessions are given"
)]

use std::{
    fmt::Debug,
    sync::atomic::{AtomicU64, Ordering},
    time::SystemTime,
};

use tokio::time::Instant;

use crate::model::Timestamp;

/// A source of time.
pub trait Clock: Debug + Send + Sync {
    /// Milliseconds since an arbitrary instant; never decreasing.
    fn millis(&self) -> u64;

    /// The date and time of day.
    fn now(&self) -> Timestamp;

    /// Whether the time of day may differ from that of other machines.
    fn may_be_wrong(&self) -> bool {
        true
    }
}

/// The clock of the machine.
#[derive(Debug)]
pub struct MachineClock(Instant);

impl Default for MachineClock {
    fn default() -> Self {
        Self(Instant::now())
    }
}

impl Clock for MachineClock {
    fn millis(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn now(&self) -> Timestamp {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        // A time before 1970 means that the clock was never set; it counts as 1970.
        let millis = since.map_or(0, |since| since.as_millis());
        Timestamp(i64::try_from(millis).unwrap_or(i64::MAX))
    }
}

/// A clock that only [`pass`](Self::pass) moves, for tests and simulations.
#[derive(Debug)]
pub struct HandClock {
    start: Timestamp,
    millis: AtomicU64,
}

impl HandClock {
    /// A clock that shows `start`.
    pub fn new(start: Timestamp) -> Self {
        Self {
            start,
            millis: AtomicU64::new(0),
        }
    }

    /// Moves the clock forward.
    pub fn pass(&self, millis: u64) {
        self.millis.fetch_add(millis, Ordering::Relaxed);
    }
}

impl Clock for HandClock {
    fn millis(&self) -> u64 {
        self.millis.load(Ordering::Relaxed)
    }

    fn now(&self) -> Timestamp {
        let passed = i64::try_from(self.millis()).unwrap_or(i64::MAX);
        self.start.plus_millis(passed)
    }

    fn may_be_wrong(&self) -> bool {
        false
    }
}
