//! The backlog: what is to be written in the background. It contains decisions and abandoned games,
//! for which no client waits, and matches that could not be written at END because the disk was
//! full or the database locked.
//!
//! The backlog is bounded. While the database cannot be written, decisions and abandoned games that
//! do not fit are dropped, and their number is logged; a match that does not fit is refused, and
//! its game continues. An entry leaves the backlog only once it is on disk.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use parking_lot::Mutex;
use tokio::{sync::Notify, time::timeout};
use tracing::Span;

use super::journal_folder::JournalFile;
use crate::{lobby::recorder::Finished, store::DecisionRow};

/// How often parked games are checked, and the delay before a failed write is retried.
pub(super) const INTERVAL: Duration = Duration::from_secs(1);
/// The most matches in the backlog.
const MAX_MATCHES: usize = 256;
/// The most score changes, players, stays on teams and predicted changes of teams of all matches in the backlog
/// together: some 64 MB.
const MAX_PARTS: usize = 1_000_000;
/// The most decisions in the backlog, of up to some 20 kB each.
const MAX_DECISIONS: usize = 2_048;
/// The most decisions per transaction.
const BATCH: usize = 256;

/// Entries that are not on disk yet.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    matches: Mutex<PendingMatches>,
    decisions: Mutex<DecisionBacklog>,
    /// Locked during a write, so that no entry is written twice.
    pub(super) writing: tokio::sync::Mutex<()>,
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
pub(super) struct PendingMatch {
    pub(super) finished: Finished,
    /// The number of its game.
    pub(super) game: i64,
    /// The game's journal, which is removed once the match is on disk.
    journal: Option<Arc<JournalFile>>,
    /// The span of its session.
    pub(super) span: Span,
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
struct DecisionBacklog {
    queue: VecDeque<DecisionRow>,
    /// Number of decisions dropped since the last write.
    dropped: u64,
}

impl Backlog {
    /// Adds a decision to the backlog.
    pub(super) fn decided(&self, decision: DecisionRow) {
        let mut decisions = self.decisions.lock();
        if decisions.queue.len() < MAX_DECISIONS {
            decisions.queue.push_back(decision);
        } else {
            decisions.dropped += 1;
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

    /// Whether a match that ends now can be kept, if it is not one of the longest.
    pub(super) fn has_room(&self) -> bool {
        let matches = self.matches.lock();
        matches.queue.len() < MAX_MATCHES && matches.parts < MAX_PARTS
    }

    /// The number of matches and of decisions in the backlog.
    pub(super) fn lengths(&self) -> (usize, usize) {
        (
            self.matches.lock().queue.len(),
            self.decisions.lock().queue.len(),
        )
    }

    /// Whether a decision of the game with this number is in the backlog.
    pub(super) fn keeps_decisions_of(&self, game: i64) -> bool {
        let decisions = self.decisions.lock();
        decisions.queue.iter().any(|decision| decision.game == game)
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

    /// Waits until an entry is added, but for no longer than [`INTERVAL`].
    pub(super) async fn changed(&self) {
        let _ = timeout(INTERVAL, self.added.notified()).await;
    }

    /// The match that ended first.
    pub(super) fn first(&self) -> Option<PendingMatch> {
        self.matches.lock().queue.front().cloned()
    }

    /// Removes the match that ended first. Returns its journal, which the caller removes.
    pub(super) fn pop(&self) -> Option<Arc<JournalFile>> {
        self.matches.lock().pop()
    }

    /// The first decisions, of which one transaction writes no more, and how many were dropped since the last call.
    pub(super) fn decisions(&self) -> (Vec<DecisionRow>, u64) {
        let mut decisions = self.decisions.lock();
        let batch = decisions.queue.iter().take(BATCH).cloned().collect();
        (batch, std::mem::take(&mut decisions.dropped))
    }

    /// Removes the first decisions, which are on disk.
    pub(super) fn remove_decisions(&self, count: usize) {
        self.decisions.lock().queue.drain(..count);
    }
}
