//! The archive: old matches that have left the tables for compressed chunks.
//!
//! The row of an archived match, its teams and its mutators stay in the tables: it keeps its id, its fingerprint and
//! its place in the order, so that everything that reads matches reads archived ones as well.

use async_trait::async_trait;
use serde::Serialize;

use super::{Lease, StoreError};
use crate::domain::Timestamp;

/// A chunk, without its content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChunkRow {
    /// The number of the chunk.
    pub chunk: i64,
    /// How many matches it contains.
    pub matches: i64,
    /// When the earliest of them ended.
    pub first_end: Timestamp,
    /// When the latest of them ended.
    pub last_end: Timestamp,
    /// Bytes of its lines, before compression.
    pub length: i64,
    /// Bytes in the database.
    pub stored: i64,
}

/// Moving matches to the archive, and reading it.
#[async_trait]
pub trait MatchArchive: Send + Sync {
    /// Moves the earliest matches that ended before `before` to a new chunk, in one transaction. A chunk has at
    /// most [`MOST_IN_CHUNK`](super::MOST_IN_CHUNK) matches, and none is made of fewer than `least`, unless they
    /// are long. Returns how many matches were moved.
    ///
    /// # Errors
    /// Fails if the lease is lost, if the database fails, or if a match is damaged.
    async fn archive_matches(
        &self,
        before: Timestamp,
        least: usize,
        lease: Option<&Lease>,
    ) -> Result<u64, StoreError>;

    /// The chunks, in the order in which they were made.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn chunks(&self) -> Result<Vec<ChunkRow>, StoreError>;

    /// The matches of a chunk as a gzip file of JSON lines; `None` if there is no such chunk. All its matches
    /// have been read.
    ///
    /// # Errors
    /// Fails if the chunk is damaged, or if the database fails.
    async fn chunk_file(&self, chunk: i64) -> Result<Option<Vec<u8>>, StoreError>;

    /// What is wrong with the chunks, one sentence each.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn chunk_faults(&self) -> Result<Vec<String>, StoreError>;

    /// Removes players from the chunks whom [`forget_player`](super::Players::forget_player) has begun to forget.
    /// Each chunk is one transaction: after an error or a crash, a later call goes on. Returns how many matches
    /// were changed.
    ///
    /// # Errors
    /// Fails if a chunk is damaged, or if the database fails.
    async fn finish_forgetting(&self) -> Result<u64, StoreError>;
}
