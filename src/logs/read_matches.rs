//! Reads the matches of a file without a database, for `evaluate`.

use std::{env, io, path::Path};

use super::{
    IngestEvent, LogError, LogFile, MatchFile, Reading, events::LineReports, reading::into_match,
};
use crate::{
    ingest::{LogItem, join_halves},
    model::{Fingerprint, MatchRecord},
};

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
