//! How long a server waits for players at the beginning of a game. The sidecar may choose teams in this
//! time, although the log can show rounds already.

use crate::ingest::clock::Calendar;

/// The time since a log began. The dates in the log state it; between two lines, the caller's clock
/// continues it.
#[derive(Debug, Default)]
pub(crate) struct LogTime {
    pub(crate) calendar: Calendar,
    /// The time of the last line, in milliseconds since the log began.
    last: u64,
    /// When the last line was read, by the caller's clock.
    read: u64,
}

impl LogTime {
    /// Notes that a line has been read. Call it after the calendar has read the line's date.
    pub(crate) fn note(&mut self, now: u64) {
        self.last = self.at(now).max(self.calendar.position());
        self.read = now;
    }

    /// Milliseconds since the log began.
    pub(crate) fn at(&self, now: u64) -> u64 {
        self.last.saturating_add(now.saturating_sub(self.read))
    }
}

/// How long the server waits for players.
#[derive(Debug)]
pub(crate) struct OpeningTime {
    /// How long the server waits after the first player has joined, in milliseconds.
    length: u64,
    /// When the first player joined, in milliseconds since the log began.
    since: Option<u64>,
    /// Whether play starts when the server no longer waits.
    pub(crate) pending: bool,
}

impl OpeningTime {
    pub(crate) fn new(length: u64) -> Self {
        let (since, pending) = (None, false);
        Self {
            length,
            since,
            pending,
        }
    }

    /// Begins again for the next map.
    pub(crate) fn reset(&mut self) {
        *self = Self::new(self.length);
    }

    /// Notes that players are on the server; the first call starts the wait.
    pub(crate) fn note(&mut self, at: u64) {
        self.since.get_or_insert(at);
    }

    /// Whether the server still waits.
    pub(crate) fn waits(&self, at: u64) -> bool {
        self.length > 0
            && self
                .since
                .is_none_or(|since| at < since.saturating_add(self.length))
    }

    /// Whether play starts now, because the server no longer waits. Returns true only once.
    pub(crate) fn is_due(&mut self, at: u64) -> bool {
        let due = self.pending && !self.waits(at);
        self.pending &= !due;
        due
    }
}
