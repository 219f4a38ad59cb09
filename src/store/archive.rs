//! The archive: old matches that were moved from the tables to compressed chunks.
//!
//! The row of an archived match, its teams and its mutators stay in the tables. So the match keeps its id, its
//! fingerprint and its place in the order, and everything that reads matches also reads archived ones.

use async_trait::async_trait;
use serde::Serialize;

use super::{Lease, StoreError};
use crate::domain::Timestamp;

/// What the database notes about a chunk, without its content.
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
    /// Bytes of its content in the database, after compression.
    pub stored: i64,
}

/// Moves matches to the archive, and reads it.
#[async_trait]
pub trait MatchArchive: Send + Sync {
    /// Moves the earliest matches that ended before `before` to one new chunk, in one transaction. A chunk has at
    /// most [`MOST_IN_CHUNK`](super::MOST_IN_CHUNK) matches, and fewer if they are long. A match that cannot be stored
    /// in a chunk without loss stays in the tables.
    ///
    /// Returns how many matches were moved. Moves none if fewer than `least` are that old, or if stored matches
    /// change again and again meanwhile.
    ///
    /// # Errors
    /// Fails if the lease is lost, if the database fails, or if a match cannot be read.
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

    /// The matches of a chunk as a gzip file of JSON lines; `None` if there is no such chunk. First removes the
    /// players who are forgotten from all chunks, and checks every match of this chunk.
    ///
    /// # Errors
    /// Fails if the chunk is damaged, or if the database fails.
    async fn chunk_file(&self, chunk: i64) -> Result<Option<Vec<u8>>, StoreError>;

    /// Checks every chunk. Returns one sentence for each fault.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn chunk_faults(&self) -> Result<Vec<String>, StoreError>;

    /// Removes from the chunks the players whom [`forget_player`](super::Players::forget_player) has begun to forget.
    /// Each chunk is written in a transaction of its own: after an error or a crash, the next call continues. Returns
    /// how many matches were changed.
    ///
    /// # Errors
    /// Fails if a chunk is damaged, or if the database fails.
    async fn finish_forgetting(&self) -> Result<u64, StoreError>;
}
