//! Logs that still grow: each match is on record as soon as it ends.
//!
//! Nothing is kept about how far a log was read: at every start it is read from its beginning. A game
//! that is under way is known from its first line then, whatever the format, a better parser sees
//! the whole log, and what was recorded before is known by its fingerprint. A log that is quiet for
//! long is taken for over, and read anew if it goes on after all.

#![allow(
    clippy::disallowed_methods,
    reason = "a log's age is compared with the file system's time stamps"
)]

use std::{
    collections::BTreeMap,
    fs::Metadata,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use super::{
    Archive, LogError, LogFile, Reading, Tail, Tailed, Told,
    archive::{Origin, Spool},
    ingest::record,
    timestamp,
};
use crate::{
    domain::Timestamp,
    ingest::{Format, HEAD, detect},
    learning::Learning,
    store::{HalfRecorded, Recorded, Store},
};

/// A log, or a folder of logs.
#[derive(Clone, Debug)]
pub struct Follow {
    /// The file or folder. It need not exist yet.
    pub path: PathBuf,
    /// The format of what is in it, where it is not to be found out.
    pub format: Option<&'static Format>,
    /// The name of the server that writes it.
    pub server: String,
}

/// Follows any number of logs.
pub struct Follower {
    store: Arc<dyn Store>,
    learning: Arc<Learning>,
    follows: Vec<Follow>,
    archive: Option<Arc<Archive>>,
    /// How long a log is quiet until it is taken for over.
    settle: Duration,
    /// By which of `follows` they belong to.
    files: BTreeMap<(usize, PathBuf), Followed>,
}

impl Follower {
    /// Of these logs, which are put into `archive` where there is one. A log that was quiet for
    /// `settle` is taken for over.
    pub fn new(
        store: Arc<dyn Store>,
        learning: Arc<Learning>,
        follows: Vec<Follow>,
        archive: Option<Arc<Archive>>,
        settle: Duration,
    ) -> Self {
        Self {
            store,
            learning,
            follows,
            archive,
            settle,
            files: BTreeMap::new(),
        }
    }

    /// Looks at the logs every so often, until `stop`, and learns from what they tell.
    pub async fn run(mut self, interval: Duration, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        loop {
            let new = tokio::select! {
                new = self.look(SystemTime::now()) => new,
                () = &mut stop => break,
            };
            if new > 0 {
                learn(&self.learning).await;
            }
            tokio::select! {
                () = tokio::time::sleep(interval) => {}
                () = &mut stop => break,
            }
        }
        // The last look may have been broken off.
        learn(&self.learning).await;
        self.end().await;
    }

    /// Reads what is new in all logs. How many matches were put on record. What fails is told in the
    /// daemon's log, and tried again at the next look.
    pub async fn look(&mut self, now: SystemTime) -> u64 {
        for (at, follow) in self.follows.iter().enumerate() {
            for path in files(&follow.path) {
                let new = |path: &Path| Followed::new(path, follow.clone(), self.archive.clone());
                let file = self.files.entry((at, path));
                file.or_insert_with_key(|(_, path)| new(path));
            }
        }
        // A file that is gone by its name is still read to its end.
        let mut new = 0;
        for file in self.files.values_mut() {
            match file.look(&self.store, now, self.settle, &mut new).await {
                Ok(()) => file.failed = false,
                Err(error) if !std::mem::replace(&mut file.failed, true) => {
                    tracing::warn!(%error, "cannot follow a log, trying again");
                }
                Err(_) => {}
            }
        }
        self.files
            .retain(|(_, path), file| !file.is_over() || path.exists());
        new
    }

    /// Puts away what was read. The logs may go on; they are read anew at the next start.
    pub async fn end(mut self) {
        for file in self.files.values_mut() {
            if let Err(error) = file.put_away(&self.store).await {
                tracing::warn!(%error, "cannot archive a log");
            }
        }
    }
}

async fn learn(learning: &Learning) {
    if let Err(error) = learning.refresh().await {
        tracing::warn!(%error, "cannot learn from new matches yet");
    }
}

/// The file of this name, or the files of this folder.
fn files(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = path.read_dir() else {
        return vec![path.to_owned()];
    };
    let visible = |entry: &std::fs::DirEntry| {
        let name = entry.file_name();
        !name.as_encoded_bytes().starts_with(b".") && entry.path().is_file()
    };
    let mut found: Vec<_> = entries
        .flatten()
        .filter(visible)
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

/// The format of a file that begins like this. In a folder there is more than logs, whatever was said
/// of its logs.
fn format_of(follow: &Follow, path: &Path, head: &[u8]) -> Option<&'static Format> {
    match follow.format {
        Some(format) if path == follow.path => Some(format),
        Some(format) => detect(head).filter(|found| found.name == format.name),
        None => detect(head),
    }
}

/// What tells whether a file that is not read any more has changed.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    file: (u64, u64),
    length: u64,
    written: (i64, i64),
}

impl Stamp {
    fn of(meta: &Metadata) -> Self {
        Self {
            file: (meta.dev(), meta.ino()),
            length: meta.len(),
            written: (meta.mtime(), meta.mtime_nsec()),
        }
    }
}

enum State {
    /// Its format is not known yet; so it begins.
    Head(Vec<u8>),
    Reading(Box<Reading>),
    /// Nothing more is expected of it, as long as it stays like this.
    Over(Option<Stamp>),
}

/// One file.
struct Followed {
    follow: Follow,
    archive: Option<Arc<Archive>>,
    tail: Tail,
    /// When it was last written, as of the last look.
    written: Timestamp,
    /// Its format, once that is known.
    format: Option<&'static Format>,
    state: State,
    spool: Option<Spool>,
    /// Whether all that there was at first has been read.
    caught_up: bool,
    /// What was told and is not on record yet.
    told: Vec<Told>,
    /// The matches it told of, for the archive.
    ids: Vec<i64>,
    failed: bool,
}

impl Followed {
    fn new(path: &Path, follow: Follow, archive: Option<Arc<Archive>>) -> Self {
        Self {
            follow,
            archive,
            tail: Tail::new(path),
            written: Timestamp(0),
            format: None,
            state: State::Head(Vec::new()),
            spool: None,
            caught_up: false,
            told: Vec::new(),
            ids: Vec::new(),
            failed: false,
        }
    }

    fn is_over(&self) -> bool {
        matches!(self.state, State::Over(_)) && self.told.is_empty()
    }

    async fn look(
        &mut self,
        store: &Arc<dyn Store>,
        now: SystemTime,
        settle: Duration,
        new: &mut u64,
    ) -> Result<(), LogError> {
        self.record(store, new).await?;
        if let State::Over(stamp) = &self.state {
            let path = self.tail.path();
            if path.metadata().ok().map(|meta| Stamp::of(&meta)) == *stamp {
                return Ok(());
            }
            let fresh = Self::new(path, self.follow.clone(), self.archive.clone());
            *self = fresh;
        }
        self.read(store, new).await?;
        let quiet = self
            .tail
            .written()
            .and_then(|written| now.duration_since(written).ok());
        if quiet.is_some_and(|quiet| quiet >= settle) {
            self.finish();
            self.record(store, new).await?;
            self.put_away(store).await?;
        }
        Ok(())
    }

    /// Reads all there is now.
    async fn read(&mut self, store: &Arc<dyn Store>, new: &mut u64) -> Result<(), LogError> {
        let mut chunk = vec![0; HEAD];
        loop {
            let read = self.tail.read(&mut chunk);
            match read.map_err(LogError::file(self.tail.path()))? {
                Tailed::Nothing => break,
                Tailed::Fresh => {
                    self.put_away(store).await?;
                    match &mut self.state {
                        State::Head(head) => head.clear(),
                        State::Reading(reading) => reading.interrupt(),
                        State::Over(_) => {}
                    }
                }
                Tailed::Bytes(count) => {
                    self.feed(&chunk[..count])?;
                    self.record(store, new).await?;
                    tokio::task::yield_now().await;
                }
            }
        }
        self.written = self.tail.written().map_or(self.written, timestamp);
        let written = self.written;
        if let State::Reading(reading) = &mut self.state {
            if reading.waits() {
                let begin = written.plus_millis(-reading.elapsed());
                reading.began(begin, &mut self.told);
            }
            // The game's clock stands still where nothing is logged: it is set by the file's again.
            reading.forget_begin();
            self.caught_up = true;
            self.record(store, new).await?;
        }
        Ok(())
    }

    fn feed(&mut self, bytes: &[u8]) -> Result<(), LogError> {
        let fail = LogError::file(self.tail.path());
        if let (Some(archive), None) = (&self.archive, &self.spool) {
            self.spool = Some(archive.begin(&self.origin()).map_err(&fail)?);
        }
        if let Some(spool) = &mut self.spool {
            spool.write(bytes).map_err(&fail)?;
        }
        if let State::Head(head) = &mut self.state {
            head.extend_from_slice(bytes);
            let Some(format) = format_of(&self.follow, self.tail.path(), head) else {
                if head.len() >= HEAD {
                    self.give_up();
                }
                return Ok(());
            };
            let head = std::mem::take(head);
            self.format = Some(format);
            let mut reading = Reading::new(format, &self.follow.server, None);
            reading.feed(&head, &mut self.told);
            self.state = State::Reading(Box::new(reading));
        } else if let State::Reading(reading) = &mut self.state {
            reading.feed(bytes, &mut self.told);
        }
        if let State::Reading(reading) = &mut self.state
            && reading.waits()
            && !self.caught_up
        {
            // A look ahead, so that the games of a long log need not be kept until its end is reached.
            let log = LogFile::new(self.tail.path())?;
            let elapsed = log.elapsed(reading.format()).map_err(&fail)?;
            reading.began(log.written.plus_millis(-elapsed), &mut self.told);
        }
        Ok(())
    }

    fn origin(&self) -> Origin {
        Origin {
            server: self.follow.server.clone(),
            format: self.follow.format.map(|format| format.name.to_owned()),
            began: None,
        }
    }

    /// It is no log.
    fn give_up(&mut self) {
        tracing::debug!(path = %self.tail.path().display(), "this is no log of any known format");
        self.spool = None;
        self.rest();
    }

    /// It is over, as far as can be seen.
    fn finish(&mut self) {
        let state = std::mem::replace(&mut self.state, State::Over(None));
        if let State::Reading(reading) = state {
            reading.finish(self.written, &mut self.told);
        }
        self.rest();
    }

    /// It is not read any more until it changes.
    fn rest(&mut self) {
        let meta = self.tail.path().metadata().ok();
        let stamp = meta.map(|meta| Stamp::of(&meta));
        // What came in the meantime is not passed over: then it has changed already.
        let read = (self.tail.id(), self.tail.offset());
        let same =
            |stamp: &Stamp| self.format.is_none() || read == (Some(stamp.file), stamp.length);
        self.state = State::Over(stamp.filter(same));
        self.tail = Tail::new(self.tail.path());
    }

    /// Puts on record what was told. What could not be put there stays.
    async fn record(&mut self, store: &Arc<dyn Store>, new: &mut u64) -> Result<(), LogError> {
        let Some(format) = self.format else {
            return Ok(());
        };
        while let Some(told) = self.told.first() {
            let became = record(store, format, told).await?;
            if let Some(became) = became {
                self.ids.push(became.id());
                let path = self.tail.path().display();
                match became {
                    HalfRecorded::Alone(Recorded::Duplicate(_)) => {}
                    HalfRecorded::Alone(Recorded::New(id)) => {
                        *new += 1;
                        tracing::info!(match_id = id, log = %path, "a match from a log");
                    }
                    HalfRecorded::Joined { id, instead_of } => {
                        *new += 1;
                        tracing::info!(match_id = id, instead_of, log = %path, "a second half from a log");
                    }
                }
                if let Some(spool) = &mut self.spool {
                    spool.flush().map_err(LogError::file(self.tail.path()))?;
                }
            }
            self.tell(&self.told[0]);
            self.told.remove(0);
        }
        Ok(())
    }

    /// Notes in the daemon's log what makes no match.
    fn tell(&self, told: &Told) {
        let path = self.tail.path().display();
        match told {
            Told::Malformed { line, why } => {
                tracing::debug!(log = %path, line, why = %why, "a malformed line");
            }
            Told::Skipped { line, reason } => {
                tracing::debug!(log = %path, line, %reason, "a game is skipped");
            }
            Told::Repeated {
                line,
                first,
                dropped,
            } => {
                tracing::debug!(log = %path, line, first, dropped, "the line is the same as an earlier one");
            }
            Told::Game(_) | Told::Known(..) => {}
        }
    }

    /// Puts what was read into the archive, where there is one.
    async fn put_away(&mut self, store: &Arc<dyn Store>) -> Result<(), LogError> {
        let Some(spool) = self.spool.take() else {
            return Ok(());
        };
        let ids = std::mem::take(&mut self.ids);
        if self.format.is_none() || spool.is_empty() {
            return Ok(());
        }
        let written = self.tail.written().map_or(self.written, timestamp);
        let archived = spool
            .commit(written)
            .map_err(LogError::file(self.tail.path()))?;
        archived.note(store, &ids).await?;
        Ok(())
    }
}
