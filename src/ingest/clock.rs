//! A log's own clock, made to run forward only.

use crate::domain::Timestamp;

/// Places the readings of a clock that may be set back on one line of time, which begins with the
/// log. A reading before the last one means that the game server was started anew at 0.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock {
    /// The last reading.
    read: Option<u64>,
    /// Where the last reading is: milliseconds since the log began.
    position: u64,
}

impl Clock {
    /// Takes a reading in milliseconds; tells whether the clock was set back.
    pub(super) fn read(&mut self, millis: u64) -> bool {
        let last = self.read.replace(millis).unwrap_or(millis);
        let restarted = millis < last;
        let passed = if restarted { millis } else { millis - last };
        self.position = self.position.saturating_add(passed);
        restarted
    }

    /// Milliseconds since the log began.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// The last reading, as the log wrote it.
    pub(super) fn reading(&self) -> u64 {
        self.read.unwrap_or(0)
    }
}

/// Between two lines of a game that is being played less time passes than this; where more seems to,
/// the calendar was set (summer time, a wrong clock).
const JUMP: i64 = 50 * 60 * 1_000;

/// Places dates that a log writes on one line of time, which begins with the log. The calendar may be
/// set in either direction; no time passes then.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Calendar {
    last: Option<Timestamp>,
    position: u64,
}

impl Calendar {
    /// Takes a date.
    pub(super) fn read(&mut self, date: Timestamp) {
        let last = self.last.replace(date).unwrap_or(date);
        let passed = date.0.saturating_sub(last.0);
        if (0..JUMP).contains(&passed) {
            self.position += passed.unsigned_abs();
        }
    }

    /// Time passed that no date tells.
    pub(super) fn pass(&mut self, millis: u64) {
        self.position = self.position.saturating_add(millis);
    }

    /// The last date.
    pub(super) fn date(&self) -> Option<Timestamp> {
        self.last
    }

    /// Milliseconds since the log began.
    pub(super) fn position(&self) -> u64 {
        self.position
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calendar_may_be_set() {
        let mut calendar = Calendar::default();
        let dates = [5_000, 7_000, 3_607_000, 3_608_000, 8_000, 9_500];
        let told = dates.map(|at| {
            calendar.read(Timestamp(at));
            calendar.position()
        });
        assert_eq!(told, [0, 2_000, 2_000, 3_000, 3_000, 4_500]);
        assert_eq!(calendar.date(), Some(Timestamp(9_500)));
    }

    #[test]
    fn it_runs_on_over_a_restart() {
        let mut clock = Clock::default();
        let readings = [63_000, 70_000, 70_000, 0, 5_000, 2_000];
        let told = readings.map(|at| (clock.read(at), clock.position()));
        assert_eq!(
            told,
            [
                (false, 0),
                (false, 7_000),
                (false, 7_000),
                (true, 7_000),
                (false, 12_000),
                (true, 14_000)
            ]
        );
    }
}
