//! How often something may happen: token buckets, the limits of each address, on its connections and on what it sends,
//! and the slowdown of failed HELLOs: after the first few, each further attempt of the same address and name waits longer.

use core::net::{IpAddr, Ipv6Addr};
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use crate::model::{access::Holder, time::Backoff};

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

/// The host, or the network of one subscriber, that an address belongs to: an IPv4 address, or the first 64
/// bits of an IPv6 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AddressKey(IpAddr);

impl AddressKey {
    /// The key of this address.
    pub fn of(address: IpAddr) -> Self {
        Self(match address.to_canonical() {
            IpAddr::V6(address) => {
                let network = address.to_bits() >> 64 << 64;
                IpAddr::V6(Ipv6Addr::from_bits(network))
            }
            address => address,
        })
    }

    /// Whose share of the daemon counts for what comes from there, unless it is a client's.
    pub fn holder(self) -> Holder {
        Holder::Address(self.0)
    }
}

impl AddressKey {
    /// The address, or the first one of the network.
    pub fn ip(self) -> IpAddr {
        self.0
    }
}

/// The addresses that are connected, and those that were connected a short time ago.
#[derive(Debug)]
pub struct AddressTable {
    entries: BTreeMap<AddressKey, BucketEntry>,
    most: usize,
}

#[derive(Debug, Default)]
struct BucketEntry {
    allowance: Arc<Allowance>,
    connections: u32,
}

impl AddressTable {
    /// An empty table, which keeps at most `most` addresses that are not connected.
    pub fn new(most: usize) -> Self {
        Self {
            entries: BTreeMap::new(),
            most,
        }
    }

    /// Counts a new connection from this address. `None` if it already has `most_connections`; 0 is no limit.
    pub fn enter(
        &mut self,
        address: AddressKey,
        most_connections: u32,
        now: u64,
    ) -> Option<Arc<Allowance>> {
        if !self.entries.contains_key(&address) && self.entries.len() >= self.most {
            self.make_room(now);
        }
        let entry = self.entries.entry(address).or_default();
        if most_connections != 0 && entry.connections >= most_connections {
            return None;
        }
        entry.connections += 1;
        Some(entry.allowance.clone())
    }

    /// Counts the end of a connection from this address.
    pub fn leave(&mut self, address: AddressKey) {
        if let Some(entry) = self.entries.get_mut(&address) {
            entry.connections = entry.connections.saturating_sub(1);
        }
    }

    /// Forgets addresses without a connection: first those with a full allowance, which loses nothing. If
    /// the table is still full, all others, too.
    fn make_room(&mut self, now: u64) {
        let used = |entry: &BucketEntry| entry.connections > 0;
        self.entries
            .retain(|_, entry| used(entry) || !entry.allowance.is_full(now));
        if self.entries.len() >= self.most {
            self.entries.retain(|_, entry| used(entry));
        }
    }
}

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

    use proptest::prelude::*;

    use super::*;

    use crate::server::access::Rate;

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

    fn key(text: &str) -> AddressKey {
        AddressKey::of(text.parse().unwrap())
    }

    #[test]
    fn one_subscriber_is_one_address() {
        assert_eq!(key("2001:db8:1:2::7"), key("2001:db8:1:2:ffff::8"));
        assert_ne!(key("2001:db8:1:2::7"), key("2001:db8:1:3::7"));
        assert_eq!(key("::ffff:10.0.0.1"), key("10.0.0.1"));
        assert_ne!(key("10.0.0.1"), key("10.0.0.2"));
    }

    #[test]
    fn an_address_has_one_allowance_and_a_number_of_connections() {
        let mut table = AddressTable::new(10);
        let rate = Rate::new(1, 1).unwrap();
        let first = table.enter(key("10.0.0.1"), 2, 0).unwrap();
        assert!(first.lines.take(0, rate).is_ok());
        let second = table.enter(key("10.0.0.1"), 2, 0).unwrap();
        assert!(second.lines.take(0, rate).is_err(), "they share it");
        assert!(table.enter(key("10.0.0.1"), 2, 0).is_none());
        let other = table.enter(key("10.0.0.2"), 2, 0).unwrap();
        assert!(other.lines.take(0, rate).is_ok());
        table.leave(key("10.0.0.1"));
        let again = table.enter(key("10.0.0.1"), 2, 0).unwrap();
        assert!(
            again.lines.take(0, rate).is_err(),
            "reconnecting brings nothing"
        );
    }

    #[test]
    fn the_table_is_bounded_and_keeps_who_is_connected() {
        let mut table = AddressTable::new(100);
        let rate = Rate::new(1, 1).unwrap();
        let inside = table.enter(key("10.0.0.1"), 2, 0).unwrap();
        assert!(inside.lines.take(0, rate).is_ok());
        for n in 0..100_000u32 {
            let address = AddressKey::of(IpAddr::V4((n + (11 << 24)).into()));
            let visit = table.enter(address, 2, 0).unwrap();
            let _ = visit.lines.take(0, rate);
            table.leave(address);
            assert!(table.entries.len() <= 100);
        }
        let again = table.enter(key("10.0.0.1"), 2, 0).unwrap();
        assert!(again.lines.take(0, rate).is_err());
    }

    fn hello(address: u32, name: &str) -> HelloKey {
        let address = AddressKey::of(IpAddr::V4(address.into()));
        (address, Some(name.to_owned()))
    }

    #[test]
    fn a_guesser_waits_longer_and_longer_and_nobody_else_does() {
        let mut slowdown = Slowdown::default();
        let (guesser, mut now, mut waits) = (hello(1, "ctf"), 0, vec![]);
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
        for other in [hello(2, "ctf"), hello(1, "other"), (guesser.0, None)] {
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
        let guesser = hello(1, "ctf");
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
            slowdown.failed(&hello(n, ""), u64::from(n));
            assert!(slowdown.entries.len() <= MOST);
        }
        let newest = hello(99_999, "");
        assert_eq!(slowdown.failed(&newest, 100_000), 2);
        for n in 0..10_000u32 {
            slowdown.failed(&hello(n, "at once"), 200_000);
            assert!(slowdown.entries.len() <= MOST);
        }
    }

    #[test]
    fn a_full_table_of_one_moment_makes_room_too() {
        let mut slowdown = Slowdown::default();
        for n in 0..3 * MOST as u32 {
            slowdown.failed(&hello(n, ""), 7);
            assert!(slowdown.entries.len() <= MOST);
        }
    }
}
