//! What has happened within the last hour, from counters that only grow.

use std::collections::VecDeque;

/// The number of samples that are kept; one is taken each minute.
const SAMPLES: usize = 60;

/// How often each kind of failure has happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Failures {
    /// Writes to the database that failed.
    pub writes: u64,
    /// Times that a running game could not be journaled.
    pub journals: u64,
    /// Attempts to learn from matches that failed.
    pub folds: u64,
    /// Daily backups that could not be made.
    pub backups: u64,
    /// Events that were dropped before a webhook got them.
    pub dropped_events: u64,
}

impl Failures {
    fn since(self, before: Self) -> Self {
        Self {
            writes: self.writes.saturating_sub(before.writes),
            journals: self.journals.saturating_sub(before.journals),
            folds: self.folds.saturating_sub(before.folds),
            backups: self.backups.saturating_sub(before.backups),
            dropped_events: self.dropped_events.saturating_sub(before.dropped_events),
        }
    }
}

/// Samples of the counters, the oldest first.
#[derive(Debug, Default)]
pub(super) struct RecentFailures(VecDeque<Failures>);

impl RecentFailures {
    /// Adds a sample, and drops one that is more than an hour old.
    pub fn sample(&mut self, now: Failures) {
        if self.0.len() >= SAMPLES {
            self.0.pop_front();
        }
        self.0.push_back(now);
    }

    /// What has failed since the oldest sample; since the start of the daemon if that is less than an hour.
    pub fn since(&self, now: Failures) -> Failures {
        match self.0.front() {
            Some(before) if self.0.len() >= SAMPLES => now.since(*before),
            _ => now,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_forgotten_after_an_hour() {
        let mut recent = RecentFailures::default();
        let failures = |writes| Failures {
            writes,
            ..Failures::default()
        };
        assert_eq!(recent.since(failures(2)).writes, 2);
        for _ in 1..SAMPLES {
            recent.sample(failures(2));
            assert_eq!(recent.since(failures(2)).writes, 2);
        }
        recent.sample(failures(3));
        assert_eq!(recent.since(failures(3)).writes, 1);
        for _ in 1..SAMPLES {
            recent.sample(failures(3));
        }
        assert_eq!(recent.since(failures(3)), failures(0));
    }
}
