//! Which daemon writes the derived tables.
//!
//! All daemons of a database fold its matches, and get the same weights. Only the daemon that has the lease of the
//! fold writes the tables. A command takes the lease if it is free; else the daemon that has it derives what the
//! command has recorded, and the command waits for that.
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

/// How long a command waits between two looks at what a daemon has written.
const LOOKS: Duration = Duration::from_millis(50);

/// Whether this process writes what it derives.
#[derive(Debug, Default)]
pub(super) struct Writer {
    role: Mutex<LeaseRole>,
    held: Mutex<Option<Arc<HeldLease>>>,
}

/// Who needs the lease.
#[derive(Clone, Debug, Default)]
enum LeaseRole {
    /// Nobody else uses the database.
    #[default]
    Alone,
    /// A daemon keeps the lease as long as it can.
    Daemon(LeaseSettings),
    /// A command takes it for its own fold.
    Command(LeaseSettings),
}

/// The permission to write what is derived, with the lease that is shown to the database.
#[derive(Clone)]
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
        *self.writer.role.lock() = LeaseRole::Daemon(leases);
    }

    /// From now on, this process derives nothing that a daemon derives: [`refresh`](Self::refresh) and
    /// [`rebuild`](Self::rebuild) take the lease of the fold for as long as they last, or wait for the daemon that has it. For
    /// commands.
    pub fn leave_to_daemons(&self, leases: LeaseSettings) {
        *self.writer.role.lock() = LeaseRole::Command(leases);
    }

    /// Whether this process is a daemon, which learns from matches that other processes record.
    pub(super) fn is_daemon(&self) -> bool {
        matches!(&*self.writer.role.lock(), LeaseRole::Daemon(_))
    }

    /// Whether it is a command, which answers no questions while it learns.
    pub(super) fn is_command(&self) -> bool {
        matches!(&*self.writer.role.lock(), LeaseRole::Command(_))
    }

    /// Whether this process writes what the daemons of the database derive.
    pub fn is_writer(&self) -> bool {
        self.guard().is_some()
    }

    /// The permission to write; `None` while another daemon has it.
    pub(super) fn guard(&self) -> Option<WriteGuard> {
        if matches!(&*self.writer.role.lock(), LeaseRole::Alone) {
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
        let LeaseRole::Daemon(leases) = self.writer.role.lock().clone() else {
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
        let LeaseRole::Daemon(leases) = self.writer.role.lock().clone() else {
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

    /// Learns and writes, if this process may; a command waits for a daemon that does it. Returns whether anything was
    /// written.
    pub(super) async fn learn_in_turn(
        &self,
        rebuilds: bool,
        mut progress: impl FnMut(u64),
    ) -> Result<bool, LearningError> {
        if !self.is_command() {
            loop {
                let written = self.learn(rebuilds, &mut progress).await?;
                if !self.writes.goes_on() {
                    return Ok(written);
                }
                // Many rows are being written, so that nothing else was.
                self.writes.end().await;
            }
        }
        let mut wanted = None;
        loop {
            if self.has_turn().await {
                let written = self.learn(rebuilds, &mut progress).await?;
                self.give_back().await?;
                return Ok(written);
            }
            if wanted.is_none() && rebuilds {
                self.store.learned().ask_for_rebuild().await?;
            }
            let (matches, changes) = match wanted {
                Some(wanted) => wanted,
                None => {
                    tracing::info!("a daemon uses the database: it derives the weights");
                    let changes = self.store.corrections().overrides().await?.changes;
                    *wanted.insert((self.store.matches().extent().await?.0, changes))
                }
            };
            let written = self.store.learned().derived_from().await?;
            if written
                .is_some_and(|from| from.matches >= matches && from.changes() >= Some(changes))
            {
                return Ok(true);
            }
            sleep(LOOKS).await;
        }
    }

    /// Whether this process may write what it derives. A command takes the lease if it is free.
    pub(super) async fn has_turn(&self) -> bool {
        let role = self.writer.role.lock().clone();
        if let LeaseRole::Command(leases) = role
            && self.guard().is_none()
        {
            match leases.take(&self.store, LEASE, &self.shared).await {
                Ok(Ok(held)) => *self.writer.held.lock() = Some(Arc::new(held)),
                Ok(Err(_)) => {}
                Err(error) => tracing::warn!(%error, "the lease of the fold cannot be taken"),
            }
        }
        self.guard().is_some()
    }

    /// Learns from the last matches, writes a checkpoint, and gives the lease back, so that another daemon need not wait for its
    /// end. Called when the program ends.
    pub async fn end(&self) -> Result<(), LearningError> {
        // Otherwise there may be many rows to write.
        let is_quick = self.written.lock().is_some() && !self.writes.goes_on();
        let learned = match is_quick {
            true => self.learn_new().await.map(drop),
            false => Ok(()),
        };
        self.save_checkpoint().await?;
        self.give_back().await?;
        learned
    }

    async fn give_back(&self) -> Result<(), LearningError> {
        let held = self.writer.held.lock().take();
        if let Some(held) = held.and_then(Arc::into_inner) {
            held.give_back().await?;
        }
        Ok(())
    }
}
