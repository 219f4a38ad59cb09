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
mod reread;
mod tail;

pub use archive::{Archive, ArchivedLog, LogOrigin, LogSpool};
pub use follow::{Follow, FollowMetrics, Follower};
pub use ingest::{Ingest, IngestCounts, MatchFile, read_matches, read_matches_to_file};
pub use log_file::{CountingFile, LogBytes, LogChunks, LogFile, log_files};
pub use reading::{IngestEvent, LogZone, Reading};
pub use reread::{Reread, RereadZones, reread};
pub use tail::{Tail, Tailed};

use std::{
    collections::VecDeque,
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
    store::{HalfRecorded, Store, StoreError},
};

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
