//! Logs: from files, whole or still growing, to stored matches.
//!
//! Every log is read by a [`Reading`], which turns its bytes into items with dates. [`Ingest`] reads
//! whole files, a [`Follower`] reads logs while they grow, and [`reread`] reads those in the
//! [`Archive`] again. A match is stored once, however often its log is read, because it is known by
//! its fingerprint.
//!
//! Files are read, parsed and compressed on threads of their own, never on one that serves sockets.
//! This room knows nothing of sessions or sockets.

mod archive;
mod error;
mod follow;
mod ingest;
mod log_file;
mod read_matches;
mod reading;
mod record;
mod reread;
mod tail;

use std::time::{SystemTime, UNIX_EPOCH};

use crate::{
    domain::Timestamp,
    ingest::{self as formats, Format},
};

pub use archive::{Archive, ArchivedLog, LogOrigin, Spool};
pub use error::LogError;
pub use follow::{Follow, Follower};
pub use ingest::{Ingest, IngestCounts, IngestEvent};
pub use log_file::{CountingFile, LogBytes, LogFile};
pub use read_matches::read_matches;
pub use reading::Reading;
pub use reread::{Reread, reread};
pub use tail::{Tail, Tailed};

/// The names of all formats.
pub fn format_names() -> Vec<&'static str> {
    formats::FORMATS.iter().map(|format| format.name).collect()
}

/// The format of this name, if there is one.
pub fn format_of(name: &str) -> Option<&'static Format> {
    formats::by_name(name)
}

/// The time of a file, in milliseconds since 1970. Earlier times count as 1970.
fn timestamp(time: SystemTime) -> Timestamp {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
