//! Reads complete files into the database.
//!
//! A thread reads, parses and compresses the file, and sends what it finds over a bounded channel
//! to the caller, which records the matches. Matches that have queued up are recorded in one
//! transaction.

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use tokio::{sync::mpsc, task::spawn_blocking};

use super::{
    Archive, IngestEvent, LogError, LogFile, LogOrigin, LogZone, Reading, Spool,
    events::LineReports, reading::into_match, record::record_matches,
};
use crate::{
    ingest::{Context, Format, LogItem},
    model::{Fingerprint, MatchRecord, Timestamp},
    store::{HalfRecorded, Recorded, Store},
};

/// The client of the matches that are read from files.
pub(super) const INGEST: &str = "ingest";
/// The most chunks of a file in the queue for the recording of their matches.
const QUEUE: usize = 32;

/// How many games the logs contained, by what was done with them.
#[derive(Clone, Debug, Default)]
pub struct IngestCounts {
    /// Number of games that began in the logs.
    pub found: u64,
    /// The ids of the matches that were new.
    pub recorded: Vec<i64>,
    /// Number of second halves that were joined with the first.
    pub halves: u64,
    /// Number of matches that were stored already.
    pub duplicates: u64,
    /// Number of games that make no match, by the code of the reason.
    pub skipped: BTreeMap<&'static str, u64>,
    /// Number of lines that do not follow the format.
    pub malformed: u64,
    /// Lines with the same bytes as an earlier one of their file that were kept.
    pub repeated: u64,
}

/// Reads complete files, one after another.
pub struct Ingest<'a> {
    store: &'a Arc<Store>,
    /// The name of the server that wrote the logs.
    pub server: String,
    /// The name of the game in the types of its games; empty leaves that of the logs.
    pub game: String,
    /// The format of the logs; `None` detects it.
    pub format: Option<&'static Format>,
    /// When the next log without dates begins; each file advances it by its length. With `None`, a
    /// log without dates ends when its file was last written.
    pub date: Option<Timestamp>,
    /// The time zone of dates that state none; `None` is UTC.
    pub zone: Option<LogZone>,
    /// The time now; a match that ends later is reported.
    pub now: Option<Timestamp>,
    /// Whether it was reported that dates count as UTC.
    zone_told: bool,
    /// The archive to put the logs into.
    pub archive: Option<Arc<Archive>>,
    /// Whether all malformed lines are reported one by one, and not only the first ones, and lines whose
    /// events are not known.
    pub verbose: bool,
    /// The counts of all files so far.
    pub counts: IngestCounts,
}

/// What the thread found in one chunk of a file.
struct ChunkItems {
    items: Vec<LogItem>,
    /// Number of bytes of the file read so far.
    position: u64,
    /// Whether the dates of the log state no time zone.
    is_local: bool,
}

/// What the thread returns at the end of the file.
struct FileEnd {
    /// The time that passed on the log's own clock, in milliseconds.
    elapsed: i64,
    written: Timestamp,
    spool: Option<Spool>,
}

impl<'a> Ingest<'a> {
    /// Reads logs of any format and of a server without a name, without an archive.
    pub fn new(store: &'a Arc<Store>) -> Self {
        Self {
            store,
            server: String::new(),
            game: String::new(),
            format: None,
            date: None,
            zone: None,
            now: None,
            zone_told: false,
            archive: None,
            verbose: false,
            counts: IngestCounts::default(),
        }
    }

    /// Reads one file, records its matches, and calls `on_event` while it does. After an error, the
    /// matches before it are recorded.
    ///
    /// # Errors
    /// Fails if the file cannot be read, has no known format or not the given one, or if the archive
    /// or the database fails.
    pub async fn file(
        &mut self,
        path: &Path,
        on_event: &mut impl FnMut(IngestEvent<'_>),
    ) -> Result<(), LogError> {
        let found = self.counts.found;
        let mut reports = LineReports::new(self.verbose);
        let (format_found, format) = tokio::sync::oneshot::channel();
        let (sender, mut receiver) = mpsc::channel(QUEUE);
        let file = FileToRead {
            path: path.to_owned(),
            server: self.server.clone(),
            game: self.game.clone(),
            verbose: self.verbose,
            format: self.format,
            date: self.date,
            zone: self.zone.clone(),
            archive: self.archive.clone(),
        };
        let reading = spawn_blocking(move || file.read(format_found, &sender));
        let mut ids = Vec::new();
        let format = format.await;
        if let Ok(format) = format {
            let mut chunks = Vec::new();
            while receiver.recv_many(&mut chunks, QUEUE).await > 0 {
                let chunks = chunks.drain(..);
                self.take(format, chunks, &mut reports, &mut ids, on_event)
                    .await?;
            }
        }
        let end = reading.await??;
        self.date = self.date.map(|date| date.plus_millis(end.elapsed));
        if let Some(format) = self.format
            && reports.malformed > 0
            && self.counts.found == found
        {
            let (path, format) = (path.to_owned(), format.name);
            return Err(LogError::NotThis { path, format });
        }
        if let Some(spool) = end.spool {
            let archived = spawn_blocking(move || spool.commit(end.written)).await?;
            let archived = archived.map_err(LogError::file(path))?;
            let (log, older) = (archived.fingerprint, &archived.older);
            self.store.matches().link_log(log, &ids, older).await?;
        }
        reports.finish(on_event);
        if let Ok(format) = format
            && self.counts.found == found
        {
            on_event(IngestEvent::NoGame(format.name));
        }
        Ok(())
    }

    /// Reports once that dates without a time zone count as UTC if none was given, and each match that would end in the
    /// future.
    fn check_dates(
        &mut self,
        record: &MatchRecord,
        is_local: bool,
        on_event: &mut impl FnMut(IngestEvent<'_>),
    ) {
        let counts_as_utc = is_local && record.clock.is_none() && self.zone.is_none();
        if counts_as_utc && !std::mem::replace(&mut self.zone_told, true) {
            on_event(IngestEvent::NoZone);
        }
        if let Some(now) = self.now.filter(|now| record.end.is_ahead_of(*now)) {
            let (start, minutes) = (record.start, record.end.0.saturating_sub(now.0) / 60_000);
            let is_local = is_local && record.clock.is_none();
            on_event(IngestEvent::InFuture {
                start,
                minutes,
                is_local,
            });
        }
    }

    /// Reports the content of some chunks, and records their matches.
    async fn take(
        &mut self,
        format: &Format,
        chunks: impl Iterator<Item = ChunkItems>,
        reports: &mut LineReports,
        ids: &mut Vec<i64>,
        on_event: &mut impl FnMut(IngestEvent<'_>),
    ) -> Result<(), LogError> {
        let mut matches: VecDeque<(MatchRecord, Fingerprint)> = VecDeque::new();
        let mut position = 0;
        for chunk in chunks {
            position = chunk.position;
            for item in chunk.items {
                reports.item(&item, on_event);
                match item {
                    LogItem::Malformed { .. } => self.counts.malformed += 1,
                    LogItem::Skipped { reason, .. } => {
                        self.counts.found += 1;
                        *self.counts.skipped.entry(reason.code()).or_default() += 1;
                    }
                    LogItem::Repeated { dropped: true, .. } => {
                        self.counts.found += 1;
                        self.counts.duplicates += 1;
                    }
                    LogItem::Repeated { dropped: false, .. } => self.counts.repeated += 1,
                    item => {
                        let found = into_match(item, INGEST);
                        if let Some((record, _)) = &found {
                            self.check_dates(record, chunk.is_local, on_event);
                        }
                        matches.extend(found);
                    }
                }
            }
        }
        let mut recorded = Vec::with_capacity(matches.len());
        let done = record_matches(self.store, format, &mut matches, &mut recorded).await;
        for recorded in recorded {
            ids.push(recorded.id());
            self.counts.add(recorded);
        }
        done?;
        on_event(IngestEvent::Bytes(position));
        Ok(())
    }
}

impl IngestCounts {
    fn add(&mut self, recorded: HalfRecorded) {
        self.found += 1;
        match recorded {
            HalfRecorded::Alone(Recorded::New(id)) => self.recorded.push(id),
            HalfRecorded::Alone(Recorded::Duplicate(_)) => self.duplicates += 1,
            HalfRecorded::Joined { id, instead_of } => {
                self.halves += 1;
                match self.recorded.iter_mut().find(|known| **known == instead_of) {
                    Some(known) => *known = id,
                    None => self.recorded.push(id),
                }
            }
        }
    }
}

/// The arguments of the thread that reads a file.
struct FileToRead {
    path: PathBuf,
    server: String,
    game: String,
    verbose: bool,
    format: Option<&'static Format>,
    date: Option<Timestamp>,
    zone: Option<LogZone>,
    archive: Option<Arc<Archive>>,
}

impl FileToRead {
    /// Reads the file to its end. Sends its format, then the items of each chunk.
    fn read(
        &self,
        format_found: tokio::sync::oneshot::Sender<&'static Format>,
        sender: &mpsc::Sender<ChunkItems>,
    ) -> Result<FileEnd, LogError> {
        let fail = LogError::file(&self.path);
        let log = LogFile::new(&self.path)?;
        let mut chunks = log.chunks()?;
        chunks.check_content()?;
        let format = match self.format {
            Some(format) => format,
            None => chunks.detect()?,
        };
        let send = |items: &mut Vec<LogItem>, position, is_local| {
            let items = std::mem::take(items);
            let chunk = ChunkItems {
                items,
                position,
                is_local,
            };
            sender.blocking_send(chunk).map_err(|_| LogError::Stopped)
        };
        format_found.send(format).map_err(|_| LogError::Stopped)?;
        let context = Context {
            server: self.server.clone(),
            verbose: self.verbose,
            written: Some(log.written),
        };
        let mut reading = Reading::with(format, &context, self.date)
            .of_game(&self.game)
            .in_zone(self.zone.clone().unwrap_or_default());
        let mut spool = self.spool().map_err(&fail)?;
        let mut items = Vec::new();
        while let Some(chunk) = chunks.read()? {
            if let Some(spool) = &mut spool {
                spool.write(chunk).map_err(&fail)?;
            }
            reading.feed(chunk, &mut items);
            if reading.needs_begin() && log.is_file {
                // When the log began is its end minus the time that passed on its clock. The file
                // is read once just to find that time, so that the matches of a long log need not
                // be kept in memory.
                let elapsed = log.elapsed(format, || sender.is_closed())?;
                reading.set_begin(log.written.plus_millis(-elapsed), &mut items);
            }
            send(&mut items, chunks.position(), reading.is_local())?;
        }
        let is_local = reading.is_local();
        let elapsed = reading.finish(log.written, &mut items);
        send(&mut items, chunks.position(), is_local)?;
        let written = log.written;
        Ok(FileEnd {
            elapsed,
            written,
            spool,
        })
    }

    /// Starts to archive the file, if there is an archive.
    fn spool(&self) -> io::Result<Option<Spool>> {
        let Some(archive) = &self.archive else {
            return Ok(None);
        };
        let origin = LogOrigin {
            server: self.server.clone(),
            client: INGEST.to_owned(),
            game: self.game.clone(),
            format: self.format.map(|format| format.name.to_owned()),
            time_zone: self.zone.as_ref().map(|zone| zone.name().to_owned()),
            began: self.date.map(|date| date.0),
        };
        archive.begin(origin).map(Some)
    }
}
