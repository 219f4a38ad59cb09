//! The time between the beginning of a game and its play in which teams may be chosen, although the
//! log shows rounds already: the server waits for players.

use crate::ingest::clock::Calendar;

/// The time since a log began: by its dates, and by the caller's clock between them.
#[derive(Debug, Default)]
pub(crate) struct LogTime {
    pub(crate) calendar: Calendar,
    /// The time of the last line, in milliseconds since the log began.
    last: u64,
    /// When the last line was read, by the caller's clock.
    read: u64,
}

impl LogTime {
    /// Notes that a line has been read, after its date.
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
pub(crate) struct Opening {
    /// How long it lasts after the first player has joined, in milliseconds.
    length: u64,
    /// When the first player joined, in milliseconds since the log began.
    since: Option<u64>,
    /// Whether play starts when the time is over.
    pub(crate) pending: bool,
}

impl Opening {
    pub(crate) fn new(length: u64) -> Self {
        let (since, pending) = (None, false);
        Self {
            length,
            since,
            pending,
        }
    }

    /// Begins again, with the next map.
    pub(crate) fn reset(&mut self) {
        *self = Self::new(self.length);
    }

    /// Notes that there are players.
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

    /// Whether play starts now because the time is over. Returns true once.
    pub(crate) fn is_due(&mut self, at: u64) -> bool {
        let due = self.pending && !self.waits(at);
        self.pending &= !due;
        due
    }
}
