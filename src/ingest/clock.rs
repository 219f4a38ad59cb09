//! A log's own clock, made to run forward only.

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

#[cfg(test)]
mod tests {
    use super::*;

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
