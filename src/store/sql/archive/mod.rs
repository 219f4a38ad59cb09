//! The archive: old matches that were moved from the tables to compressed chunks.
//!
//! The row of an archived match, its teams and its mutators stay in the tables. So the match keeps its id, its
//! fingerprint and its place in the order, and everything that reads matches also reads archived ones.

mod forget;
mod pack;
mod read;
mod search;

use serde::Serialize;

use super::{
    Store, leases,
    parts::{MatchParts, head},
    rows::ROWS,
};
use crate::{
    domain::Timestamp,
    store::{Lease, StoreError, chunk::Chunk, db::*},
};

pub(super) use forget::{begin_to_forget, remove};
pub(super) use read::{archived, complete, fetch};
pub(super) use search::{ArchivedOf, latest_in_chunks, matches_in_chunks, names_in_chunks};

columns! {
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
}

/// How many times a chunk is packed, at most, if stored matches change before it is written.
const TRIES: usize = 5;

impl Store {
    /// Moves the earliest matches that ended before `before` to one new chunk, in one transaction. A chunk has at
    /// most [`MOST_IN_CHUNK`](crate::store::MOST_IN_CHUNK) matches, and fewer if they are long. A match that cannot be stored
    /// in a chunk without loss stays in the tables.
    ///
    /// Returns how many matches were moved. Moves none if fewer than `least` are that old, or if stored matches
    /// change again and again meanwhile.
    ///
    /// # Errors
    /// Fails if the lease is lost, if the database fails, or if a match cannot be read.
    pub async fn archive_matches(
        &self,
        before: Timestamp,
        least: usize,
        lease: Option<&Lease>,
    ) -> Result<u64, StoreError> {
        for _ in 0..TRIES {
            let Some(new) = pack::collect(&self.readers, before, least).await? else {
                return Ok(0);
            };
            let mut tx = self.begin_alone().await?;
            let checked = match lease {
                Some(lease) => leases::check(&mut tx, lease).await,
                None => Ok(()),
            };
            match checked {
                Ok(()) => {}
                Err(error) => {
                    tx.abandon().await?;
                    return Err(error);
                }
            }
            if pack::write(&mut tx, &new).await? {
                // No weights change, so the tasks that wait for commits are not woken.
                tx.commit().await?;
                return Ok(new.matches());
            }
            tx.abandon().await?;
        }
        Ok(0)
    }

    /// The chunks, in the order in which they were made.
    pub async fn chunks(&self) -> Result<Vec<ChunkRow>, StoreError> {
        let query = tuple(
            "SELECT chunk, matches, first_end, last_end, length, CAST(length(content) AS BIGINT) AS stored
             FROM archive_chunks ORDER BY chunk",
        );
        query.fetch_all(&self.readers).await
    }

    /// The matches of a chunk as a gzip file of JSON lines; `None` if there is no such chunk. First removes the
    /// players who are forgotten from all chunks, and checks every match of this chunk.
    ///
    /// # Errors
    /// Fails if the chunk is damaged.
    pub async fn chunk_file(&self, chunk: i64) -> Result<Option<Vec<u8>>, StoreError> {
        self.finish_forgetting().await?;
        let query = sql("SELECT sha256, length, content FROM archive_chunks WHERE chunk = $1");
        let row = query.bind(chunk).fetch_optional(&self.readers).await?;
        let Some(row) = row else { return Ok(None) };
        read::unpacked(chunk, &row, |chunk| {
            chunk
                .lines()
                .try_for_each(|number| chunk.read(number).map(drop))
        })
        .await?;
        Ok(Some(row.get("content")?))
    }

    /// Checks every chunk. Returns one sentence for each fault.
    pub async fn chunk_faults(&self) -> Result<Vec<String>, StoreError> {
        let query = tuple(
            "SELECT c.chunk, c.matches, (SELECT count(*) FROM matches m WHERE m.chunk = c.chunk)
             FROM archive_chunks c ORDER BY c.chunk",
        );
        let counts: Vec<(i64, i64, i64)> = query.fetch_all(&self.readers).await?;
        let mut faults = Vec::new();
        for (chunk, stated, known) in counts {
            if stated != known {
                let why = format!("it should have {stated} matches, and {known} refer to it");
                faults.push(StoreError::BadChunk { chunk, why }.to_string());
            }
            match self.chunk_file(chunk).await {
                Ok(_) => {}
                Err(error @ StoreError::BadChunk { .. }) => faults.push(error.to_string()),
                Err(error) => return Err(error),
            }
        }
        Ok(faults)
    }

    /// Removes from the chunks the players whom [`forget_player`](Self::forget_player) has begun to forget.
    /// Each chunk is written in a transaction of its own: after an error or a crash, the next call continues. Returns
    /// how many matches were changed.
    ///
    /// # Errors
    /// Fails if a chunk is damaged.
    pub async fn finish_forgetting(&self) -> Result<u64, StoreError> {
        forget::finish(self).await
    }
}

/// The numbers of the chunks whose latest match ended at `since` or later.
async fn numbers(pool: &Pool, since: Timestamp) -> Result<Vec<i64>, StoreError> {
    let query = scalar(
        "SELECT chunk FROM archive_chunks WHERE last_end >= $1 AND matches > 0 ORDER BY chunk",
    );
    query.bind(since.0).fetch_all(pool).await
}

/// Runs work that may take long on a thread that may block.
async fn apart<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, StoreError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| StoreError::BadValue(format!("a chunk was not read: {error}")))
}

/// The error about a damaged chunk.
fn bad(chunk: i64, why: impl Into<String>) -> StoreError {
    StoreError::BadChunk {
        chunk,
        why: why.into(),
    }
}
