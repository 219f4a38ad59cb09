//! Limits on how often something may happen: token buckets.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

/// The nanoseconds of a second.
const SECOND: u64 = 1_000_000_000;

/// How often something may happen: in the long run, and at once after a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// The nanoseconds in which a bucket gains one unit: the right to one line, decision or report.
    interval: u64,
    /// The nanoseconds in which an empty bucket is full again.
    full: u64,
}

impl Rate {
    /// A rate of `per_second` units, and at most `burst` at once. `None`, which is no limit, if either is 0.
    pub fn new(per_second: u32, burst: u32) -> Option<Self> {
        if burst == 0 {
            return None;
        }
        let interval = SECOND.checked_div(u64::from(per_second))?.max(1);
        let full = interval * u64::from(burst);
        Some(Self { interval, full })
    }
}

/// How many lines, decisions or reports a client or an address may still send. Several connections share it.
///
/// It is the leaky bucket as a meter in the form of the generic cell rate algorithm (ITU-T I.371): one
/// number, the time at which the bucket will be full again.
#[derive(Debug, Default)]
pub struct Bucket(AtomicU64);

impl Bucket {
    /// Takes a unit if the bucket has one. Otherwise it changes nothing, and the error is the time until the
    /// bucket has one.
    ///
    /// # Errors
    /// Fails if the bucket is empty.
    pub fn take(&self, now: u64, rate: Rate) -> Result<(), Duration> {
        let taken = |full_at: u64| {
            let next = full_at.max(now).saturating_add(rate.interval);
            (next.saturating_sub(now) <= rate.full).then_some(next)
        };
        let order = Ordering::Relaxed;
        match self.0.fetch_update(order, order, taken) {
            Ok(_) => Ok(()),
            Err(full_at) => Err(overdrawn(full_at.max(now) + rate.interval, now, rate)),
        }
    }

    /// Takes a unit, even from an empty bucket. Returns how long the caller must wait then, so that on average
    /// the rate is not exceeded. Callers that wait at the same time get different waits, one after the other.
    pub fn charge(&self, now: u64, rate: Rate) -> Duration {
        let taken = |full_at: u64| Some(full_at.max(now).saturating_add(rate.interval));
        let order = Ordering::Relaxed;
        let (Ok(before) | Err(before)) = self.0.fetch_update(order, order, taken);
        overdrawn(before.max(now).saturating_add(rate.interval), now, rate)
    }

    /// Whether the bucket is full, as a new one is.
    pub fn is_full(&self, now: u64) -> bool {
        self.0.load(Ordering::Relaxed) <= now
    }
}

/// How long it takes until a bucket that is full again at `full_at` has paid for all units taken from it.
fn overdrawn(full_at: u64, now: u64, rate: Rate) -> Duration {
    Duration::from_nanos(full_at.saturating_sub(now).saturating_sub(rate.full))
}

/// The rates of lines, decisions and reports; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// The rate of all lines together.
    pub lines: Option<Rate>,
    /// The rate of requests for a decision.
    pub decisions: Option<Rate>,
    /// The rate of reports about the game.
    pub reports: Option<Rate>,
}

/// How many lines, decisions and reports a client or an address may still send.
#[derive(Debug, Default)]
pub struct Allowance {
    /// The bucket for all lines together.
    pub lines: Bucket,
    /// The bucket for requests for a decision.
    pub decisions: Bucket,
    /// The bucket for reports about the game.
    pub reports: Bucket,
}

impl Allowance {
    /// Whether all three buckets are full, as those of a new client are.
    pub fn is_full(&self, now: u64) -> bool {
        [&self.lines, &self.decisions, &self.reports]
            .into_iter()
            .all(|bucket| bucket.is_full(now))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The reference: a level that rises by one each interval, up to the burst.
    struct Level {
        nanos: u64,
        last: u64,
    }

    impl Level {
        fn take(&mut self, now: u64, interval: u64, burst: u64) -> bool {
            self.nanos = (self.nanos + (now - self.last)).min(interval * burst);
            self.last = now;
            let enough = self.nanos >= interval;
            self.nanos -= if enough { interval } else { 0 };
            enough
        }
    }

    proptest! {
        #[test]
        fn a_bucket_is_a_level_that_rises(
            per_second in 1u32..=1_000,
            burst in 1u32..=20,
            pauses in proptest::collection::vec(prop_oneof![Just(0u64), 0..SECOND / 100, 0..2 * SECOND], 1..200),
        ) {
            let rate = Rate::new(per_second, burst).unwrap();
            let (interval, burst) = (SECOND / u64::from(per_second), u64::from(burst));
            let bucket = Bucket::default();
            let mut level = Level { nanos: interval * burst, last: 0 };
            let mut now = 0;
            for pause in pauses {
                now += pause;
                let taken = bucket.take(now, rate);
                prop_assert_eq!(taken.is_ok(), level.take(now, interval, burst));
                if let Err(wait) = taken {
                    // Just then there is one, and not before.
                    let wait = u64::try_from(wait.as_nanos()).unwrap();
                    prop_assert!(bucket.take(now + wait - 1, rate).is_err());
                    now += wait;
                    prop_assert!(bucket.take(now, rate).is_ok());
                    prop_assert!(level.take(now, interval, burst));
                }
            }
        }

        #[test]
        fn whoever_waits_as_told_keeps_the_rate(
            per_second in 1u32..=1_000,
            burst in 1u32..=20,
            number in 1u64..300,
        ) {
            let rate = Rate::new(per_second, burst).unwrap();
            let bucket = Bucket::default();
            let mut now = 0;
            for _ in 0..number {
                now += u64::try_from(bucket.charge(now, rate).as_nanos()).unwrap();
            }
            let interval = SECOND / u64::from(per_second);
            prop_assert_eq!(now, interval * number.saturating_sub(u64::from(burst)));
        }
    }

    #[test]
    fn several_that_wait_have_turns() {
        let rate = Rate::new(10, 1).unwrap();
        let bucket = Bucket::default();
        let waits: Vec<u128> = (0..4).map(|_| bucket.charge(0, rate).as_millis()).collect();
        assert_eq!(waits, [0, 100, 200, 300]);
        assert!(!bucket.is_full(0) && bucket.is_full(SECOND));
        assert_eq!(Rate::new(0, 5), None);
        assert_eq!(Rate::new(5, 0), None);
    }
}
