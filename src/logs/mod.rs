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
mod copy;
mod error;
mod events;
mod folder;
mod follow;
mod ingest;
mod log_file;
mod match_file;
mod read_matches;
mod reading;
mod record;
mod reread;
mod tail;
mod zone;

use std::time::{SystemTime, UNIX_EPOCH};

use crate::{
    ingest::{self as formats, Format},
    model::Timestamp,
};

pub use archive::{Archive, ArchivedLog, LogOrigin, Spool};
pub use error::LogError;
pub use events::IngestEvent;
pub use folder::log_files;
pub use follow::{Follow, FollowMetrics, Follower};
pub use ingest::{Ingest, IngestCounts};
pub use log_file::{CountingFile, LogBytes, LogChunks, LogFile};
pub use match_file::MatchFile;
pub use read_matches::{read_matches, read_matches_to_file};
pub use reading::Reading;
pub use reread::{Reread, RereadZones, reread};
pub use tail::{Tail, Tailed};
pub use zone::LogZone;

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
