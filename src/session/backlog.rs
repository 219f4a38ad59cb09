//! The backlog: writes that are made in the background. It contains decisions and abandoned games,
//! for which no client waits, and matches that could not be written at END because the disk was
//! full or the database locked.
//!
//! The backlog is bounded. While the database cannot be written, decisions and abandoned games that
//! do not fit are dropped, and their number is logged; a match that does not fit is refused, and
//! its game continues. An entry leaves the backlog only once it is on disk.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{
    sync::Notify,
    time::{sleep, timeout},
};
use tracing::{Instrument, Span};

use super::{SessionError, Sessions, journal_folder::JournalFile};
use crate::{
    lobby::Finished,
    store::{DecisionNote, DecisionRow},
};

/// How often parked games are checked, and the delay before a failed write is retried.
const INTERVAL: Duration = Duration::from_secs(1);
/// The most matches in the backlog.
const MAX_MATCHES: usize = 256;
/// The most score changes, players, stays on teams and predicted changes of teams of all matches in the backlog
/// together: some 64 MB.
const MAX_PARTS: usize = 1_000_000;
/// The most notes in the backlog, of up to some 20 kB each.
const MAX_NOTES: usize = 2_048;
/// The most notes per transaction.
const BATCH: usize = 256;

/// Entries that are not on disk yet.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    matches: Mutex<PendingMatches>,
    notes: Mutex<Notes>,
    /// Locked during a write, so that no entry is written twice.
    writing: tokio::sync::Mutex<()>,
    /// Notified when an entry is added.
    added: Notify,
}

/// Matches, in the order in which they ended.
#[derive(Debug, Default)]
struct PendingMatches {
    queue: VecDeque<PendingMatch>,
    /// The parts of all matches together, see [`MAX_PARTS`].
    parts: usize,
}

/// A match that is not on disk yet.
#[derive(Clone, Debug)]
struct PendingMatch {
    finished: Finished,
    /// The number of its game.
    game: i64,
    /// The game's journal, which is removed once the match is on disk.
    journal: Option<Arc<JournalFile>>,
    /// The span of its session.
    span: Span,
}

impl PendingMatches {
    /// Adds a match if there is room for it.
    fn push(&mut self, pending: PendingMatch) -> bool {
        let parts = self.parts.saturating_add(pending.parts());
        if self.queue.len() >= MAX_MATCHES || parts > MAX_PARTS {
            return false;
        }
        self.parts = parts;
        self.queue.push_back(pending);
        true
    }

    /// Removes the first match. Returns its journal, which the caller removes.
    fn pop(&mut self) -> Option<Arc<JournalFile>> {
        let gone = self.queue.pop_front()?;
        self.parts -= gone.parts();
        gone.journal
    }
}

impl PendingMatch {
    fn parts(&self) -> usize {
        let Finished {
            record, chances, ..
        } = &self.finished;
        let participants = record.participants.iter();
        let stays = participants.map(|participant| participant.presence.len() + 1);
        record.events.len() + stays.sum::<usize>() + chances.changes.len()
    }
}

#[derive(Debug, Default)]
struct Notes {
    queue: VecDeque<DecisionNote>,
    /// Number of notes dropped since the last write.
    dropped: u64,
}

impl Backlog {
    /// Adds a decision to the backlog.
    pub(super) fn decided(&self, decision: DecisionRow) {
        self.note(DecisionNote::Decided(decision));
    }

    /// Adds a note that the decisions of a game belong to a match.
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

    /// Adds the match of the game with this number, in the span of the current session. Returns whether
    /// there was room for it. If there was, `journal` is removed once the match is on disk.
    pub(super) fn keep(
        &self,
        finished: Finished,
        game: i64,
        journal: Option<Arc<JournalFile>>,
    ) -> bool {
        let kept = self.matches.lock().push(PendingMatch {
            finished,
            game,
            journal,
            span: Span::current(),
        });
        self.added.notify_one();
        kept
    }

    /// The number of matches and of notes about decisions in the backlog.
    pub(super) fn lengths(&self) -> (usize, usize) {
        (
            self.matches.lock().queue.len(),
            self.notes.lock().queue.len(),
        )
    }

    /// Makes the backlog remove a journal once the match of the game with this number is on disk.
    /// Returns whether that match is in the backlog.
    pub(super) fn attach(&self, game: i64, journal: Option<Arc<JournalFile>>) -> bool {
        let mut matches = self.matches.lock();
        let mut queue = matches.queue.iter_mut();
        let pending = queue.find(|pending| pending.game == game);
        pending.map(|pending| pending.journal = journal).is_some()
    }

    /// Whether the match of the game with this number is in the backlog.
    pub(super) fn keeps(&self, game: i64) -> bool {
        let matches = self.matches.lock();
        matches.queue.iter().any(|pending| pending.game == game)
    }
}

impl Sessions {
    /// Writes the backlog, and records parked games whose grace period is over, until dropped.
    /// Retries a failed write every second; logs the first failure, and the success after it.
    pub async fn run_background(self: &Arc<Self>) {
        let mut failing = false;
        loop {
            let _ = timeout(INTERVAL, self.backlog.added.notified()).await;
            self.give_up_expired();
            match self.write_backlog().await {
                Ok(()) => {
                    if std::mem::take(&mut failing) {
                        tracing::info!("the database can be written again");
                    }
                }
                Err(error) => {
                    if !std::mem::replace(&mut failing, true) {
                        tracing::warn!(%error, "cannot write matches and decisions now; trying every second");
                    }
                    sleep(INTERVAL).await;
                }
            }
        }
    }

    /// Writes the whole backlog now.
    ///
    /// # Errors
    /// Fails if the database does; the entries stay in the backlog.
    pub async fn write_backlog(self: &Arc<Self>) -> Result<(), SessionError> {
        // Run in a task of its own, which completes even if the caller is dropped: a committed
        // entry must also leave the backlog.
        let sessions = self.clone();
        let written = async move {
            let _one_at_a_time = sessions.backlog.writing.lock().await;
            sessions.write_matches().await?;
            sessions.write_notes().await
        };
        self.tasks().spawn(written.in_current_span()).await?
    }

    async fn write_matches(&self) -> Result<(), SessionError> {
        loop {
            let pending = self.backlog.matches.lock().queue.front().cloned();
            let Some(PendingMatch {
                finished,
                game,
                span,
                ..
            }) = pending
            else {
                return Ok(());
            };
            self.write_match(finished, game).instrument(span).await?;
            let journal = self.backlog.matches.lock().pop();
            if let (Some(journal), Some(journals)) = (journal, self.journals()) {
                journals.remove(&journal);
            }
        }
    }

    /// Records a match. If the match itself is the reason why it cannot be recorded, it is dropped
    /// and logged.
    async fn write_match(&self, finished: Finished, game: i64) -> Result<(), SessionError> {
        let Finished {
            record, chances, ..
        } = finished;
        match self.store.record_game(&record, &chances, game).await {
            Ok(recorded) => {
                self.backlog.became(game, recorded.id());
                self.learning.note_participants(&record);
                self.learning.match_recorded();
            }
            Err(error) if error.is_of_record() => {
                self.metrics.lost.count();
                tracing::error!(%error, "a match cannot be recorded and is lost");
            }
            Err(error) => return Err(error.into()),
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
                self.metrics.lost.add(dropped);
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
