//! [`MatchArchive`] for both databases.

mod forget;
mod pack;
mod read;
mod search;

use async_trait::async_trait;
use sqlx::{QueryBuilder, Row};

use super::{
    Db, DbConnection, DbPool, DbRow, DbStore,
    insert::ROWS,
    int, leases,
    parts::{MatchParts, head},
    snapshot, storable,
};
use crate::{
    domain::Timestamp,
    store::{ChunkRow, Lease, MatchArchive, StoreError, chunk::Chunk},
};

pub(super) use forget::{begin_to_forget, remove};
pub(super) use read::{archived, complete};
pub(super) use search::{matches_in_chunks, names_in_chunks};

/// How many times a chunk is packed, at most, if stored matches change before it is written.
const TRIES: usize = 5;

#[async_trait]
impl MatchArchive for DbStore {
    async fn archive_matches(
        &self,
        before: Timestamp,
        least: usize,
        lease: Option<&Lease>,
    ) -> Result<u64, StoreError> {
        for _ in 0..TRIES {
            let Some(new) = pack::collect(&self.readers, before, least).await? else {
                return Ok(0);
            };
            let mut tx = self.begin().await?;
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

    async fn chunks(&self) -> Result<Vec<ChunkRow>, StoreError> {
        let query = sqlx::query(
            "SELECT chunk, matches, first_end, last_end, length, length(content) AS stored
             FROM archive_chunks ORDER BY chunk",
        );
        let rows = query.fetch_all(&self.readers).await?;
        rows.iter().map(chunk_row).collect()
    }

    async fn chunk_file(&self, chunk: i64) -> Result<Option<Vec<u8>>, StoreError> {
        self.finish_forgetting().await?;
        let query =
            sqlx::query("SELECT sha256, length, content FROM archive_chunks WHERE chunk = $1");
        let row = query.bind(chunk).fetch_optional(&self.readers).await?;
        let Some(row) = row else { return Ok(None) };
        read::unpacked(chunk, &row, |chunk| {
            chunk
                .lines()
                .try_for_each(|number| chunk.read(number).map(drop))
        })
        .await?;
        Ok(Some(row.try_get("content")?))
    }

    async fn chunk_faults(&self) -> Result<Vec<String>, StoreError> {
        let query = sqlx::query_as(
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

    async fn finish_forgetting(&self) -> Result<u64, StoreError> {
        forget::finish(self).await
    }
}

fn chunk_row(row: &DbRow) -> Result<ChunkRow, StoreError> {
    Ok(ChunkRow {
        chunk: row.try_get("chunk")?,
        matches: row.try_get("matches")?,
        first_end: Timestamp(row.try_get("first_end")?),
        last_end: Timestamp(row.try_get("last_end")?),
        length: row.try_get("length")?,
        stored: i64::from(row.try_get::<i32, _>("stored")?),
    })
}

/// The numbers of the chunks whose latest match ended at `since` or later.
async fn numbers(pool: &DbPool, since: Timestamp) -> Result<Vec<i64>, StoreError> {
    let query = sqlx::query_scalar(
        "SELECT chunk FROM archive_chunks WHERE last_end >= $1 AND matches > 0 ORDER BY chunk",
    );
    Ok(query.bind(since.0).fetch_all(pool).await?)
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
