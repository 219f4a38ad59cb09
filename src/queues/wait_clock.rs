//! The clock of waits, which never goes back.

use super::Shared;
use crate::{model::Timestamp, store::StoreError};

/// The time by which waits count: the time of day at the start, plus the time that has passed since.
///
/// The daemons of one database continue each other's waits. So the time of day at the start is that of the database's
/// clock, where the database has one of its own.
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

    /// The clock of a daemon that begins to run a partition now.
    pub async fn of_database(self, shared: &Shared) -> Result<Self, StoreError> {
        if !shared.clock.may_be_wrong() {
            return Ok(self);
        }
        let start = shared.store.clock().await?;
        let millis = shared.clock.millis();
        Ok(start.map_or(self, |start| Self { start, millis }))
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
