//! The matches of a log, written to the store.

use std::{collections::VecDeque, sync::Arc};

use crate::{
    domain::{Fingerprint, MatchRecord},
    ingest::{Format, PAUSE, join_halves},
    store::{HalfRecorded, Store, StoreError},
};

/// The most matches that are recorded in one transaction.
const BATCH: usize = 512;

/// Records matches in the order in which the log has them. Each one moves from `matches` to `recorded`
/// once it is on disk; after an error, `matches` holds those that may not be.
pub(super) async fn record_matches(
    store: &Arc<dyn Store>,
    format: &Format,
    matches: &mut VecDeque<(MatchRecord, Fingerprint)>,
    recorded: &mut Vec<HalfRecorded>,
) -> Result<(), StoreError> {
    if format.in_halves {
        // The store looks for the other half of each, which may be the match just before it.
        while let Some((record, _)) = matches.front() {
            recorded.push(store.record_half(record, PAUSE, join_halves).await?);
            matches.pop_front();
        }
        return Ok(());
    }
    while !matches.is_empty() {
        let batch = matches.len().min(BATCH);
        let results = store
            .record_all(&matches.make_contiguous()[..batch])
            .await?;
        recorded.extend(results.into_iter().map(HalfRecorded::Alone));
        matches.drain(..batch);
    }
    Ok(())
}
