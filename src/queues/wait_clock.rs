//! The clock of waits, which never goes back.

use super::Shared;
use crate::domain::Timestamp;

/// The time by which waits count: the time of day at the start, plus the time that has passed since.
#[derive(Clone, Copy, Debug)]
pub(super) struct WaitClock {
    start: Timestamp,
    /// The clock's millisecond at the start.
    millis: u64,
}

impl WaitClock {
    /// Starts now.
    pub fn new(shared: &Shared) -> Self {
        Self {
            start: shared.clock.now(),
            millis: shared.clock.millis(),
        }
    }

    /// The time now.
    pub fn now(&self, shared: &Shared) -> Timestamp {
        self.time(shared.clock.millis())
    }

    /// The time of a millisecond of the clock.
    pub fn time(&self, millis: u64) -> Timestamp {
        let passed = millis.saturating_sub(self.millis);
        self.start
            .plus_millis(i64::try_from(passed).unwrap_or(i64::MAX))
    }
}
