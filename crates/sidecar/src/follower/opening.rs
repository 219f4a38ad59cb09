//! How long a server waits for players at the beginning of a game. The sidecar may choose teams in this
//! time, although the log can show rounds already.

use super::FollowedServer;
use evenkeel_ingest::live::Calendar;
use evenkeel_model::Timestamp;

/// The time since a log began. The dates in the log state it; between two lines, the caller's clock
/// continues it.
#[derive(Debug, Default)]
pub(crate) struct LogTime {
    calendar: Calendar,
    /// The time of the last line, in milliseconds since the log began.
    last: u64,
    /// When the last line was read, by the caller's clock.
    read: u64,
}

impl LogTime {
    /// Notes that a line has been read, which may have a date.
    pub(crate) fn read(&mut self, date: Option<Timestamp>, now: u64) {
        if let Some(date) = date {
            self.calendar.read(date, || true);
        }
        (self.last, self.read) = (self.at(now).max(self.calendar.position()), now);
    }

    /// Milliseconds since the log began.
    pub(crate) fn at(&self, now: u64) -> u64 {
        self.last.saturating_add(now.saturating_sub(self.read))
    }
}

/// How long the server waits for players.
#[derive(Debug)]
pub(crate) struct OpeningTime {
    time: LogTime,
    /// How long the server waits after the first player has joined, in milliseconds.
    length: u64,
    /// When the first player joined, in milliseconds since the log began.
    since: Option<u64>,
    /// Whether play starts when the server no longer waits.
    pub(crate) pending: bool,
}

impl OpeningTime {
    pub(crate) fn new(length: u64) -> Self {
        Self {
            time: LogTime::default(),
            length,
            since: None,
            pending: false,
        }
    }

    /// Begins again for the next map.
    pub(crate) fn reset(&mut self) {
        (self.since, self.pending) = (None, false);
    }

    /// Notes that a line has been read, which may have a date.
    pub(crate) fn read(&mut self, date: Option<Timestamp>, now: u64) {
        self.time.read(date, now);
    }

    /// The time between the first and the last date in the log, in milliseconds.
    pub(crate) fn log_position(&self) -> u64 {
        self.time.calendar.position()
    }

    /// Whether the server still waits.
    pub(crate) fn waits(&self, now: u64) -> bool {
        let at = self.time.at(now);
        let over = |since: u64| at >= since.saturating_add(self.length);
        self.length > 0 && !self.since.is_some_and(over)
    }

    /// Whether play starts now, because the server no longer waits. Returns true only once. The wait starts once
    /// players are on the server.
    pub(crate) fn is_due(&mut self, server: &FollowedServer) -> bool {
        if server.has_players() {
            let at = self.time.at(server.now());
            self.since.get_or_insert(at);
        }
        let due = self.pending && !self.waits(server.now());
        self.pending &= !due;
        due
    }
}
