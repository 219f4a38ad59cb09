//! One followed file: how far it is read, what is to be read next, and what becomes of it.
//!
//! - Its bytes become the items of its log: for that, it knows the format, the log before it, and when it began.
//! - The bytes go into the archive, the matches into the database.
//! - When the file is no longer read, changes in it are still noticed.

use std::{
    collections::VecDeque,
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use file_id::{FileId, get_file_id};

use super::{Follow, Requests};
use crate::{
    ingest::{Format, HEAD, LogItem, Skip, detect, foreign::first_line},
    logs::{
        Archive, LogError, LogFile, LogOrigin, LogSpool, Reading, Tail, Tailed,
        log_file::{earlier, successor},
        reading::{into_match, nobodies},
        timestamp,
    },
    model::{MatchRecord, Timestamp, fingerprint::Fingerprint, record::FOLLOW},
};

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
    spool: Option<LogSpool>,
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
    zone_logged: bool,
    future_logged: bool,
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
            zone_logged: false,
            future_logged: false,
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

impl FollowedFile {
    fn reading(&self, format: &'static Format) -> Reading {
        let written = self.tail.written().map(timestamp);
        Reading::new(format, &self.follow.server, None, written)
            .of_game(&self.follow.game)
            .in_zone(self.follow.zone())
    }

    /// Reads the next bytes of the file.
    fn parse(&mut self, bytes: &[u8]) {
        match &mut self.stage {
            FollowStage::Head(head) => {
                head.extend_from_slice(bytes);
                let Some(format) = format_of(&self.follow, self.tail.path(), head) else {
                    if head.len() >= HEAD {
                        let head = std::mem::take(head);
                        self.ignore(&head);
                    }
                    return;
                };
                let head = std::mem::take(head);
                self.format = Some(format);
                let mut reading = self.reading(format);
                if let Err(error) = self.read_earlier(&mut reading) {
                    let path = self.tail.path().display();
                    tracing::debug!(log = %path, %error, "cannot read the logs before this one");
                    reading = self.reading(format);
                }
                self.before = reading.elapsed();
                reading.feed(&head, &mut self.items);
                self.stage = FollowStage::Reading(Box::new(reading));
            }
            FollowStage::Reading(reading) => reading.feed(bytes, &mut self.items),
            FollowStage::Complete(_) => {}
        }
    }

    /// Reads the logs that were rotated before this one, so that a game that spans them is complete, as it is while the
    /// program runs during a rotation. The games in those logs are recorded when they are followed themselves.
    fn read_earlier(&self, reading: &mut Reading) -> Result<(), LogError> {
        for path in earlier(self.tail.path()) {
            let log = LogFile::new(&path)?;
            let mut chunks = log.chunks()?;
            if chunks.detect()?.name != reading.format().name {
                continue;
            }
            let mut items = Vec::new();
            while let Some(chunk) = chunks.read()? {
                reading.feed(chunk, &mut items);
                items.clear();
            }
            reading.set_begin(log.written.plus_millis(-reading.elapsed()), &mut items);
            reading.forget_begin();
            reading.interrupt();
        }
        Ok(())
    }

    /// Finds when a log without dates began, so that the matches of a long log need not stay in
    /// memory until its end.
    fn look_ahead(&mut self, requests: &Requests) -> Result<(), LogError> {
        if let FollowStage::Reading(reading) = &mut self.stage
            && reading.needs_begin()
            && !self.caught_up
        {
            let log = LogFile::new(self.tail.path())?;
            let elapsed = log.elapsed(reading.format(), || requests.is_stopped())?;
            let elapsed = elapsed.saturating_add(self.before);
            reading.set_begin(log.written.plus_millis(-elapsed), &mut self.items);
        }
        Ok(())
    }
}

/// The format of a file that begins with `head`. A folder may contain files that are not logs, so a
/// given format is trusted for a single file only.
fn format_of(follow: &Follow, path: &Path, head: &[u8]) -> Option<&'static Format> {
    match follow.format {
        Some(format) if path == follow.path => Some(format),
        Some(format) => detect(head).filter(|found| found.name == format.name),
        None => detect(head),
    }
}

impl FollowedFile {
    /// Archives the part that was read, if there is an archive, and records its matches before that.
    pub fn archive(&mut self, requests: &Requests) -> Result<(), LogError> {
        self.record(requests)?;
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
        requests.link(archived, ids)
    }

    /// Compresses bytes for the archive. If that fails, reading continues without the archive until
    /// the next start.
    fn spool(&mut self, bytes: &[u8]) {
        let Some(archive) = &self.archive else {
            return;
        };
        let spooled = match &mut self.spool {
            Some(spool) => spool.write(bytes),
            None => archive.begin(self.origin()).and_then(|mut spool| {
                spool.write(bytes)?;
                self.spool = Some(spool);
                Ok(())
            }),
        };
        self.check_spool(spooled);
    }

    fn check_spool(&mut self, spooled: io::Result<()>) {
        if let Err(error) = spooled {
            let path = self.tail.path().display();
            tracing::warn!(log = %path, %error, "cannot archive a log; following it without archiving it");
            (self.archive, self.spool) = (None, None);
        }
    }

    fn origin(&self) -> LogOrigin {
        LogOrigin {
            server: self.follow.server.clone(),
            client: FOLLOW.to_owned(),
            game: self.follow.game.clone(),
            format: self.follow.format.map(|format| format.name.to_owned()),
            time_zone: Some(self.follow.zone().name().to_owned()),
            began: None,
        }
    }

    /// Sends a request to record the matches found so far. Those that cannot be recorded stay in
    /// `matches`.
    fn record(&mut self, requests: &Requests) -> Result<(), LogError> {
        self.take_items();
        let Some(format) = self.format.filter(|_| !self.matches.is_empty()) else {
            return Ok(());
        };
        // Flush first, so that the log of a recorded match is in the archive even if this process
        // is killed.
        if let Some(spool) = &mut self.spool {
            let flushed = spool.flush();
            self.check_spool(flushed);
        }
        let matches = std::mem::take(&mut self.matches);
        let recording = requests.record(self.tail.path(), format, matches)?;
        self.ids
            .extend(recording.recorded.iter().map(|one| one.id()));
        self.matches = recording.left;
        recording.error.map_or(Ok(()), |error| Err(error.into()))
    }

    /// Moves the matches among the items found so far to `matches`.
    fn take_items(&mut self) {
        for item in std::mem::take(&mut self.items) {
            self.log_item(&item);
            let found = into_match(item, FOLLOW);
            if let Some((record, _)) = &found {
                self.check_dates(record);
            }
            self.matches.extend(found);
        }
    }

    /// Says once in which time zone the dates of the log count if it states none, and warns once of a match that would have
    /// ended in the future.
    fn check_dates(&mut self, record: &MatchRecord) {
        let is_local = match &self.stage {
            FollowStage::Reading(reading) => reading.is_local() && record.clock.is_none(),
            _ => false,
        };
        let path = self.tail.path().display();
        if is_local && self.follow.zone.is_none() && !std::mem::replace(&mut self.zone_logged, true)
        {
            tracing::info!(log = %path, zone = self.follow.zone().name(), "the dates of the log state no time zone and count in the one of this machine; time_zone in its [[follow]] section sets another");
        }
        let now = timestamp(SystemTime::now());
        if record.end.is_ahead_of(now) && !std::mem::replace(&mut self.future_logged, true) {
            let minutes = record.end.0.saturating_sub(now.0) / 60_000;
            tracing::warn!(log = %path, minutes, zone = self.follow.zone().name(), "a match of the log ended in the future: the log is in another time zone, which time_zone in its [[follow]] section sets (--time-zone of ingest and follow)");
        }
    }

    /// Logs an item that is not a match.
    fn log_item(&self, item: &LogItem) {
        let path = self.tail.path().display();
        match item {
            LogItem::Repeated {
                line,
                first,
                dropped,
            } => {
                tracing::debug!(log = %path, line, first, dropped, "the line is the same as an earlier one");
            }
            LogItem::Malformed { line, why, text } => {
                tracing::debug!(log = %path, line, why = %why, text, "malformed line");
            }
            LogItem::SharedId { line, id, players } => {
                tracing::info!(log = %path, line, id, players, "several players have one id; their names are their ids in this match");
            }
            LogItem::Skipped {
                line,
                last,
                reason: Skip::Unfinished,
            } if successor(self.tail.path()).is_some() => {
                tracing::debug!(log = %path, line, last, "a game goes on in the next log");
            }
            LogItem::Skipped { line, last, reason } => {
                tracing::info!(log = %path, line, last, %reason, "skipped a game");
            }
            LogItem::Match(record) | LogItem::Exported(record, _) => {
                for ((id, why), players) in nobodies(record) {
                    tracing::info!(log = %path, id, ?why, players, "an identity is nobody's in a match, which does not count for who had it");
                }
            }
            LogItem::Unknown { .. } | LogItem::UnknownCount { .. } => {}
        }
    }
}

/// Size, time and id of a file, to notice changes in a file that is no longer read.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FileStamp {
    id: FileId,
    length: u64,
    written: Option<SystemTime>,
}

impl FileStamp {
    /// The stamp of the file at `path`; `None` if there is none.
    fn of(path: &Path) -> Option<Self> {
        let meta = path.metadata().ok()?;
        Some(Self {
            id: get_file_id(path).ok()?,
            length: meta.len(),
            written: meta.modified().ok(),
        })
    }
}
