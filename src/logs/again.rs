//! Reading the archived logs again: a better parser mends the past.
//!
//! Each log is one transaction, in which what it tells now takes the place of what it told before; a
//! run that is broken off can be run again. Matches that no archived log told of are left alone.

use std::{path::Path, sync::Arc};

use super::{
    Archive, LogError, LogFile, Reading, Told,
    archive::{self, Origin},
    file, format_of,
};
use crate::{
    domain::{Fingerprint, Timestamp},
    ingest::{HEAD, PAUSE, join_halves},
    store::{LogMatches, LogReplaced, Store},
};

/// What came of reading all logs again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reread {
    /// Logs read.
    pub logs: u64,
    /// Logs that no parser knows any more; what they told before stays.
    pub unknown: u64,
    /// What became of the matches.
    pub matches: LogReplaced,
}

/// Reads all archived logs again. `progress` is told the logs done, and their number. The weights
/// are not learned anew yet.
///
/// # Errors
/// The first log that cannot be read, or the database's.
pub async fn reread(
    store: &Arc<dyn Store>,
    archive: &Archive,
    mut progress: impl FnMut(u64, u64),
) -> Result<Reread, LogError> {
    let mut all = Vec::new();
    for (path, fingerprint) in archive.logs()? {
        let (written, origin) = archive::origin(&path).map_err(LogError::file(&path))?;
        all.push((written, path, fingerprint, origin));
    }
    // In the order in which they were written, so that halves find each other.
    all.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    let mut reread = Reread::default();
    let count = all.len() as u64;
    for (done, (written, path, fingerprint, origin)) in (1u64..).zip(all) {
        let read = tokio::task::spawn_blocking(move || read(&path, written, &origin, fingerprint));
        match read.await? {
            Ok(log) => {
                reread.matches += store.replace_log(&log).await?;
                reread.logs += 1;
            }
            Err(LogError::Unknown { path }) => {
                tracing::warn!(path = %path.display(), "no parser knows this log");
                reread.unknown += 1;
            }
            Err(other) => return Err(other),
        }
        progress(done, count);
    }
    Ok(reread)
}

/// Everything that an archived log tells.
fn read(
    path: &Path,
    written: Timestamp,
    origin: &Origin,
    fingerprint: Fingerprint,
) -> Result<LogMatches, LogError> {
    let fail = LogError::file(path);
    let mut bytes = LogFile::new(path)?.open().map_err(&fail)?;
    let mut chunk = vec![0; HEAD];
    let mut filled = bytes.fill(&mut chunk).map_err(&fail)?;
    let format = match origin.format.as_deref().and_then(format_of) {
        Some(format) => format,
        None => file::detect(&chunk[..filled], path)?,
    };
    let mut reading = Reading::new(format, &origin.server, origin.began.map(Timestamp));
    let mut told = Vec::new();
    let mut matches = Vec::new();
    while filled > 0 {
        reading.feed(&chunk[..filled], &mut told);
        keep(&mut told, &mut matches);
        filled = bytes.fill(&mut chunk).map_err(&fail)?;
    }
    reading.finish(written, &mut told);
    keep(&mut told, &mut matches);
    Ok(LogMatches {
        fingerprint,
        matches,
        halves: format.in_halves.then_some((PAUSE, join_halves)),
    })
}

fn keep(told: &mut Vec<Told>, matches: &mut Vec<(crate::domain::MatchRecord, Fingerprint)>) {
    for told in told.drain(..) {
        match told {
            Told::Game(record) => {
                let fingerprint = Fingerprint::of(&record);
                matches.push((*record, fingerprint));
            }
            Told::Known(record, fingerprint) => matches.push((*record, fingerprint)),
            Told::Skipped { .. } | Told::Repeated { .. } | Told::Malformed { .. } => {}
        }
    }
}
