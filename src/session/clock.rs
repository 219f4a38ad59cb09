//! What time it is, for sessions.

use std::{
    fmt::Debug,
    sync::atomic::{AtomicU64, Ordering},
    time::SystemTime,
};

use tokio::time::Instant;

use crate::domain::Timestamp;

/// Where sessions have the time from.
pub trait Clock: Debug + Send + Sync {
    /// Milliseconds since some instant; they never go back.
    fn millis(&self) -> u64;

    /// The time of day.
    fn now(&self) -> Timestamp;
}

/// The machine's.
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
        // A clock before 1970 is not set at all.
        let millis = since.map_or(0, |since| since.as_millis());
        Timestamp(i64::try_from(millis).unwrap_or(i64::MAX))
    }
}

/// One that is moved by hand: a season of games in a second, a delay in a test.
#[derive(Debug)]
pub struct HandClock {
    start: Timestamp,
    millis: AtomicU64,
}

impl HandClock {
    /// It stands at this time of day.
    pub fn new(start: Timestamp) -> Self {
        Self {
            start,
            millis: AtomicU64::new(0),
        }
    }

    /// So many milliseconds pass.
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
}
