//! Records the matches of a log in the store.

use std::{collections::VecDeque, sync::Arc};

use crate::{
    ingest::{Format, PAUSE, join_halves},
    model::{Fingerprint, MatchRecord},
    store::{HalfRecorded, Store, StoreError},
};

/// The most matches per transaction.
const BATCH: usize = 512;

/// Records matches in the order of the log. Moves each one from `matches` to `recorded` once it is
/// on disk; after an error, `matches` contains those that may not be on disk.
pub(super) async fn record_matches(
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
