//! One followed file: how far it is read, and what is to be read next.

mod parse;
mod record;
mod stamp;

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use super::{Follow, requests::Requests};
use crate::{
    ingest::{Format, HEAD, LogItem, first_line},
    logs::{Archive, LogError, Reading, Spool, Tail, Tailed, folder::earlier, timestamp},
    model::{Fingerprint, MatchRecord, Timestamp},
};
use stamp::FileStamp;

/// The number of matches of a long log that are recorded in one transaction, because a transaction
/// takes about as long for some matches as for one. At the end of the log, fewer are recorded.
const BATCH: usize = 32;

/// The most bytes of a file that one poll reads.
const TURN_BYTES: usize = 1_000_000;

/// The stage of reading a followed file.
enum FollowStage {
    /// Its format has not been detected yet; these are its first bytes.
    Head(Vec<u8>),
    /// It is being read.
    Reading(Box<Reading>),
    /// It counts as complete while it has this stamp.
    Complete(Option<FileStamp>),
}

/// The logs before a followed one. While a folder is followed, each of its logs is followed as one of its
/// files; of a single file, the logs before it may have matches that ended while nobody followed it.
enum PreviousLogs {
    /// Not looked for yet.
    Unknown,
    /// They are being read one after the other, before any line of their successor.
    Reading(VecDeque<FollowedFile>),
    /// There are none, or they have been read.
    Done,
}

/// One followed file.
pub(super) struct FollowedFile {
    follow: Follow,
    archive: Option<Arc<Archive>>,
    tail: Tail,
    /// When it was last written, as of the last poll.
    written: Timestamp,
    /// The logs that were rotated to make room for this one.
    previous: PreviousLogs,
    /// Its format, once detected.
    format: Option<&'static Format>,
    stage: FollowStage,
    spool: Option<Spool>,
    /// The time on the log's own clock, in milliseconds, that passed in the logs before this one.
    before: i64,
    /// Whether everything that it contained at the first poll has been read.
    caught_up: bool,
    items: Vec<LogItem>,
    /// Matches that are not recorded yet.
    matches: VecDeque<(MatchRecord, Fingerprint)>,
    /// The ids of its matches, for the archive.
    ids: Vec<i64>,
    /// Whether it was said that it is of no known format.
    doubted: bool,
    /// Whether the time zone of its dates was told, and that a match ended in the future.
    told_zone: bool,
    told_future: bool,
    /// Whether the last poll failed and the failure was logged.
    pub failed: bool,
    /// Whether the last poll ended before the end of the file, so that the other files have their turn.
    pub is_behind: bool,
}

impl FollowedFile {
    pub fn new(path: &Path, follow: Follow, archive: Option<Arc<Archive>>) -> Self {
        let previous = match path == follow.path {
            true => PreviousLogs::Unknown,
            false => PreviousLogs::Done,
        };
        Self {
            follow,
            archive,
            tail: Tail::new(path),
            written: Timestamp(0),
            previous,
            format: None,
            stage: FollowStage::Head(Vec::new()),
            spool: None,
            before: 0,
            caught_up: false,
            items: Vec::new(),
            matches: VecDeque::new(),
            ids: Vec::new(),
            doubted: false,
            told_zone: false,
            told_future: false,
            failed: false,
            is_behind: false,
        }
    }

    /// Whether no more lines are expected, and all matches are recorded.
    pub fn is_complete(&self) -> bool {
        matches!(self.stage, FollowStage::Complete(_)) && self.matches.is_empty()
    }

    /// The number of bytes of the file that are not read yet.
    pub fn unread(&self) -> u64 {
        let before = match &self.previous {
            PreviousLogs::Reading(all) => all.iter().map(Self::unread).sum(),
            _ => 0,
        };
        let own = if self.is_complete() {
            0
        } else {
            self.tail.unread()
        };
        before.saturating_add(own)
    }

    /// Reads the new lines of the file, and sends a request to record its matches.
    pub fn poll(
        &mut self,
        requests: &Requests,
        now: SystemTime,
        settle: Duration,
    ) -> Result<(), LogError> {
        self.record(requests)?;
        if let FollowStage::Complete(stamp) = &self.stage {
            let path = self.tail.path();
            if FileStamp::of(path) == *stamp {
                return Ok(());
            }
            let fresh = Self::new(path, self.follow.clone(), self.archive.clone());
            *self = fresh;
        }
        if !self.finish_previous(requests)? {
            return Ok(());
        }
        self.read(requests)?;
        if self.is_behind {
            return Ok(());
        }
        let written = self.tail.written();
        let quiet = written.and_then(|written| now.duration_since(written).ok());
        if quiet.is_some_and(|quiet| quiet >= settle) {
            self.finish();
            self.archive(requests)?;
        }
        Ok(())
    }

    /// Reads the logs before this one to their ends, or a part of them. Returns whether that is done.
    fn finish_previous(&mut self, requests: &Requests) -> Result<bool, LogError> {
        if matches!(self.previous, PreviousLogs::Unknown) {
            if !self.tail.path().is_file() {
                return Ok(true);
            }
            let one = |path: PathBuf| Self {
                previous: PreviousLogs::Done,
                ..Self::new(&path, self.follow.clone(), self.archive.clone())
            };
            let all = earlier(self.tail.path()).into_iter().map(one).collect();
            self.previous = PreviousLogs::Reading(all);
        }
        while let PreviousLogs::Reading(all) = &mut self.previous
            && let Some(previous) = all.front_mut()
        {
            match previous.read_to_end(requests) {
                Err(LogError::File { path, source }) => {
                    // It may be removed at any time.
                    tracing::warn!(log = %path.display(), error = %source, "cannot read the log before the followed one");
                }
                Err(error) => return Err(error),
                Ok(false) => {
                    self.is_behind = true;
                    return Ok(false);
                }
                Ok(true) => {}
            }
            all.pop_front();
        }
        self.previous = PreviousLogs::Done;
        Ok(true)
    }

    /// Reads a log that does not grow any more to its end, or a part of it, and records its matches.
    /// Returns whether that is done.
    fn read_to_end(&mut self, requests: &Requests) -> Result<bool, LogError> {
        self.record(requests)?;
        if !self.is_complete() {
            self.read(requests)?;
            if self.is_behind {
                return Ok(false);
            }
            self.finish();
        }
        self.archive(requests)?;
        Ok(true)
    }

    /// Reads the file to its current end, or [`TURN_BYTES`] of it.
    fn read(&mut self, requests: &Requests) -> Result<(), LogError> {
        let mut chunk = vec![0; HEAD];
        let mut left = TURN_BYTES;
        self.is_behind = false;
        loop {
            if requests.is_stopped() {
                return Err(LogError::Stopped);
            }
            let read = self.tail.read(&mut chunk);
            match read.map_err(LogError::file(self.tail.path()))? {
                Tailed::Nothing => break,
                fresh @ (Tailed::Fresh | Tailed::Truncated) => {
                    if fresh == Tailed::Truncated {
                        let path = self.tail.path().display();
                        tracing::warn!(log = %path, "the log was truncated, and there is no copy of it in its folder; lines that were not read before are lost");
                    }
                    match &mut self.stage {
                        FollowStage::Head(head) => head.clear(),
                        FollowStage::Reading(reading) => reading.interrupt(),
                        FollowStage::Complete(_) => {}
                    }
                    self.archive(requests)?;
                }
                Tailed::Bytes(count) => {
                    self.spool(&chunk[..count]);
                    self.parse(&chunk[..count]);
                    self.look_ahead(requests)?;
                    self.take_items();
                    if self.matches.len() >= BATCH {
                        self.record(requests)?;
                    }
                    if self.is_complete() {
                        return Ok(()); // the file is not a log
                    }
                    left = left.saturating_sub(count);
                    if left == 0 {
                        self.is_behind = true;
                        return Ok(());
                    }
                }
            }
        }
        self.written = self.tail.written().map_or(self.written, timestamp);
        if let FollowStage::Reading(reading) = &mut self.stage {
            if reading.needs_begin() {
                let begin = self.written.plus_millis(-reading.elapsed());
                reading.set_begin(begin, &mut self.items);
            }
            // The log's own clock stands still while nothing is logged, so later lines are dated by
            // the time of the file again.
            reading.forget_begin();
            self.caught_up = true;
        }
        if let FollowStage::Head(head) = &self.stage
            && head.contains(&b'\n')
        {
            self.doubt(&first_line(head));
        }
        self.record(requests)
    }

    /// Says once that what was read of the file is of no known format. A folder may contain files that are no logs.
    fn doubt(&mut self, first: &str) {
        let path = self.tail.path();
        if path == self.follow.path && !std::mem::replace(&mut self.doubted, true) {
            let log = path.display();
            tracing::warn!(%log, first, "this file is not a log of any known format so far, and nothing of it is recorded");
        }
    }

    /// Ignores the file until it changes, because it is not a log.
    fn ignore(&mut self, head: &[u8]) {
        tracing::debug!(path = %self.tail.path().display(), "not a log of any known format");
        self.doubt(&first_line(head));
        self.spool = None;
        self.close();
    }

    /// Ends the reading: the file counts as complete.
    fn finish(&mut self) {
        let stage = std::mem::replace(&mut self.stage, FollowStage::Complete(None));
        if let FollowStage::Reading(reading) = stage {
            reading.finish(self.written, &mut self.items);
        }
        self.close();
    }

    /// Stops reading the file until its stamp changes.
    fn close(&mut self) {
        let stamp = FileStamp::of(self.tail.path());
        // If the file has grown or was replaced since it was read, it counts as changed, and is not
        // complete.
        let read = (self.tail.id(), self.tail.offset());
        let same =
            |stamp: &FileStamp| self.format.is_none() || read == (Some(stamp.id), stamp.length);
        self.stage = FollowStage::Complete(stamp.filter(same));
        self.tail = Tail::new(self.tail.path());
    }
}
