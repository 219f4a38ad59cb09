//! What is written without anybody waiting for it, and what is learned from it.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::Notify,
    time::{sleep, timeout},
};

use super::{Service, ServiceError};
use crate::domain::MatchRecord;

/// How often games that wait are looked through, and how soon a failed write is tried again.
const TURN: Duration = Duration::from_secs(1);
/// Abandoned games that wait to be written, at most: more come only while the database is away.
const MAX_ABANDONED: usize = 256;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Journal {
    abandoned: Mutex<VecDeque<MatchRecord>>,
    written: Notify,
    learned: Notify,
}

impl Journal {
    /// A game that went no further is to be written.
    pub(super) fn abandon(&self, record: MatchRecord) {
        let mut abandoned = lock(&self.abandoned);
        if abandoned.len() < MAX_ABANDONED {
            abandoned.push_back(record);
        } else {
            tracing::warn!(server = %record.server, "an abandoned game is not kept: too many wait");
        }
        self.written.notify_one();
    }

    /// There are matches to learn from.
    pub(super) fn learn(&self) {
        self.learned.notify_one();
    }
}

impl Service {
    /// Writes what was noted, gives up games that nobody goes on with, and learns from matches that
    /// sessions reported, until dropped.
    pub async fn tend(&self) {
        tokio::join!(self.keep_books(), self.keep_learning());
    }

    async fn keep_books(&self) {
        loop {
            let _ = timeout(TURN, self.journal.written.notified()).await;
            self.sweep();
            if let Err(error) = self.write_down().await {
                tracing::warn!(%error, "cannot write what was noted, trying again");
                sleep(TURN).await;
            }
        }
    }

    async fn keep_learning(&self) {
        loop {
            self.journal.learned.notified().await;
            if let Err(error) = self.follow().await {
                tracing::warn!(%error, "cannot learn from a match, trying again");
                sleep(TURN).await;
                self.journal.learn();
            }
        }
    }

    /// Writes what was noted, now.
    ///
    /// # Errors
    /// The database's; nothing is lost then.
    pub(super) async fn write_down(&self) -> Result<(), ServiceError> {
        loop {
            // Taken out only once it is on disk: this future may be dropped on its way.
            let Some(record) = lock(&self.journal.abandoned).front().cloned() else {
                return Ok(());
            };
            match self.put(record).await {
                Ok(_) => self.journal.learn(),
                Err(ServiceError::Store(error)) => return Err(error.into()),
                Err(error) => tracing::warn!(%error, "an abandoned game is not kept"),
            }
            lock(&self.journal.abandoned).pop_front();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
