//! What is written without anybody waiting for it, and what is learned from it.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    sync::Notify,
    time::{sleep, timeout},
};

use super::{Service, ServiceError};
use crate::{
    domain::MatchRecord,
    store::{DecisionRow, Note},
};

/// How often games that wait are looked through, and how soon a failed write is tried again.
const TURN: Duration = Duration::from_secs(1);
/// Abandoned games that wait to be written, at most: more come only while the database is away.
const MAX_ABANDONED: usize = 256;
/// Likewise notes, of up to some 20 kB each.
const MAX_NOTES: usize = 2_048;
/// Notes written in one transaction.
const BATCH: usize = 256;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Journal {
    abandoned: Mutex<VecDeque<(MatchRecord, i64)>>,
    notes: Mutex<Notes>,
    /// Held while notes are written, so that none is written twice.
    writing: tokio::sync::Mutex<()>,
    written: Notify,
    learned: Notify,
}

#[derive(Debug, Default)]
struct Notes {
    waiting: VecDeque<Note>,
    dropped: u64,
}

impl Journal {
    /// A decision was made; it is not worth waiting for the disk.
    pub(super) fn decided(&self, decision: DecisionRow) {
        self.note(Note::Decided(decision));
    }

    /// The decisions of this game belong to this match.
    pub(super) fn became(&self, game: i64, match_id: i64) {
        self.note(Note::Became { game, match_id });
    }

    fn note(&self, note: Note) {
        let mut notes = lock(&self.notes);
        if notes.waiting.len() < MAX_NOTES {
            notes.waiting.push_back(note);
        } else {
            notes.dropped += 1;
        }
        self.written.notify_one();
    }

    /// A game that went no further is to be written; its decisions share this number.
    pub(super) fn abandon(&self, record: MatchRecord, game: i64) {
        let mut abandoned = lock(&self.abandoned);
        if abandoned.len() < MAX_ABANDONED {
            abandoned.push_back((record, game));
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
    pub async fn tend(self: &Arc<Self>) {
        tokio::join!(self.keep_books(), self.keep_learning());
    }

    async fn keep_books(self: &Arc<Self>) {
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
            if let Err(error) = self.learn_own().await {
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
    pub async fn write_down(self: &Arc<Self>) -> Result<(), ServiceError> {
        // A task of its own, which goes on when this one is dropped: between a commit and the striking
        // out of what it wrote there must be no end.
        let service = self.clone();
        let written = tokio::spawn(async move {
            let _one_at_a_time = service.journal.writing.lock().await;
            service.write_abandoned().await?;
            service.write_notes().await
        });
        written.await?
    }

    // Nothing is taken out before it is on disk.

    async fn write_abandoned(&self) -> Result<(), ServiceError> {
        loop {
            let Some((record, game)) = lock(&self.journal.abandoned).front().cloned() else {
                return Ok(());
            };
            match self.put(record).await {
                Ok(id) => {
                    self.journal.became(game, id);
                    self.journal.learn();
                }
                Err(ServiceError::Store(error)) => return Err(error.into()),
                Err(error) => tracing::warn!(%error, "an abandoned game is not kept"),
            }
            lock(&self.journal.abandoned).pop_front();
        }
    }

    async fn write_notes(&self) -> Result<(), ServiceError> {
        loop {
            let (batch, dropped) = {
                let mut notes = lock(&self.journal.notes);
                let batch: Vec<Note> = notes.waiting.iter().take(BATCH).cloned().collect();
                (batch, std::mem::take(&mut notes.dropped))
            };
            if dropped > 0 {
                tracing::warn!(
                    dropped,
                    "decisions are not kept: the database takes too long"
                );
            }
            if batch.is_empty() {
                return Ok(());
            }
            self.store
                .write_notes(&batch, self.settings.keep_decisions)
                .await?;
            lock(&self.journal.notes).waiting.drain(..batch.len());
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
