//! How long the holder of a lease may rely on it, and when it renews it. The time is an argument.

use std::time::Duration;

/// The time for which a lease is held, in milliseconds of a clock that only runs forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Term {
    lasts: u64,
    ends: u64,
}

impl Term {
    /// The term of a lease that was asked for at this time, and is held since then or later. The database
    /// counts from when it gets the request, so that the term never ends later here than there.
    pub fn new(lasts: Duration, asked: u64) -> Self {
        let lasts = u64::try_from(lasts.as_millis()).unwrap_or(u64::MAX);
        // A twentieth less, because two clocks do not run at exactly the same rate.
        let ends = asked.saturating_add(lasts - lasts / 20);
        Self { lasts, ends }
    }

    /// Makes the term longer, after the lease was renewed by a request that was sent at this time.
    pub fn renewed(&mut self, asked: u64) {
        let lasts = Duration::from_millis(self.lasts);
        self.ends = self.ends.max(Self::new(lasts, asked).ends);
    }

    /// Whether the holder may no longer rely on the lease.
    pub fn is_over(self, now: u64) -> bool {
        now >= self.ends
    }

    /// How many milliseconds are left.
    pub fn left(self, now: u64) -> u64 {
        self.ends.saturating_sub(now)
    }

    /// For how many milliseconds the holder waits before it renews the lease: after a third of its time, and
    /// after a failure again at once, but for a short pause.
    pub fn pause(self, has_failed: bool) -> u64 {
        match has_failed {
            true => self.lasts / 20,
            false => self.lasts / 3,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LASTS: u64 = 5_000;

    /// The row in the database.
    #[derive(Default)]
    struct Row {
        epoch: u64,
        ends: u64,
    }

    /// A daemon that may hold the lease.
    #[derive(Default)]
    struct Daemon {
        held: Option<(u64, Term)>,
    }

    impl Daemon {
        /// Takes or renews the lease, with a request that is under way for some time in each direction.
        fn turn(&mut self, row: &mut Row, clock: &mut u64, there: u64, back: u64) {
            let asked = *clock;
            *clock += there;
            match &mut self.held {
                Some((epoch, term)) if *epoch == row.epoch && row.ends > *clock => {
                    row.ends = *clock + LASTS;
                    term.renewed(asked);
                }
                Some(_) => self.held = None,
                None if row.ends <= *clock => {
                    row.epoch += 1;
                    row.ends = *clock + LASTS;
                    let term = Term::new(Duration::from_millis(LASTS), asked);
                    self.held = Some((row.epoch, term));
                }
                None => {}
            }
            *clock += back;
        }

        fn relies(&self, now: u64) -> Option<u64> {
            let held = self.held.filter(|(_, term)| !term.is_over(now));
            held.map(|(epoch, _)| epoch)
        }
    }

    proptest! {
        /// Whatever is delayed, and however long a daemon sleeps: at most one daemon relies on the lease, and
        /// it is the one whose writes the database accepts.
        #[test]
        fn at_most_one_daemon_relies_on_the_lease(
            steps in prop::collection::vec((0usize..3, 0u64..4_000, 0u64..9_000, 0u64..9_000), 1..60),
        ) {
            let mut daemons = [Daemon::default(), Daemon::default(), Daemon::default()];
            let (mut row, mut clock) = (Row::default(), 1);
            for (who, pause, there, back) in steps {
                clock += pause;
                daemons[who].turn(&mut row, &mut clock, there, back);
                let rely: Vec<u64> = daemons.iter().filter_map(|one| one.relies(clock)).collect();
                prop_assert!(rely.len() <= 1, "{rely:?}");
                prop_assert!(rely.iter().all(|epoch| *epoch == row.epoch && row.ends > clock));
            }
        }
    }

    #[test]
    fn a_lease_is_renewed_often_enough_that_one_lost_request_costs_nothing() {
        let mut term = Term::new(Duration::from_millis(LASTS), 1_000);
        assert!(!term.is_over(1_000 + term.pause(false) + term.pause(true)));
        assert_eq!(term.left(1_000), 4_750);
        assert!(term.is_over(5_750));
        term.renewed(4_000);
        assert!(!term.is_over(8_749));
        assert!(term.is_over(8_750));
        term.renewed(3_000);
        assert_eq!(
            term.left(8_000),
            750,
            "an answer that comes late takes nothing away"
        );
    }
}
