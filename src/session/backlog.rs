//! The backlog: decisions and abandoned games that are written in the background.
//!
//! No client waits for these writes. The backlog is bounded: while the database is away, the entries
//! that do not fit are dropped and counted in the log. An entry leaves the backlog only once it is
//! on disk.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    sync::Notify,
    time::{sleep, timeout},
};
use tracing::{Instrument, Span};

use super::{SessionError, Sessions};
use crate::{
    domain::MatchRecord,
    store::{DecisionNote, DecisionRow},
};

/// How often parked games are checked, and how soon a failed write is tried again.
const INTERVAL: Duration = Duration::from_secs(1);
/// The most abandoned games in the backlog.
const MAX_ABANDONED: usize = 256;
/// The most notes in the backlog, of up to some 20 kB each.
const MAX_NOTES: usize = 2_048;
/// Notes written in one transaction.
const BATCH: usize = 256;

/// Entries that are not on disk yet.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    abandoned: Mutex<VecDeque<AbandonedGame>>,
    notes: Mutex<Notes>,
    /// Locked during a write, so that no entry is written twice.
    writing: tokio::sync::Mutex<()>,
    /// Notified when an entry is added.
    added: Notify,
}

#[derive(Clone, Debug)]
struct AbandonedGame {
    record: MatchRecord,
    /// The number that its decisions share.
    game: i64,
    /// The span of its session.
    span: Span,
}

#[derive(Debug, Default)]
struct Notes {
    queue: VecDeque<DecisionNote>,
    /// Notes that did not fit since the last write.
    dropped: u64,
}

impl Backlog {
    /// Adds a decision.
    pub(super) fn decided(&self, decision: DecisionRow) {
        self.note(DecisionNote::Decided(decision));
    }

    /// Adds that the decisions of a game belong to a match.
    pub(super) fn became(&self, game: i64, match_id: i64) {
        self.note(DecisionNote::Became { game, match_id });
    }

    fn note(&self, note: DecisionNote) {
        let mut notes = self.notes.lock();
        if notes.queue.len() < MAX_NOTES {
            notes.queue.push_back(note);
        } else {
            notes.dropped += 1;
        }
        self.added.notify_one();
    }

    /// Adds an abandoned game of the session whose span is the current one. `game` is the number that its
    /// decisions share.
    pub(super) fn abandon(&self, record: MatchRecord, game: i64) {
        let mut abandoned = self.abandoned.lock();
        if abandoned.len() < MAX_ABANDONED {
            let span = Span::current();
            abandoned.push_back(AbandonedGame { record, game, span });
        } else {
            tracing::warn!("an abandoned game is lost: the backlog is full");
        }
        self.added.notify_one();
    }
}

impl Sessions {
    /// Writes the backlog and records parked games whose grace is over, until dropped. A failed
    /// write is logged and retried.
    pub async fn run_background(self: &Arc<Self>) {
        loop {
            let _ = timeout(INTERVAL, self.backlog.added.notified()).await;
            self.give_up_expired();
            if let Err(error) = self.write_backlog().await {
                tracing::warn!(%error, "cannot write the backlog, trying again");
                sleep(INTERVAL).await;
            }
        }
    }

    /// Writes the whole backlog now.
    ///
    /// # Errors
    /// Fails if the database does; the entries stay in the backlog.
    pub async fn write_backlog(self: &Arc<Self>) -> Result<(), SessionError> {
        // A task of its own, so that it runs to its end even if the caller is dropped: an entry that
        // is committed must also leave the backlog.
        let sessions = self.clone();
        let written = async move {
            let _one_at_a_time = sessions.backlog.writing.lock().await;
            sessions.write_abandoned().await?;
            sessions.write_notes().await
        };
        tokio::spawn(written.in_current_span()).await?
    }

    async fn write_abandoned(&self) -> Result<(), SessionError> {
        loop {
            let Some(abandoned) = self.backlog.abandoned.lock().front().cloned() else {
                return Ok(());
            };
            let AbandonedGame { record, game, span } = abandoned;
            self.record_abandoned(record, game).instrument(span).await?;
            self.backlog.abandoned.lock().pop_front();
        }
    }

    /// Records an abandoned game; one that cannot be a match is given up.
    async fn record_abandoned(&self, record: MatchRecord, game: i64) -> Result<(), SessionError> {
        match self.insert_match(record).await {
            Ok(id) => {
                self.backlog.became(game, id);
                self.learning.match_recorded();
            }
            Err(SessionError::Store(error)) => return Err(error.into()),
            Err(error) => tracing::warn!(%error, "an abandoned game cannot be recorded"),
        }
        Ok(())
    }

    async fn write_notes(&self) -> Result<(), SessionError> {
        loop {
            let (batch, dropped) = {
                let mut notes = self.backlog.notes.lock();
                let batch: Vec<DecisionNote> = notes.queue.iter().take(BATCH).cloned().collect();
                (batch, std::mem::take(&mut notes.dropped))
            };
            if dropped > 0 {
                tracing::warn!(dropped, "decisions are lost: the database is too slow");
            }
            if batch.is_empty() {
                return Ok(());
            }
            self.store
                .write_decisions(&batch, self.settings.keep_decisions)
                .await?;
            self.backlog.notes.lock().queue.drain(..batch.len());
        }
    }
}
