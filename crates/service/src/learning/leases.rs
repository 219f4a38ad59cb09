//! What only one daemon of a database may do at a time: a lease is taken, kept, and given up in time.
//!
//! A lease is a row of the database with its holder, an epoch, and the time at which it ends. [`HeldLease`]
//! renews it. Its holder relies on two things: its writes check the epoch in their own transaction
//! ([`StoreError::is_lease_lost`](crate::store::StoreError::is_lease_lost)), so that a process that slept for
//! longer than its lease cannot write; and [`HeldLease::is_held`] compares this machine's clock, which only
//! runs forward, so that such a process does not answer from memory, either.
//!
//! On SQLite, a lease is a lock on a file beside the database, and lasts until its holder ends.
//!
//! Daemons of one PostgreSQL database may differ in the settings on which what they write depends, for example while
//! these are changed on one machine after the other. The holder of a lease notes its settings beside it. A daemon with
//! other settings leaves the lease alone as long as daemons with the noted ones may come back.
//!
//! Entry point: [`LeaseSettings::wait`].
//!
//! - A lease that is held, and renewed until it is dropped.
//! - Waiting for a lease.
//! - How long the holder of a lease may rely on it, and when it renews it. The time is an argument.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    model::text::to_hex,
    random,
    store::{LastHolder, Lease, Store, StoreError, Taken},
};

/// A lease that this process holds. A task renews it until this is dropped; then it ends by itself.
#[derive(Debug)]
pub struct HeldLease {
    kept: Arc<KeptLease>,
    renewals: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct KeptLease {
    store: Arc<Store>,
    lease: Lease,
    /// The instant from which the milliseconds of the term count.
    since: Instant,
    /// For how long it may be relied on; `None` if it does not end.
    term: Option<Mutex<LeaseTerm>>,
    lost: CancellationToken,
}

impl HeldLease {
    /// Begins to renew a lease; `asked` is the instant at which this process asked for it.
    fn keep(store: Arc<Store>, lease: Lease, asked: Instant) -> Self {
        let term = lease
            .lasts
            .map(|lasts| Mutex::new(LeaseTerm::new(lasts, 0)));
        let is_renewed = term.is_some();
        let kept = Arc::new(KeptLease {
            store,
            lease,
            since: asked,
            term,
            lost: CancellationToken::new(),
        });
        let renewals = is_renewed.then(|| tokio::spawn(kept.clone().renew()));
        Self { kept, renewals }
    }

    /// The lease, which a write shows to the database.
    pub fn lease(&self) -> &Lease {
        &self.kept.lease
    }

    /// Whether the holder may rely on the lease now. Once this is false, it stays false.
    pub fn is_held(&self) -> bool {
        !(self.kept.lost.is_cancelled() || self.kept.is_over())
    }

    /// Waits until the lease is lost. Cancel safe.
    pub async fn lost(&self) {
        self.kept.lost.cancelled().await;
    }

    /// Gives the lease back, so that another process can take it at once. If this fails, the lease ends by itself.
    pub async fn give_back(self) -> Result<(), StoreError> {
        if let Some(renewals) = &self.renewals {
            renewals.abort();
        }
        self.kept.store.give_back_lease(&self.kept.lease).await
    }
}

impl Drop for HeldLease {
    fn drop(&mut self) {
        if let Some(renewals) = &self.renewals {
            renewals.abort();
        }
    }
}

impl KeptLease {
    fn millis(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn is_over(&self) -> bool {
        let now = self.millis();
        let term = self.term.as_ref();
        term.is_some_and(|term| term.lock().is_over(now))
    }

    /// Renews the lease until it is lost.
    async fn renew(self: Arc<Self>) {
        let mut has_failed = false;
        while let Some(term) = self.term.as_ref().map(|term| *term.lock()) {
            let pause = term.pause(has_failed).min(term.left(self.millis()));
            sleep(Duration::from_millis(pause)).await;
            let asked = self.millis();
            let left = Duration::from_millis(term.left(asked));
            let renewed = timeout(left, self.store.renew_lease(&self.lease)).await;
            has_failed = !matches!(renewed, Ok(Ok(true)));
            match renewed {
                Ok(Ok(true)) => {
                    if let Some(term) = &self.term {
                        term.lock().renewed(asked);
                    }
                }
                Ok(Ok(false)) => break,
                Ok(Err(error)) => {
                    tracing::warn!(%error, lease = self.lease.name, "a lease is not renewed");
                }
                Err(_) => {}
            }
            if self.is_over() {
                break;
            }
        }
        tracing::warn!(lease = ?self.lease, "a lease is lost");
        self.lost.cancel();
    }
}

/// The longest time between two attempts to take a lease that another process holds.
const PAUSE: Duration = Duration::from_secs(1);

/// How long a daemon with other settings leaves a lease alone whose holder has died: the machine of that daemon may take
/// a minute to start again.
const GRACE: Duration = Duration::from_secs(60);

/// How a process takes leases.
#[derive(Clone, Debug)]
pub struct LeaseSettings {
    /// The name of the process, which no other one has.
    pub holder: Arc<str>,
    /// The time without a renewal after which another process may take over.
    pub lasts: Duration,
    /// The leases whose holders have other settings than this process, by name.
    others: Arc<Mutex<BTreeMap<String, OtherSettings>>>,
}

/// The holder of a lease has other settings than this process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherSettings {
    /// The name of the lease.
    pub lease: String,
    /// The process that holds it, or held it last.
    pub holder: String,
    /// The keys whose values differ, and the queues that only one of the two has.
    pub keys: Vec<String>,
}

impl LeaseSettings {
    /// Settings with a new name: the number of the process, which people can look up, and random digits.
    pub fn new(lasts: Duration) -> Self {
        // Without random digits, the number alone distinguishes the processes of one machine.
        let digits = to_hex(&random::bytes::<8>().unwrap_or_default());
        Self {
            holder: format!("{}-{digits}", std::process::id()).into(),
            lasts,
            others: Arc::default(),
        }
    }

    /// The holders that have other settings than this process.
    pub fn others(&self) -> Vec<OtherSettings> {
        self.others.lock().values().cloned().collect()
    }

    /// Whether the holder of a lease has another value of this key, or of one below it.
    pub fn differs(&self, lease: &str, key: &str) -> bool {
        let others = self.others.lock();
        let is_key = |one: &String| {
            let rest = one.strip_prefix(key);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        others
            .get(lease)
            .is_some_and(|other| other.keys.iter().any(is_key))
    }

    /// How long to wait between two attempts to take a lease.
    pub fn pause(&self) -> Duration {
        PAUSE.min(self.lasts / 3)
    }

    /// Takes a lease if it is free, and `own` settings can continue what its last holder has begun. Otherwise it is
    /// taken only once daemons with those settings have had the time to come back. `Err` is the name and the epoch of
    /// its holder, or of the last one.
    pub async fn take(
        &self,
        store: &Arc<Store>,
        name: &str,
        own: &SharedSettings,
    ) -> Result<Result<HeldLease, (String, i64)>, StoreError> {
        let last = self.look(store, name, own).await?;
        if let Some(last) = last.filter(|last| !self.may_follow(last, own)) {
            return Ok(Err((last.holder, last.epoch)));
        }
        let asked = Instant::now();
        let lease = match store.take_lease(name, &self.holder, self.lasts).await? {
            Taken::Yes(lease) => lease,
            Taken::No { holder, epoch } => return Ok(Err((holder, epoch))),
        };
        let held = HeldLease::keep(store.clone(), lease, asked);
        if !own.is_empty() {
            store.describe_lease(held.lease(), &own.text()).await?;
        }
        self.others.lock().remove(name);
        Ok(Ok(held))
    }

    /// Takes a lease if it is free, whatever settings its last holder had.
    pub async fn take_always(
        &self,
        store: &Arc<Store>,
        name: &str,
    ) -> Result<Result<HeldLease, (String, i64)>, StoreError> {
        self.take(store, name, &SharedSettings::default()).await
    }

    /// Reads who holds a lease, or held it last, and notes in which keys its settings differ. `None` if nobody has
    /// noted settings, or the database has only one daemon at a time.
    pub async fn look(
        &self,
        store: &Arc<Store>,
        name: &str,
        own: &SharedSettings,
    ) -> Result<Option<LastHolder>, StoreError> {
        if own.is_empty() {
            return Ok(None);
        }
        let last = store.last_holder(name).await?;
        let keys = last.as_ref().map(|last| {
            let theirs = SharedSettings::read(&last.settings);
            match theirs.is_empty() {
                true => Vec::new(),
                false => own.differing(&theirs),
            }
        });
        let mut others = self.others.lock();
        let Some((last, keys)) = last.zip(keys).filter(|(_, keys)| !keys.is_empty()) else {
            others.remove(name);
            return Ok(None);
        };
        let other = OtherSettings {
            lease: name.to_owned(),
            holder: last.holder.clone(),
            keys,
        };
        if others.get(name) != Some(&other) {
            let (holder, keys) = (&other.holder, other.keys.join(", "));
            tracing::warn!(name, holder, keys, "another daemon has other settings");
            others.insert(name.to_owned(), other);
        }
        Ok(Some(last))
    }

    /// Whether a daemon with these settings may take a lease after its last holder.
    fn may_follow(&self, last: &LastHolder, own: &SharedSettings) -> bool {
        let grace = match last.gave_it_back {
            true => self.lasts,
            false => GRACE.max(self.lasts),
        };
        own.continues(&SharedSettings::read(&last.settings))
            || last.free_for.is_some_and(|free| free >= grace)
    }

    /// Waits until the lease is free, and takes it as [`take`](Self::take) does. A database that fails is asked again.
    /// Cancel safe: a lease that was taken meanwhile ends by itself.
    pub async fn wait(&self, store: &Arc<Store>, name: &str, own: &SharedSettings) -> HeldLease {
        let mut has_waited = false;
        loop {
            match self.take(store, name, own).await {
                Ok(Ok(held)) => return held,
                Ok(Err((holder, _))) if !has_waited => {
                    tracing::info!(name, holder, "waiting for a lease that another daemon has");
                    has_waited = true;
                }
                Ok(Err(_)) => {}
                Err(error) => tracing::warn!(%error, name, "a lease cannot be taken"),
            }
            sleep(self.pause()).await;
        }
    }
}

/// The time for which a lease is held, in milliseconds of a clock that only runs forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LeaseTerm {
    lasts: u64,
    ends: u64,
}

impl LeaseTerm {
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

/// A hash of the value of each key, by part: a section or a queue. A value is not readable from its hash, so that the
/// database contains no secrets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SharedSettings(BTreeMap<String, BTreeMap<String, String>>);

impl SharedSettings {
    /// Adds a part, with the values of its keys. A value that is no object is the part's only one.
    ///
    /// # Errors
    /// Fails if the value is none that JSON can contain.
    pub fn add(&mut self, part: &str, value: &impl Serialize) -> Result<(), serde_json::Error> {
        let own = self.0.entry(part.to_owned()).or_default();
        match serde_json::to_value(value)? {
            Value::Object(keys) => {
                let hashes = keys.into_iter().map(|(key, value)| (key, hash(&value)));
                own.extend(hashes);
            }
            value => drop(own.insert(String::new(), hash(&value))),
        }
        Ok(())
    }

    /// Whether there are none, so that any other daemon may continue what this one does.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The text by which another daemon compares its own.
    pub fn text(&self) -> String {
        serde_json::to_string(&self.0).unwrap_or_default()
    }

    /// Those of a text; none if another version has written it in another form.
    pub fn read(text: &str) -> Self {
        Self(serde_json::from_str(text).unwrap_or_default())
    }

    /// The keys in which two daemons differ. A part that one of them lacks is named as a whole.
    pub fn differing(&self, other: &Self) -> Vec<String> {
        let parts: BTreeSet<&String> = self.0.keys().chain(other.0.keys()).collect();
        let mut names = Vec::new();
        for part in parts {
            let (Some(own), Some(theirs)) = (self.0.get(part), other.0.get(part)) else {
                names.push(part.clone());
                continue;
            };
            let keys: BTreeSet<&String> = own.keys().chain(theirs.keys()).collect();
            let keys = keys
                .into_iter()
                .filter(|key| own.get(*key) != theirs.get(*key));
            names.extend(keys.map(|key| match key.is_empty() {
                true => part.clone(),
                false => format!("{part}.{key}"),
            }));
        }
        names
    }

    /// Whether a daemon with these settings can continue what one with the others has begun: it has all their parts,
    /// with the same values. It may have further parts.
    pub fn continues(&self, other: &Self) -> bool {
        let mut parts = other.0.iter();
        parts.all(|(part, keys)| self.0.get(part) == Some(keys))
    }
}

fn hash(value: &Value) -> String {
    let digest = Sha256::digest(value.to_string());
    let bytes = digest[..6].iter();
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

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
        held: Option<(u64, LeaseTerm)>,
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
                    let term = LeaseTerm::new(Duration::from_millis(LASTS), asked);
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
        let mut term = LeaseTerm::new(Duration::from_millis(LASTS), 1_000);
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

    fn settings(parts: &[(&str, Value)]) -> SharedSettings {
        let mut settings = SharedSettings::default();
        for (part, value) in parts {
            settings.add(part, value).unwrap();
        }
        settings
    }

    #[test]
    fn differences_are_named_by_key() {
        let one = settings(&[
            ("rating", json!({"system": "joint", "sides": true})),
            ("queue.duel", json!({"size": 1})),
            ("the version", json!(7)),
        ]);
        let two = settings(&[
            ("rating", json!({"system": "elo", "sides": true, "k": 3})),
            ("queue.trio", json!({"size": 3})),
            ("the version", json!(8)),
        ]);
        let named = [
            "queue.duel",
            "queue.trio",
            "rating.k",
            "rating.system",
            "the version",
        ];
        assert_eq!(one.differing(&two), named);
        assert_eq!(two.differing(&one), named);
        assert!(one.differing(&one).is_empty());
        assert!(!one.continues(&two) && !two.continues(&one) && one.continues(&one));
        assert_eq!(SharedSettings::read(&one.text()), one);
        assert!(!one.text().contains("joint"));
        assert!(SharedSettings::read("what is this").is_empty());
    }

    #[test]
    fn a_daemon_with_further_queues_continues() {
        let few = settings(&[("queue.duel", json!({"size": 1}))]);
        let more = settings(&[
            ("queue.duel", json!({"size": 1})),
            ("queue.trio", json!({"size": 3})),
        ]);
        assert!(more.continues(&few) && !few.continues(&more));
        assert!(few.continues(&SharedSettings::default()));
    }
}
