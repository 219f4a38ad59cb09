//! Reads the matches of a file without a database, for `evaluate`.

use std::path::Path;

use super::{IngestEvent, LogError, LogFile, Reading, events::LineReports, reading::into_match};
use crate::{
    domain::{Fingerprint, MatchRecord},
    ingest::join_halves,
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
    let log = LogFile::new(path)?;
    let mut chunks = log.chunks()?;
    chunks.check_content()?;
    let format = chunks.detect()?;
    let mut reading = Reading::new(format, "", None, Some(log.written));
    let mut items = Vec::new();
    while let Some(chunk) = chunks.read()? {
        reading.feed(chunk, &mut items);
    }
    reading.finish(log.written, &mut items);
    let mut reports = LineReports::default();
    for item in &items {
        reports.item(item, on_event);
    }
    reports.finish(on_event);
    let records = items.into_iter().filter_map(into_match);
    let mut matches: Vec<(Fingerprint, MatchRecord)> = records
        .map(|(record, _)| (Fingerprint::of(&record), record))
        .collect();
    let pairs = matches.windows(2);
    let out_of_order = pairs.filter(|pair| pair[1].1.end < pair[0].1.end).count();
    if out_of_order > 0 {
        let matches = u64::try_from(out_of_order).unwrap_or(u64::MAX);
        on_event(IngestEvent::OutOfOrder(matches));
    }
    matches.sort_by_key(|(fingerprint, record)| (record.end, *fingerprint));
    matches.dedup_by_key(|(fingerprint, _)| *fingerprint);
    let records = matches.into_iter().map(|(_, record)| record).collect();
    Ok(match format.in_halves {
        true => joined(records),
        false => records,
    })
}

/// Joins each match with the one before it if the two are halves of one match.
fn joined(matches: Vec<MatchRecord>) -> Vec<MatchRecord> {
    let mut joined: Vec<MatchRecord> = Vec::with_capacity(matches.len());
    let mut is_joined = false;
    for record in matches {
        // A match has two halves, so a joined match is not joined again.
        let last = joined.last_mut().filter(|_| !is_joined);
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
    joined
}
