//! Logs: reads files, complete or still growing, and records their matches.
//!
//! A [`Reading`] converts the bytes of one log to items with dates. [`Ingest`] reads complete
//! files, a [`Follower`] reads logs while they grow, and [`reread`] reads the logs in the
//! [`Archive`] again. Fingerprints identify matches, so a match is stored once, however often its
//! log is read.
//!
//! Files are read, parsed and compressed on threads of their own, never on one that serves sockets.
//! This room does not depend on sessions or sockets.

mod archive;
mod follow;
mod ingest;
mod log_file;
mod reading;
mod tail;

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use crate::{
    ingest::{
        self as formats, Format,
        same_match::{PAUSE, join_halves},
    },
    model::{MatchRecord, Timestamp, fingerprint::Fingerprint},
    store::{HalfRecorded, LogMatches, LogReplaced, Store, StoreError},
};

pub use archive::{Archive, ArchivedLog, LogOrigin, LogSpool};
pub use follow::{Follow, FollowMetrics, Follower};
pub use ingest::{Ingest, IngestCounts, MatchFile, read_matches, read_matches_to_file};
pub use log_file::{CountingFile, LogBytes, LogChunks, LogFile, log_files};
pub use reading::{IngestEvent, LogZone, Reading};
pub use tail::{Tail, Tailed};

use archive::read_origin;
use reading::into_match;

/// The names of all formats, in the order in which detection tries them.
pub fn format_names() -> Vec<&'static str> {
    formats::FORMATS.iter().map(|format| format.name).collect()
}

/// The format of this name, if there is one.
pub fn format_of(name: &str) -> Option<&'static Format> {
    formats::by_name(name)
}

/// Whether `--game` may have this value: empty, or a name that can be the first part of a game type.
pub fn is_game_name(text: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
    text.len() <= 64 && text.chars().all(part)
}

/// Converts the time of a file. Times before 1970 count as 1970.
fn timestamp(time: SystemTime) -> Timestamp {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// Why a log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Path of the file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file has no content.
    #[error("{}: the file is empty", path.display())]
    Empty {
        /// Path of the file.
        path: PathBuf,
    },
    /// The content belongs to no known format.
    #[error("{}: not a log of any known format ({}); it begins with: {first}", path.display(), format_names().join(", "))]
    Unknown {
        /// Path of the file.
        path: PathBuf,
        /// The beginning of the first line, readable on a terminal.
        first: String,
    },
    /// The content is known, and not supported.
    #[error("{}: {why}", path.display())]
    NotRead {
        /// Path of the file.
        path: PathBuf,
        /// What it is, and what to read instead.
        why: &'static str,
    },
    /// A format was given, and the content does not belong to it.
    #[error("{}: not a log of the format {format}", path.display())]
    NotThis {
        /// Path of the file.
        path: PathBuf,
        /// Name of the given format.
        format: &'static str,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The thread that reads the log panicked or was cancelled.
    #[error("a task was cancelled or panicked")]
    Task(#[from] tokio::task::JoinError),
    /// The operating system refused to start a thread.
    #[error("cannot start the thread that reads logs: {0}")]
    Thread(io::Error),
    /// Reading was stopped before the end.
    #[error("reading was stopped")]
    Stopped,
}

impl LogError {
    /// Converts an error of the operating system to one that names the file.
    fn file(path: &Path) -> impl Fn(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::File {
            path: path.clone(),
            source,
        }
    }
}

/// The most matches per transaction.
const BATCH: usize = 512;

/// Records matches in the order of the log. Moves each one from `matches` to `recorded` once it is
/// on disk; after an error, `matches` contains those that may not be on disk.
async fn record_matches(
    store: &Arc<Store>,
    format: &Format,
    matches: &mut VecDeque<(MatchRecord, Fingerprint)>,
    recorded: &mut Vec<HalfRecorded>,
) -> Result<(), StoreError> {
    if format.in_halves {
        // For each match, the store looks for the other half, which may be the match just before
        // it.
        while let Some((record, fingerprint)) = matches.front() {
            let half = store
                .matches()
                .record_half(record, *fingerprint, PAUSE, join_halves);
            recorded.push(half.await?);
            matches.pop_front();
        }
        return Ok(());
    }
    while !matches.is_empty() {
        let batch = matches.len().min(BATCH);
        let results = store
            .matches()
            .record_all(&matches.make_contiguous()[..batch])
            .await?;
        recorded.extend(results.into_iter().map(HalfRecorded::Alone));
        matches.drain(..batch);
    }
    Ok(())
}

/// The result of reading all archived logs again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reread {
    /// Number of logs that were read.
    pub logs: u64,
    /// Number of logs whose format is not supported any more; their matches do not change.
    pub unknown: u64,
    /// How many matches were added, removed or left as they were.
    pub matches: LogReplaced,
}

/// Reads all archived logs again. Calls `progress` with the number of logs done and the number of
/// all logs. Does not learn weights.
///
/// # Errors
/// Fails at the first log that cannot be read, or if the database fails. The logs before it are done.
pub async fn reread(
    store: &Arc<Store>,
    archive: &Arc<Archive>,
    zones: &RereadZones,
    mut progress: impl FnMut(u64, u64),
) -> Result<Reread, LogError> {
    let archive = archive.clone();
    let all = tokio::task::spawn_blocking(move || by_age(&archive)).await??;
    let mut reread = Reread::default();
    let count = all.len() as u64;
    for (done, log) in (1u64..).zip(all) {
        let path = log.path.clone();
        let zone = zones.of(&log.origin);
        match tokio::task::spawn_blocking(move || read(&log, zone)).await? {
            Ok(matches) => {
                reread.matches += store.matches().replace_log(&matches).await?;
                reread.logs += 1;
            }
            Err(LogError::Unknown { .. } | LogError::NotRead { .. }) => {
                tracing::warn!(path = %path.display(), "an archived log has no known format");
                reread.unknown += 1;
            }
            Err(other) => return Err(other),
        }
        progress(done, count);
    }
    Ok(reread)
}

/// The time zones of archived logs whose dates state none.
#[derive(Clone, Debug, Default)]
pub struct RereadZones {
    /// That of all logs, if it is given.
    pub all: Option<LogZone>,
    /// Those that are configured for the logs of servers.
    pub servers: BTreeMap<String, LogZone>,
}

impl RereadZones {
    /// The time zone of a log: the given one, the one that is configured for its server, or the one in which it was read.
    fn of(&self, origin: &LogOrigin) -> LogZone {
        let configured = || self.servers.get(&origin.server).cloned();
        let before = || LogZone::named(origin.time_zone.as_deref()?).ok();
        let zone = self.all.clone().or_else(configured).or_else(before);
        zone.unwrap_or_default()
    }
}

/// An archived log, not read yet.
struct LogToRead {
    written: Timestamp,
    path: std::path::PathBuf,
    fingerprint: Fingerprint,
    origin: LogOrigin,
}

/// All archived logs, sorted by when they were written, so that the second half of a match comes
/// after the first.
fn by_age(archive: &Archive) -> Result<Vec<LogToRead>, LogError> {
    let mut all = Vec::new();
    for (path, fingerprint) in archive.logs()? {
        let (written, origin) = read_origin(&path)?;
        all.push(LogToRead {
            written,
            path,
            fingerprint,
            origin,
        });
    }
    all.sort_by(|a, b| (a.written, &a.path).cmp(&(b.written, &b.path)));
    Ok(all)
}

/// Reads the matches of an archived log.
fn read(log: &LogToRead, zone: LogZone) -> Result<LogMatches, LogError> {
    let path: &Path = &log.path;
    let mut chunks = LogFile::new(path)?.chunks()?;
    let format = match log.origin.format.as_deref().and_then(format_of) {
        Some(format) => format,
        None => chunks.detect()?,
    };
    let begin = log.origin.began.map(Timestamp);
    let mut reading = Reading::new(format, &log.origin.server, begin, Some(log.written))
        .of_game(&log.origin.game)
        .in_zone(zone);
    let (mut items, mut matches) = (Vec::new(), Vec::new());
    let found = |item| into_match(item, &log.origin.client);
    while let Some(chunk) = chunks.read()? {
        reading.feed(chunk, &mut items);
        matches.extend(items.drain(..).filter_map(found));
    }
    reading.finish(log.written, &mut items);
    matches.extend(items.into_iter().filter_map(found));
    Ok(LogMatches {
        fingerprint: log.fingerprint,
        matches,
        halves: format.in_halves.then_some((PAUSE, join_halves)),
    })
}
