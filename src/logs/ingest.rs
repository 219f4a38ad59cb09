//! Whole files into the database.

use std::{collections::BTreeMap, io, path::Path, sync::Arc};

use super::{
    Archive, LogError, LogFile, Reading, Told,
    archive::{Origin, Spool},
    file,
};
use crate::{
    domain::{Fingerprint, MatchRecord, Timestamp},
    ingest::{Format, HEAD, PAUSE, Skip, join_halves},
    store::{HalfRecorded, Recorded, Store},
};

/// Malformed lines named per file, and as many repeated ones: enough of a file in which everything is wrong.
const NAMED: u64 = 10;

/// Matches recorded in one transaction, at most.
const BATCH: usize = 512;

/// What whoever reads logs may want to show.
#[derive(Debug)]
pub enum Heard<'a> {
    /// So many bytes of the file were read.
    Bytes(u64),
    /// A line that does not follow the format.
    Malformed {
        /// The line.
        line: u64,
        /// What is wrong with it.
        why: &'a str,
    },
    /// So many more lines like that.
    More(u64),
    /// A line with the same bytes as an earlier one.
    Repeated {
        /// The line.
        line: u64,
        /// The earlier line.
        first: u64,
        /// Whether the line is dropped.
        dropped: bool,
    },
    /// So many more lines like that.
    MoreRepeated(u64),
    /// So many matches stand in the file after a later one. Only [`read_all`] reports it, which sorts them.
    OutOfOrder(u64),
    /// A game that makes no record.
    Skipped {
        /// The line on which its telling begins.
        line: u64,
        /// Why not.
        reason: Skip,
    },
}

/// Counts the malformed and the repeated lines of a file, and names the first ones.
#[derive(Default)]
struct Notices {
    malformed: u64,
    repeated: u64,
}

impl Notices {
    /// Notes what a line amounts to.
    fn note(&mut self, told: &Told, hear: &mut impl FnMut(Heard<'_>)) {
        match *told {
            Told::Malformed { line, ref why } => {
                self.malformed += 1;
                if self.malformed <= NAMED {
                    hear(Heard::Malformed { line, why });
                }
            }
            Told::Repeated {
                line,
                first,
                dropped,
            } => {
                self.repeated += 1;
                if self.repeated <= NAMED {
                    hear(Heard::Repeated {
                        line,
                        first,
                        dropped,
                    });
                }
            }
            Told::Skipped { line, reason } => hear(Heard::Skipped { line, reason }),
            Told::Game(_) | Told::Known(..) => {}
        }
    }

    /// The file is over: states how many lines were not named.
    fn finish(&self, hear: &mut impl FnMut(Heard<'_>)) {
        if self.malformed > NAMED {
            hear(Heard::More(self.malformed - NAMED));
        }
        if self.repeated > NAMED {
            hear(Heard::MoreRepeated(self.repeated - NAMED));
        }
    }
}

/// What became of the games of some logs.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Games told of.
    pub found: u64,
    /// The ids of those that were new.
    pub recorded: Vec<i64>,
    /// Second halves, which were joined with their first.
    pub halves: u64,
    /// Those on record already.
    pub duplicates: u64,
    /// Those that make no record, by the reason's code.
    pub skipped: BTreeMap<&'static str, u64>,
    /// Lines that do not follow their format.
    pub malformed: u64,
    /// Lines with the same bytes as an earlier one of their file that were kept.
    pub repeated: u64,
}

/// Reads whole files.
pub struct Ingest<'a> {
    store: &'a Arc<dyn Store>,
    /// The name of the server that wrote them.
    pub server: String,
    /// Their format, where it is not to be found out.
    pub format: Option<&'static Format>,
    /// When the first log without dates begins, where that was said; each follows upon the other.
    pub date: Option<Timestamp>,
    /// Where the logs are put away, if anywhere.
    pub archive: Option<Arc<Archive>>,
    /// What became of them.
    pub tally: Tally,
}

impl<'a> Ingest<'a> {
    /// Of logs of unknown format and origin.
    pub fn new(store: &'a Arc<dyn Store>) -> Self {
        Self {
            store,
            server: String::new(),
            format: None,
            date: None,
            archive: None,
            tally: Tally::default(),
        }
    }

    /// Reads one file. What it told until something went wrong is on record.
    ///
    /// # Errors
    /// The file's, or the database's.
    pub async fn file(
        &mut self,
        path: &Path,
        hear: &mut impl FnMut(Heard<'_>),
    ) -> Result<(), LogError> {
        let fail = LogError::file(path);
        let log = LogFile::new(path)?;
        let mut bytes = log.open().map_err(&fail)?;
        let mut chunk = vec![0; HEAD];
        let mut filled = bytes.fill(&mut chunk).map_err(&fail)?;
        let format = match self.format {
            Some(format) => format,
            None => file::detect(&chunk[..filled], path)?,
        };
        let mut reading = Reading::new(format, &self.server, self.date);
        let mut spool = self.spool().map_err(&fail)?;
        let mut ids = Vec::new();
        let found = self.tally.found;
        let mut notices = Notices::default();
        let mut told = Vec::new();
        while filled > 0 {
            if let Some(spool) = &mut spool {
                spool.write(&chunk[..filled]).map_err(&fail)?;
            }
            reading.feed(&chunk[..filled], &mut told);
            if reading.waits() && log.is_file {
                // When they were follows from when the log ended: a look ahead, so that the games of
                // a log of any length need not be kept until then.
                let elapsed = log.elapsed(format).map_err(&fail)?;
                reading.began(log.written.plus_millis(-elapsed), &mut told);
            }
            self.take(format, &mut told, &mut notices, &mut ids, hear)
                .await?;
            hear(Heard::Bytes(bytes.done()));
            filled = bytes.fill(&mut chunk).map_err(&fail)?;
        }
        let elapsed = reading.finish(log.written, &mut told);
        self.take(format, &mut told, &mut notices, &mut ids, hear)
            .await?;
        self.date = self.date.map(|date| date.plus_millis(elapsed));
        if self.format.is_some() && notices.malformed > 0 && self.tally.found == found {
            let (path, format) = (path.to_owned(), format.name);
            return Err(LogError::NotThis { path, format });
        }
        if let Some(spool) = spool {
            let archived = spool.commit(log.written).map_err(&fail)?;
            archived.note(self.store, &ids).await?;
        }
        notices.finish(hear);
        Ok(())
    }

    /// Begins to put a log away, where logs are.
    fn spool(&self) -> io::Result<Option<Spool>> {
        let Some(archive) = &self.archive else {
            return Ok(None);
        };
        let origin = Origin {
            server: self.server.clone(),
            format: self.format.map(|format| format.name.to_owned()),
            began: self.date.map(|date| date.0),
        };
        archive.begin(&origin).map(Some)
    }

    async fn take(
        &mut self,
        format: &Format,
        told: &mut Vec<Told>,
        notices: &mut Notices,
        ids: &mut Vec<i64>,
        hear: &mut impl FnMut(Heard<'_>),
    ) -> Result<(), LogError> {
        let mut games = Vec::new();
        for told in told.drain(..) {
            notices.note(&told, hear);
            match told {
                Told::Malformed { .. } => self.tally.malformed += 1,
                Told::Skipped { reason, .. } => {
                    self.tally.found += 1;
                    *self.tally.skipped.entry(reason.code()).or_default() += 1;
                }
                Told::Repeated { dropped: true, .. } => {
                    self.tally.found += 1;
                    self.tally.duplicates += 1;
                }
                Told::Repeated { dropped: false, .. } => self.tally.repeated += 1,
                Told::Game(game) if !format.in_halves => {
                    let fingerprint = Fingerprint::of(&game);
                    games.push((*game, fingerprint));
                }
                Told::Known(game, fingerprint) => games.push((*game, fingerprint)),
                // Each half looks for the other on disk.
                Told::Game(game) => {
                    let became = self.store.record_half(&game, PAUSE, join_halves).await?;
                    ids.push(became.id());
                    self.tally.note(became);
                }
            }
        }
        for batch in games.chunks(BATCH) {
            for recorded in self.store.record_all(batch).await? {
                ids.push(recorded.id());
                self.tally.note(HalfRecorded::Alone(recorded));
            }
        }
        Ok(())
    }
}

impl Tally {
    fn note(&mut self, became: HalfRecorded) {
        self.found += 1;
        match became {
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

/// Puts a game on record, if it is one.
pub(super) async fn record(
    store: &Arc<dyn Store>,
    format: &Format,
    told: &Told,
) -> Result<Option<HalfRecorded>, LogError> {
    Ok(Some(match told {
        Told::Game(record) if format.in_halves => {
            store.record_half(record, PAUSE, join_halves).await?
        }
        Told::Game(record) => HalfRecorded::Alone(store.record(record).await?),
        Told::Known(record, fingerprint) => {
            HalfRecorded::Alone(store.record_as(record, *fingerprint).await?)
        }
        Told::Skipped { .. } | Told::Repeated { .. } | Told::Malformed { .. } => {
            return Ok(None);
        }
    }))
}

/// All finished games of a file, sorted by time, halves joined.
///
/// # Errors
/// The file's.
pub fn read_all(
    path: &Path,
    hear: &mut impl FnMut(Heard<'_>),
) -> Result<Vec<MatchRecord>, LogError> {
    let fail = LogError::file(path);
    let log = LogFile::new(path)?;
    let mut bytes = log.open().map_err(&fail)?;
    let mut chunk = vec![0; HEAD];
    let mut filled = bytes.fill(&mut chunk).map_err(&fail)?;
    let format = file::detect(&chunk[..filled], path)?;
    let mut reading = Reading::new(format, "", None);
    let mut told = Vec::new();
    while filled > 0 {
        reading.feed(&chunk[..filled], &mut told);
        filled = bytes.fill(&mut chunk).map_err(&fail)?;
    }
    reading.finish(log.written, &mut told);
    let mut notices = Notices::default();
    for told in &told {
        notices.note(told, hear);
    }
    notices.finish(hear);
    let records = told.into_iter().filter_map(|told| match told {
        Told::Game(record) | Told::Known(record, _) => Some(*record),
        Told::Skipped { .. } | Told::Repeated { .. } | Told::Malformed { .. } => None,
    });
    let mut matches: Vec<(Fingerprint, MatchRecord)> = records
        .map(|record| (Fingerprint::of(&record), record))
        .collect();
    let out_of_order = matches
        .windows(2)
        .filter(|pair| pair[1].1.end < pair[0].1.end);
    match out_of_order.count() {
        0 => {}
        count => hear(Heard::OutOfOrder(u64::try_from(count).unwrap_or(u64::MAX))),
    }
    matches.sort_by_key(|(fingerprint, record)| (record.end, *fingerprint));
    matches.dedup_by_key(|(fingerprint, _)| *fingerprint);
    let mut joined: Vec<MatchRecord> = Vec::with_capacity(matches.len());
    let mut is_joined = false;
    for (_, record) in matches {
        let last = joined.last_mut().filter(|_| format.in_halves && !is_joined);
        is_joined = false;
        if let Some(last) = last
            && let Some(both) = join_halves(last, &record)
        {
            *last = both;
            is_joined = true;
            continue;
        }
        joined.push(record);
    }
    Ok(joined)
}
