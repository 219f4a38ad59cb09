//! Waiting for a lease.

use std::{sync::Arc, time::Duration};

use rand::{TryRng, rngs::SysRng};
use tokio::time::{Instant, sleep};

use super::HeldLease;
use crate::store::{Store, StoreError, Taken};

/// The longest time between two attempts to take a lease that another process holds.
const PAUSE: Duration = Duration::from_secs(1);

/// How a process takes leases.
#[derive(Clone, Debug)]
pub struct LeaseSettings {
    /// The name of the process, which no other one has.
    pub holder: Arc<str>,
    /// The time without a renewal after which another process may take over.
    pub lasts: Duration,
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
        }
    }

    /// How long to wait between two attempts to take a lease.
    pub fn pause(&self) -> Duration {
        PAUSE.min(self.lasts / 3)
    }

    /// Takes a lease if it is free. `Err` is the name and the epoch of its holder if it is not.
    ///
    /// # Errors
    /// Fails if the database does.
    pub async fn take(
        &self,
        store: &Arc<dyn Store>,
        name: &str,
    ) -> Result<Result<HeldLease, (String, i64)>, StoreError> {
        let asked = Instant::now();
        Ok(
            match store.take_lease(name, &self.holder, self.lasts).await? {
                Taken::Yes(lease) => Ok(HeldLease::keep(store.clone(), lease, asked)),
                Taken::No { holder, epoch } => Err((holder, epoch)),
            },
        )
    }

    /// Waits until the lease is free, and takes it. A database that fails is asked again. Cancel safe: a lease
    /// that was taken meanwhile ends by itself.
    pub async fn wait(&self, store: &Arc<dyn Store>, name: &str) -> HeldLease {
        let mut has_waited = false;
        loop {
            match self.take(store, name).await {
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
