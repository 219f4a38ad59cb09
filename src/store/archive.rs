//! The archive: old matches that were moved from the tables to compressed chunks.
//!
//! The row of an archived match, its teams and its mutators stay in the tables. So the match keeps its id, its
//! fingerprint and its place in the order, and everything that reads matches also reads archived ones.

use serde::Serialize;

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
