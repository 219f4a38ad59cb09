//! Failed HELLOs: after the first few, each further attempt of the same address and name waits longer.

use std::{collections::BTreeMap, time::Duration};

use super::AddressKey;
use crate::model::time::Backoff;

/// How many failures cause no wait, so that an operator who mistypes a token is not slowed down.
const FREE: u32 = 3;
/// The waits after the failures that cause one.
const WAITS: Backoff = Backoff::new(Duration::from_millis(250), LONGEST_WAIT);
/// The longest wait between two attempts.
const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// The time after the last failure at which all failures are forgotten, in nanoseconds.
const FORGET: u64 = 600_000_000_000;
/// The most pairs of an address and a name whose failures are kept in memory.
const MOST: usize = 4_096;

/// Who sends HELLO: an address, and the name of a client. Other clients at the same address do not wait.
pub type HelloKey = (AddressKey, Option<String>);

/// The HELLOs that failed lately.
#[derive(Debug, Default)]
pub struct Slowdown {
    entries: BTreeMap<HelloKey, SlowdownEntry>,
    /// All failures since the start.
    total: u64,
}

#[derive(Clone, Copy, Debug)]
struct SlowdownEntry {
    failures: u32,
    last: u64,
    /// When the next attempt may be checked.
    free: u64,
}

impl Slowdown {
    /// Returns how long this attempt has to wait before its token is checked. Attempts of the same key wait
    /// one after the other.
    ///
    /// # Errors
    /// Fails with the wait if that is longer than the longest wait, because other attempts are waiting. The
    /// token must not be checked then.
    pub fn attempt(&mut self, key: &HelloKey, now: u64) -> Result<Duration, Duration> {
        let Some(entry) = self.entries.get_mut(key) else {
            return Ok(Duration::ZERO);
        };
        if now.saturating_sub(entry.last) > FORGET {
            self.entries.remove(key);
            return Ok(Duration::ZERO);
        }
        let start = entry.free.max(now);
        let wait = Duration::from_nanos(start - now);
        if wait > LONGEST_WAIT {
            return Err(wait);
        }
        entry.free = start + pause(entry.failures);
        Ok(wait)
    }

    /// Counts a failure. Returns how many there are of this key.
    pub fn failed(&mut self, key: &HelloKey, now: u64) -> u32 {
        self.total = self.total.saturating_add(1);
        if !self.entries.contains_key(key) && self.entries.len() >= MOST {
            self.make_room(now);
        }
        let entry = self.entries.entry(key.clone()).or_insert(SlowdownEntry {
            failures: 0,
            last: now,
            free: now,
        });
        entry.failures = entry.failures.saturating_add(1);
        entry.last = now;
        entry.free = entry.free.max(now + pause(entry.failures));
        entry.failures
    }

    /// All failures since the start.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Forgets failures that no longer count; if the table is still full, the older half of the rest.
    fn make_room(&mut self, now: u64) {
        self.entries
            .retain(|_, entry| now.saturating_sub(entry.last) <= FORGET);
        if self.entries.len() >= MOST {
            let mut times: Vec<u64> = self.entries.values().map(|entry| entry.last).collect();
            let (_, middle, _) = times.select_nth_unstable(MOST / 2);
            let middle = *middle;
            self.entries.retain(|_, entry| entry.last > middle);
        }
    }
}

/// The wait that this number of failures causes, in nanoseconds.
fn pause(failures: u32) -> u64 {
    match failures.checked_sub(FREE) {
        None | Some(0) => 0,
        Some(counted) => u64::try_from(WAITS.after(counted).as_nanos()).unwrap_or(u64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use core::net::IpAddr;

    use super::*;

    fn key(address: u32, name: &str) -> HelloKey {
        let address = AddressKey::of(IpAddr::V4(address.into()));
        (address, Some(name.to_owned()))
    }

    #[test]
    fn a_guesser_waits_longer_and_longer_and_nobody_else_does() {
        let mut slowdown = Slowdown::default();
        let (guesser, mut now, mut waits) = (key(1, "ctf"), 0, vec![]);
        for count in 1..=12 {
            let wait = slowdown.attempt(&guesser, now).unwrap();
            waits.push(wait.as_millis());
            now += u64::try_from(wait.as_nanos()).unwrap();
            assert_eq!(slowdown.failed(&guesser, now), count);
        }
        assert_eq!(
            waits,
            [0, 0, 0, 0, 250, 500, 1000, 2000, 4000, 8000, 10000, 10000]
        );
        for other in [key(2, "ctf"), key(1, "other"), (guesser.0, None)] {
            assert_eq!(slowdown.attempt(&other, now), Ok(Duration::ZERO));
        }
        assert_eq!(slowdown.total(), 12);
        let later = now + FORGET + 1;
        assert_eq!(slowdown.attempt(&guesser, later), Ok(Duration::ZERO));
        assert_eq!(slowdown.failed(&guesser, later), 1);
    }

    #[test]
    fn attempts_at_once_wait_one_after_the_other() {
        let mut slowdown = Slowdown::default();
        let guesser = key(1, "ctf");
        for _ in 0..9 {
            slowdown.failed(&guesser, 0);
        }
        // 9 failures: 8 s between two attempts.
        assert_eq!(slowdown.attempt(&guesser, 0), Ok(Duration::from_secs(8)));
        let refused = (0..1_000).filter_map(|_| slowdown.attempt(&guesser, 0).err());
        assert_eq!(refused.count(), 1_000);
        let soon = 8_000_000_000;
        assert_eq!(slowdown.attempt(&guesser, soon), Ok(Duration::from_secs(8)));
    }

    #[test]
    fn the_table_is_bounded_and_keeps_the_newest() {
        let mut slowdown = Slowdown::default();
        for n in 0..100_000u32 {
            slowdown.failed(&key(n, ""), u64::from(n));
            assert!(slowdown.entries.len() <= MOST);
        }
        let newest = key(99_999, "");
        assert_eq!(slowdown.failed(&newest, 100_000), 2);
        for n in 0..10_000u32 {
            slowdown.failed(&key(n, "at once"), 200_000);
            assert!(slowdown.entries.len() <= MOST);
        }
    }

    #[test]
    fn a_full_table_of_one_moment_makes_room_too() {
        let mut slowdown = Slowdown::default();
        for n in 0..3 * MOST as u32 {
            slowdown.failed(&key(n, ""), 7);
            assert!(slowdown.entries.len() <= MOST);
        }
    }
}
