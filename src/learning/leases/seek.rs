//! Waiting for a lease.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use rand::{TryRng, rngs::SysRng};
use tokio::time::{Instant, sleep};

use super::{HeldLease, SharedSettings};
use crate::store::{LastHolder, Store, StoreError, Taken};

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
        let mut digits = [0u8; 8];
        // Without random digits, the number alone distinguishes the processes of one machine.
        let _ = SysRng.try_fill_bytes(&mut digits);
        let digits: String = digits.iter().map(|byte| format!("{byte:02x}")).collect();
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
