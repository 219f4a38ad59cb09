//! Reads complete files: into the database, or their matches alone.
//!
//! A thread reads, parses and compresses the file, and sends what it finds over a bounded channel to the caller,
//! which records the matches. Matches that have queued up are recorded in one transaction. Match records
//! alone go to a temporary file, so that memory holds one of them at a time.

use std::{
    collections::{BTreeMap, VecDeque},
    env,
    fs::File,
    io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use tokio::{sync::mpsc, task::spawn_blocking};

use super::{
    Archive, IngestEvent, LogError, LogFile, LogOrigin, LogSpool, LogZone, Reading,
    reading::{LineReports, into_match},
    record_matches,
};
use crate::{
    ingest::{Context, Format, LogItem, same_match::join_halves},
    model::{MatchRecord, Timestamp, fingerprint::Fingerprint, record::INGEST},
    store::{HalfRecorded, Recorded, Store},
};

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
    zone_logged: bool,
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
    spool: Option<LogSpool>,
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
            zone_logged: false,
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
        if counts_as_utc && !std::mem::replace(&mut self.zone_logged, true) {
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
    fn spool(&self) -> io::Result<Option<LogSpool>> {
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

/// Match records in a temporary file, which is gone when this value is.
#[derive(Debug)]
pub struct MatchFile {
    file: BufWriter<File>,
    length: u64,
    places: Vec<RecordLocation>,
}

/// Where a record is.
#[derive(Debug)]
struct RecordLocation {
    end: Timestamp,
    fingerprint: Fingerprint,
    at: u64,
    length: usize,
}

impl MatchFile {
    /// A file without records.
    pub fn new() -> io::Result<Self> {
        Ok(Self {
            file: BufWriter::new(tempfile::tempfile()?),
            length: 0,
            places: Vec::new(),
        })
    }

    /// Adds a record after the others.
    pub fn add(&mut self, record: &MatchRecord, fingerprint: Fingerprint) -> io::Result<()> {
        let bytes = postcard::to_stdvec(record).map_err(io::Error::other)?;
        self.file.write_all(&bytes)?;
        self.places.push(RecordLocation {
            end: record.end,
            fingerprint,
            at: self.length,
            length: bytes.len(),
        });
        self.length += bytes.len() as u64;
        Ok(())
    }

    /// How many records are before one that ended later.
    fn out_of_order(&self) -> usize {
        let pairs = self.places.windows(2);
        pairs.filter(|pair| pair[1].end < pair[0].end).count()
    }

    /// Puts the records into the order in which they are folded, each match once.
    pub(super) fn sort(&mut self) {
        self.places
            .sort_by_key(|place| (place.end, place.fingerprint));
        self.places.dedup_by_key(|place| place.fingerprint);
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// When each match ended.
    pub fn ends(&self) -> impl ExactSizeIterator<Item = Timestamp> {
        self.places.iter().map(|place| place.end)
    }

    /// Reads the records, the first one first. Stops at the first error.
    pub fn read(&mut self) -> io::Result<impl Iterator<Item = io::Result<MatchRecord>>> {
        self.file.flush()?;
        let mut file = BufReader::new(self.file.get_ref());
        file.rewind()?;
        let (mut at, mut bytes) = (0, Vec::new());
        let read = move |place: &RecordLocation| {
            // What is next in the file is in the buffer already.
            if place.at != at {
                file.seek(SeekFrom::Start(place.at))?;
            }
            bytes.resize(place.length, 0);
            file.read_exact(&mut bytes)?;
            at = place.at + place.length as u64;
            postcard::from_bytes(&bytes).map_err(io::Error::other)
        };
        Ok(self.places.iter().map(read))
    }
}

/// Reads all matches of a file, in the order in which they ended. Joins halves, and returns a match
/// once if the file contains it twice. Calls `on_event` for each fault of the file.
///
/// # Errors
/// Fails if the file cannot be read or has no known format.
pub fn read_matches(
    path: &Path,
    on_event: &mut impl FnMut(IngestEvent<'_>),
) -> Result<Vec<MatchRecord>, LogError> {
    let mut matches = read_matches_to_file(path, on_event)?;
    let mut read = || -> io::Result<Vec<MatchRecord>> { matches.read()?.collect() };
    read().map_err(LogError::file(&env::temp_dir()))
}

/// Reads the same matches to a temporary file.
///
/// # Errors
/// Fails if the file cannot be read or has no known format, or if the temporary file cannot be written.
pub fn read_matches_to_file(
    path: &Path,
    on_event: &mut impl FnMut(IngestEvent<'_>),
) -> Result<MatchFile, LogError> {
    let log = LogFile::new(path)?;
    let mut chunks = log.chunks()?;
    chunks.check_content()?;
    let format = chunks.detect()?;
    let mut reading = Reading::new(format, "", None, Some(log.written));
    let (mut items, mut reports) = (Vec::new(), LineReports::default());
    let failed = LogError::file(&env::temp_dir());
    let mut matches = MatchFile::new().map_err(&failed)?;
    let mut add = |items: &mut Vec<LogItem>| {
        items.drain(..).try_for_each(|item| {
            reports.item(&item, on_event);
            let Some((record, print)) = into_match(item, "") else {
                return Ok(());
            };
            matches.add(&record, print).map_err(&failed)
        })
    };
    while let Some(chunk) = chunks.read()? {
        reading.feed(chunk, &mut items);
        add(&mut items)?;
    }
    reading.finish(log.written, &mut items);
    add(&mut items)?;
    reports.finish(on_event);
    if let out_of_order @ 1.. = matches.out_of_order() {
        on_event(IngestEvent::OutOfOrder(out_of_order as u64));
    }
    matches.sort();
    match format.in_halves {
        true => joined(&mut matches).map_err(failed),
        false => Ok(matches),
    }
}

/// Joins each match with the one before it if the two are halves of one match.
fn joined(matches: &mut MatchFile) -> io::Result<MatchFile> {
    let mut joined = MatchFile::new()?;
    let mut add = |record: &MatchRecord| joined.add(record, Fingerprint::of(record));
    let mut last: Option<MatchRecord> = None;
    for record in matches.read()? {
        let record = record?;
        let Some(first) = last.replace(record) else {
            continue;
        };
        let both = last.as_ref().and_then(|second| join_halves(&first, second));
        add(both.as_ref().unwrap_or(&first))?;
        // A match has two halves, so a joined match is not joined again.
        last = last.filter(|_| both.is_none());
    }
    last.iter().try_for_each(add)?;
    Ok(joined)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_in_order_and_as_they_were_written() {
        let mut file = MatchFile::new().unwrap();
        let record = |end: i64| MatchRecord {
            end: Timestamp(end),
            map: "m".repeat(usize::try_from(end).unwrap_or(0) * 3_000),
            scores: vec![f64::from_bits(0x7ff8_0000_0000_0001), -0.0],
            ..MatchRecord::default()
        };
        let ends = [3, 1, 2, 7, 3, 5];
        for end in ends {
            let print = Fingerprint([u8::try_from(end).unwrap(); 16]);
            file.add(&record(end), print).unwrap();
        }
        assert_eq!((file.len(), file.out_of_order()), (6, 2));
        let read = |file: &mut MatchFile| -> Vec<MatchRecord> {
            file.read().unwrap().map(Result::unwrap).collect()
        };
        let all = read(&mut file);
        assert_eq!(all.iter().map(|one| one.end.0).collect::<Vec<_>>(), ends);
        file.sort();
        for _ in 0..2 {
            let sorted = read(&mut file);
            let ends: Vec<i64> = sorted.iter().map(|one| one.end.0).collect();
            assert_eq!(ends, [1, 2, 3, 5, 7]);
            for one in sorted {
                let bits = one.scores.iter().map(|score| score.to_bits());
                assert!(bits.eq(record(1).scores.iter().map(|score| score.to_bits())));
                assert_eq!(one.map, record(one.end.0).map);
            }
        }
    }
}
