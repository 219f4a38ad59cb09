//! The journal of one session's game: what is written of it, and when.

use std::{fmt::Display, io, sync::Arc, time::Duration};

use super::{
    Clock, SessionMetrics,
    journal_folder::{JournalFile, JournalFolder},
};
use crate::{
    lobby::journal::{Entry, EntryBuffer, HEADER, JournalError, JournalSnapshot, before_copy},
    model::time::Backoff,
};

/// A journal that is longer than this, and than twice its last snapshot, is replaced by a new snapshot.
const COMPACT: u64 = 64 << 10;
/// The same after the end of a game, when a snapshot is short and no player waits for the daemon.
const COMPACT_AFTER_END: u64 = 16 << 10;
/// How long after failures a journal is begun again.
const RETRIES: Backoff = Backoff::new(Duration::from_secs(10), Duration::from_secs(640));

/// Collects what happens in one session's game and appends it to the game's file. If writing fails,
/// the file is removed and the game goes on; a new file is begun later, with a snapshot.
#[derive(Debug, Default)]
pub(super) struct GameJournal {
    folder: Option<Arc<JournalFolder>>,
    /// `None` before the first write, and after a failure.
    file: Option<Arc<JournalFile>>,
    /// Entries since the last write.
    entries: EntryBuffer,
    /// The length in bytes above which a new snapshot replaces the file.
    compact_at: u64,
    /// The millisecond of the clock before which a journal that failed is not begun again.
    retry_at: u64,
    /// How many writes have failed one after the other.
    failures: u32,
    /// What counts failures; `None` in the place of a journal that is being written.
    metrics: Option<Arc<SessionMetrics>>,
}

impl GameJournal {
    /// The journal of a new game. Without a folder it writes nothing.
    pub(super) fn new(folder: Option<Arc<JournalFolder>>, metrics: &Arc<SessionMetrics>) -> Self {
        Self {
            folder,
            metrics: Some(metrics.clone()),
            ..Self::default()
        }
    }

    /// Continues the journal that an earlier daemon has left, and cuts it off after its first
    /// `valid` bytes.
    ///
    /// # Errors
    /// Fails if the file cannot be changed.
    pub(super) fn left(
        folder: &Arc<JournalFolder>,
        file: Arc<JournalFile>,
        valid: u64,
        metrics: &Arc<SessionMetrics>,
    ) -> io::Result<Self> {
        folder.truncate(&file, valid)?;
        Ok(Self {
            folder: Some(folder.clone()),
            compact_at: 2 * file.length(),
            file: Some(file),
            metrics: Some(metrics.clone()),
            ..Self::default()
        })
    }

    /// Whether this daemon keeps journals.
    pub(super) fn is_on(&self) -> bool {
        self.folder.is_some()
    }

    /// Whether a write would do nothing.
    pub(super) fn is_finalised(&self) -> bool {
        self.folder.is_none() || self.is_whole()
    }

    /// Whether the game can be resumed from its file.
    pub(super) fn is_whole(&self) -> bool {
        self.file.is_some() && self.entries.is_empty()
    }

    /// Adds an entry for something that happened at this millisecond of the session.
    /// [`write`](Self::write) writes it.
    pub(super) fn push(&mut self, at: u64, entry: &Entry<'_>) {
        if self.file.is_some()
            && let Err(error) = self.entries.push(at, entry)
        {
            self.fail(&error, 0);
        }
    }

    /// Writes the entries that were added. Returns whether to [begin](Self::begin) a new file,
    /// because there is none or it has become too long. `over` is whether the game is over.
    pub(super) fn write(&mut self, clock: &dyn Clock, over: bool) -> bool {
        let Some(folder) = &self.folder else {
            return false;
        };
        let Some(file) = &self.file else {
            return clock.millis() >= self.retry_at;
        };
        if self.entries.is_empty() {
            return false;
        }
        match append(folder, file, &mut self.entries) {
            Ok(()) => {
                let shortest = if over { COMPACT_AFTER_END } else { COMPACT };
                file.length() > self.compact_at.max(shortest)
            }
            Err(error) => {
                self.fail(&error, clock.millis());
                false
            }
        }
    }

    /// Begins a new file with a snapshot of the game at this millisecond of the session. It replaces
    /// the present one. `now` is the millisecond of the clock.
    pub(super) fn begin(&mut self, at: u64, snapshot: JournalSnapshot<'_>, now: u64) {
        let Some(folder) = &self.folder else { return };
        self.entries.clear();
        let created = match begin(folder, at, snapshot, self.file.clone()) {
            Ok(created) => created,
            Err(error) if self.file.is_none() => return self.fail(&error, now),
            Err(error) => {
                // The old file is complete, and may grow until there is room for a new one.
                tracing::debug!(%error, "a journal cannot be shortened");
                self.compact_at = self.compact_at.max(COMPACT) + COMPACT;
                return;
            }
        };
        self.compact_at = 2 * created.length();
        self.failures = 0;
        self.file = Some(created);
    }

    /// Forces the file to the disk, and waits for that. If the disk fails, the log says so.
    pub(super) async fn sync(&self) {
        let (Some(folder), Some(file)) = (self.folder.clone(), self.file.clone()) else {
            return;
        };
        let synced = tokio::task::spawn_blocking(move || folder.sync_one(&file)).await;
        if let Ok(Err(error)) = synced {
            self.count_failure();
            tracing::warn!(%error, "after a power cut, END may be answered with an earlier match");
        }
    }

    /// Removes the file, because something is missing in it.
    fn fail(&mut self, error: &dyn Display, now: u64) {
        self.count_failure();
        tracing::warn!(
            %error,
            "a running game is not in the journal: it could not be resumed after a crash"
        );
        self.failures = self.failures.saturating_add(1);
        let pause = RETRIES.after(self.failures).as_millis();
        self.retry_at = now.saturating_add(u64::try_from(pause).unwrap_or(u64::MAX));
        self.forget();
    }

    /// Counts a failure.
    fn count_failure(&self) {
        if let Some(metrics) = &self.metrics {
            metrics.journal_failures.count();
        }
    }

    /// Removes the file. The next write begins a new one.
    pub(super) fn forget(&mut self) {
        self.entries.clear();
        if let (Some(folder), Some(file)) = (&self.folder, self.file.take()) {
            folder.remove(&file);
        }
    }

    /// Gives the file to the caller, who removes it.
    pub(super) fn take_file(&mut self) -> Option<Arc<JournalFile>> {
        self.file.take()
    }
}

/// Why a write failed.
#[derive(Debug, thiserror::Error)]
enum WriteError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

fn append(
    folder: &JournalFolder,
    file: &JournalFile,
    entries: &mut EntryBuffer,
) -> Result<(), WriteError> {
    if let Some(frame) = entries.frame()? {
        folder.append(file, frame)?;
    }
    entries.clear();
    Ok(())
}

fn begin(
    folder: &JournalFolder,
    at: u64,
    snapshot: JournalSnapshot<'_>,
    replaced: Option<Arc<JournalFile>>,
) -> Result<Arc<JournalFile>, WriteError> {
    let mut entries = EntryBuffer::default();
    entries.push(at, &Entry::Snapshot(Box::new(snapshot)))?;
    let frame = entries.frame()?.unwrap_or_default();
    let between = before_copy(HEADER.len() + frame.len());
    Ok(folder.create(&[&HEADER, frame, &between, frame], replaced)?)
}
