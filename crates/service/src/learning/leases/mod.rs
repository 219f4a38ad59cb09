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

mod settings;

pub use settings::SharedSettings;

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
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
}
