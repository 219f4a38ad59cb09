//! When a match that waits asks an allocator for a game server.
//!
//! Each match asks once, and again some time after an answer that brings no game server. The times between grow and
//! are spread at random, so that many matches do not ask in step.

use crate::domain::Timestamp;

/// The time after the first answer without a game server before a match asks again, in milliseconds.
const FIRST_PAUSE: i64 = 500;
/// The longest such time.
const LONGEST_PAUSE: i64 = 15_000;

/// How a match that waits has asked for a game server.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asking {
    /// Whether a request is under way.
    is_open: bool,
    /// How many answers in a row brought no game server.
    failed: u32,
    /// When the match asks again.
    again: Timestamp,
}

impl Asking {
    /// Whether the match asks now: no request is under way, and it has paused for long enough.
    pub fn begins(&mut self, now: Timestamp) -> bool {
        let begins = !self.is_open && self.again <= now;
        self.is_open |= begins;
        begins
    }

    /// An answer has brought no game server. `jitter`, 0 to 1, is drawn at random. Returns when the match asks
    /// again.
    pub fn failed(&mut self, now: Timestamp, jitter: f64) -> Timestamp {
        let doubled = FIRST_PAUSE << self.failed.min(5);
        let most = doubled.min(LONGEST_PAUSE) as f64;
        let pause = most * (0.5 + 0.5 * jitter.clamp(0.0, 1.0));
        self.failed = self.failed.saturating_add(1);
        self.is_open = false;
        self.again = now.plus_millis(pause as i64);
        self.again
    }
}
