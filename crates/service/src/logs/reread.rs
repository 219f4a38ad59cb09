//! Reads the archived logs again, with parsers that may be better than when they were first read.
//!
//! Replaces the matches of each log in one transaction, so that an interrupted run can be repeated.
//! Matches that came from no archived log do not change.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use super::{
    Archive, LogError, LogFile, LogOrigin, LogZone, Reading, archive::read_origin, format_of,
    reading::into_match,
};
use crate::{
    ingest::same_match::{PAUSE, join_halves},
    model::{Timestamp, fingerprint::Fingerprint},
    store::{LogMatches, LogReplaced, Store},
};

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
