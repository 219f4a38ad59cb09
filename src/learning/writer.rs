//! Who writes what is derived from the matches.
//!
//! All daemons of a database fold its matches, and get the same weights. One of them writes the derived tables and
//! the checkpoint: the one that has the lease of the fold. The next one continues from these. Commands write
//! without a lease: the database keeps an older state from replacing a newer one.
//!
//! A daemon whose settings differ from those of the last writer takes the lease only once no daemon with those settings
//! has had it for a while ([`LeaseSettings::take`]). Until then it only reads, and has weights by its own settings.

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::time::sleep;

use super::{Learning, LearningError};
use crate::{
    learning::leases::{HeldLease, LeaseSettings},
    store::{Lease, StoreError},
};

/// The name of the lease without which no daemon writes what it derives.
const LEASE: &str = "fold";
/// The delay before a failed read or write is tried again.
pub(super) const RETRY: Duration = Duration::from_secs(1);

/// Whether this process writes what it derives.
#[derive(Debug, Default)]
pub(super) struct Writer {
    /// How this process takes the lease; `None` for a command, which needs none.
    leases: Mutex<Option<LeaseSettings>>,
    held: Mutex<Option<Arc<HeldLease>>>,
}

/// The permission to write what is derived, with the lease that is shown to the database.
pub(super) struct WriteGuard(Option<Arc<HeldLease>>);

impl WriteGuard {
    pub fn lease(&self) -> Option<&Lease> {
        self.0.as_ref().map(|held| held.lease())
    }
}

impl Learning {
    /// From now on, this process writes what it derives only while it has the lease of the fold. For daemons,
    /// before [`keep_up_to_date`](Self::keep_up_to_date), which takes the lease.
    pub fn write_by_lease(&self, leases: LeaseSettings) {
        *self.writer.leases.lock() = Some(leases);
    }

    /// Whether this process is a daemon, which writes only with the lease, and learns from matches that other processes
    /// record; else it is a command.
    pub(super) fn is_daemon(&self) -> bool {
        self.writer.leases.lock().is_some()
    }

    /// Whether this process writes what the daemons of the database derive.
    pub fn is_writer(&self) -> bool {
        self.guard().is_some()
    }

    /// The permission to write; `None` while another daemon has it.
    pub(super) fn guard(&self) -> Option<WriteGuard> {
        if !self.is_daemon() {
            return Some(WriteGuard(None));
        }
        let held = self.writer.held.lock().clone();
        held.filter(|held| held.is_held())
            .map(|held| WriteGuard(Some(held)))
    }

    /// Whether a write has failed only because the lease is lost. It is not used again.
    pub(super) fn has_lost_lease(&self, error: &StoreError) -> bool {
        let lost = error.is_lease_lost();
        if lost {
            *self.writer.held.lock() = None;
        }
        lost
    }

    /// Takes the lease if it is free, so that a daemon alone on its database derives its weights once.
    pub(super) async fn try_lease(&self) {
        let Some(leases) = self.writer.leases.lock().clone() else {
            return;
        };
        match leases.take(&self.store, LEASE, &self.shared).await {
            Ok(Ok(held)) => *self.writer.held.lock() = Some(Arc::new(held)),
            Ok(Err((holder, _))) if self.store.is_shared() => {
                tracing::info!(holder, "another daemon writes the weights of this database");
            }
            Ok(Err((holder, _))) => tracing::warn!(
                holder,
                "another daemon uses this database file: this one serves game servers, pages and /v1, and leaves to the \
                 first one, until that ends, the queues, the weights on the disk, the upkeep of the file and the journal of \
                 running games"
            ),
            Err(error) => tracing::warn!(%error, "the lease of the fold cannot be taken"),
        }
    }

    /// Takes the lease whenever it is free, and then writes what the last holder has not written. Runs until
    /// dropped.
    pub(super) async fn keep_lease(&self) {
        let Some(leases) = self.writer.leases.lock().clone() else {
            return std::future::pending().await;
        };
        loop {
            let held = self.writer.held.lock().clone();
            if let Some(held) = held.filter(|held| held.is_held()) {
                held.lost().await;
            }
            let held = leases.wait(&self.store, LEASE, &self.shared).await;
            *self.writer.held.lock() = Some(Arc::new(held));
            tracing::info!("this daemon writes the weights of the database from now on");
            while let Err(error) = self.refresh().await {
                self.metrics.failed();
                tracing::warn!(%error, "cannot derive weights, trying again");
                sleep(RETRY).await;
            }
        }
    }

    /// Writes weights that are behind and a checkpoint, and gives the lease back, so that another daemon need not wait for its
    /// end. Called when the program ends.
    pub async fn end(&self) -> Result<(), LearningError> {
        if self.pace.weights.hurry() {
            self.learn_beside_others().await?;
        }
        self.save_checkpoint().await?;
        let held = self.writer.held.lock().take();
        if let Some(held) = held.and_then(Arc::into_inner) {
            held.give_back().await?;
        }
        Ok(())
    }
}
