//! Converts a log's clock, and a log's dates, to the time since the log began, which never
//! decreases.

use evenkeel_model::Timestamp;

/// A log's own clock. A reading lower than the one before means that the game server was restarted
/// and its clock began at 0 again; the time since the log began continues.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LogClock {
    /// The last reading, in milliseconds.
    reading: Option<u64>,
    /// Milliseconds from the beginning of the log to the last reading.
    position: u64,
}

impl LogClock {
    /// Takes a reading in milliseconds, and returns whether the clock was set back.
    pub(super) fn read(&mut self, millis: u64) -> bool {
        let last = self.reading.replace(millis).unwrap_or(millis);
        let restarted = millis < last;
        let passed = if restarted { millis } else { millis - last };
        self.position = self.position.saturating_add(passed);
        restarted
    }

    /// Milliseconds since the log began.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// The start of a game whose play began at this time: as a timestamp, and as the clock's
    /// reading for [`MatchRecord::clock`](evenkeel_model::MatchRecord::clock). `date` is a date in
    /// the log, with its position in the log; without one, the timestamp counts from the beginning
    /// of the log.
    pub(super) fn start(&self, date: Option<(Timestamp, u64)>) -> (Timestamp, Option<u64>) {
        match date {
            Some((date, at)) => {
                let millis = signed(self.position).saturating_sub(signed(at));
                (date.plus_millis(millis), None)
            }
            None => {
                let start = Timestamp(signed(self.position));
                (start, Some(self.reading.unwrap_or(0)))
            }
        }
    }
}

/// Milliseconds as a signed number.
pub(super) fn signed(millis: u64) -> i64 {
    i64::try_from(millis).unwrap_or(i64::MAX)
}

/// Two lines of a game in play are less than this apart, in milliseconds. A larger step means that the
/// calendar was set: summer time began, or a wrong clock was corrected. While nobody has an opponent, a server may write
/// nothing for hours.
const MAX_STEP: i64 = 50 * 60 * 1_000;

/// The dates of a log that has one for each line. If the server's calendar was set, forwards or
/// backwards, no time passes in between.
#[derive(Clone, Copy, Debug, Default)]
pub struct Calendar {
    last: Option<Timestamp>,
    position: u64,
    /// How often the calendar was set.
    set: u32,
}

impl Calendar {
    /// Takes the date of the next line. `is_opposed` says whether anybody who plays has had an opponent since the last one.
    pub fn read(&mut self, date: Timestamp, is_opposed: impl FnOnce() -> bool) {
        let last = self.last.replace(date).unwrap_or(date);
        let passed = date.0.saturating_sub(last.0);
        if passed >= 0 && (passed < MAX_STEP || !is_opposed()) {
            self.position += passed.unsigned_abs();
        } else {
            self.set = self.set.saturating_add(1);
        }
    }

    /// How often the calendar has been set so far: summer time began or ended, or a wrong clock was corrected.
    pub(crate) fn times_set(&self) -> u32 {
        self.set
    }

    /// Advances the time, for a log without dates, or whose calendar was set, that states how long a game or a round
    /// lasted.
    pub(crate) fn pass(&mut self, millis: u64) {
        self.position = self.position.saturating_add(millis);
    }

    /// The date of the last line that had one.
    pub fn date(&self) -> Option<Timestamp> {
        self.last
    }

    /// Milliseconds since the log began.
    pub fn position(&self) -> u64 {
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
        let positions = dates.map(|at| {
            calendar.read(Timestamp(at), || true);
            calendar.position()
        });
        assert_eq!(positions, [0, 2_000, 2_000, 3_000, 3_000, 4_500]);
        assert_eq!(calendar.times_set(), 2);
        assert_eq!(calendar.date(), Some(Timestamp(9_500)));
    }

    #[test]
    fn a_server_without_opponents_may_be_silent() {
        let mut calendar = Calendar::default();
        for date in [5_000, 50_005_000, 45_000] {
            calendar.read(Timestamp(date), || false);
        }
        assert_eq!((calendar.position(), calendar.times_set()), (50_000_000, 1));
    }

    #[test]
    fn it_runs_on_over_a_restart() {
        let mut clock = LogClock::default();
        let readings = [63_000, 70_000, 70_000, 0, 5_000, 2_000];
        let positions = readings.map(|at| (clock.read(at), clock.position()));
        assert_eq!(
            positions,
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
