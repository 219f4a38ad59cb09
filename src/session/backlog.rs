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

use super::{SessionError, Sessions};
use crate::{
    domain::MatchRecord,
    store::{DecisionNote, DecisionRow},
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
pub(super) struct Backlog {
    abandoned: Mutex<VecDeque<(MatchRecord, i64)>>,
    notes: Mutex<Notes>,
    /// Held while notes are written, so that none is written twice.
    writing: tokio::sync::Mutex<()>,
    written: Notify,
}

#[derive(Debug, Default)]
struct Notes {
    waiting: VecDeque<DecisionNote>,
    dropped: u64,
}

impl Backlog {
    /// A decision was made; it is not worth waiting for the disk.
    pub(super) fn decided(&self, decision: DecisionRow) {
        self.note(DecisionNote::Decided(decision));
    }

    /// The decisions of this game belong to this match.
    pub(super) fn became(&self, game: i64, match_id: i64) {
        self.note(DecisionNote::Became { game, match_id });
    }

    fn note(&self, note: DecisionNote) {
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
}

impl Sessions {
    /// Writes the backlog and records parked games whose grace is over, until dropped. A failed
    /// write is logged and retried.
    pub async fn run_background(self: &Arc<Self>) {
        loop {
            let _ = timeout(TURN, self.backlog.written.notified()).await;
            self.sweep();
            if let Err(error) = self.write_backlog().await {
                tracing::warn!(%error, "cannot write what was noted, trying again");
                sleep(TURN).await;
            }
        }
    }

    /// Writes what was noted, now.
    ///
    /// # Errors
    /// The database's; nothing is lost then.
    pub async fn write_backlog(self: &Arc<Self>) -> Result<(), SessionError> {
        // A task of its own, which goes on when this one is dropped: between a commit and the striking
        // out of what it wrote there must be no end.
        let sessions = self.clone();
        let written = tokio::spawn(async move {
            let _one_at_a_time = sessions.backlog.writing.lock().await;
            sessions.write_abandoned().await?;
            sessions.write_notes().await
        });
        written.await?
    }

    // Nothing is taken out before it is on disk.

    async fn write_abandoned(&self) -> Result<(), SessionError> {
        loop {
            let Some((record, game)) = lock(&self.backlog.abandoned).front().cloned() else {
                return Ok(());
            };
            match self.insert_match(record).await {
                Ok(id) => {
                    self.backlog.became(game, id);
                    self.learning.match_recorded();
                }
                Err(SessionError::Store(error)) => return Err(error.into()),
                Err(error) => tracing::warn!(%error, "an abandoned game is not kept"),
            }
            lock(&self.backlog.abandoned).pop_front();
        }
    }

    async fn write_notes(&self) -> Result<(), SessionError> {
        loop {
            let (batch, dropped) = {
                let mut notes = lock(&self.backlog.notes);
                let batch: Vec<DecisionNote> = notes.waiting.iter().take(BATCH).cloned().collect();
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
                .write_decisions(&batch, self.settings.keep_decisions)
                .await?;
            lock(&self.backlog.notes).waiting.drain(..batch.len());
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
