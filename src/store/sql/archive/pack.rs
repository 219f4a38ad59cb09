//! Moves matches from the tables to a new chunk.

use super::{StoreError, apart, complete};
use crate::{
    domain::{Kind, Timestamp},
    store::{
        MOST_IN_CHUNK, Stored,
        chunk::{ChunkCache, FULL_BYTES, MOST_BYTES, hash, line, pack},
        db::*,
    },
};

/// How many matches are read at a time. The number is small because a long match may need many megabytes.
const READ: i64 = 64;
/// The tables from which the rows of an archived match are deleted.
const TABLES: [&str; 3] = ["performances", "roles", "participants"];

/// A chunk that has not been written yet.
pub(super) struct NewChunk {
    /// How often stored matches had been changed when these were read.
    changes: i64,
    /// The id of each match, and how many humans and bots took part.
    matches: Vec<(i64, i64, i64)>,
    /// When the earliest and the latest match ended.
    ends: (Timestamp, Timestamp),
    /// Bytes of the lines, before compression.
    length: i64,
    content: Vec<u8>,
}

impl NewChunk {
    /// How many matches it contains.
    pub fn matches(&self) -> u64 {
        self.matches.len() as u64
    }
}

/// Reads and packs the earliest matches that ended before `before`. `None` if there are fewer than `least`.
pub(super) async fn collect(
    pool: &Pool,
    before: Timestamp,
    least: usize,
) -> Result<Option<NewChunk>, StoreError> {
    let mut tx = pool.snapshot().await?;
    let changes = changes(&mut tx).await?;
    let count = "SELECT count(*) FROM
                 (SELECT 1 FROM matches WHERE chunk IS NULL AND ended_at < $1 LIMIT $2) AS first";
    let count = scalar(count)
        .bind(before.0)
        .bind(i64::try_from(least).unwrap_or(i64::MAX));
    let count: i64 = count.fetch_one(&mut tx).await?;
    if count == 0 || usize::try_from(count).unwrap_or(0) < least {
        return Ok(None);
    }
    let mut gathered = Gathered::default();
    let mut after: (i64, Vec<u8>) = (i64::MIN, Vec::new());
    while !gathered.is_full() {
        let query = sql(
            "SELECT * FROM matches WHERE chunk IS NULL AND ended_at < $1 AND (ended_at, fingerprint) > ($2, $3)
             ORDER BY ended_at, fingerprint LIMIT $4",
        );
        let query = query.bind(before.0).bind(after.0).bind(&after.1);
        let rows = query.bind(READ).fetch_all(&mut tx).await?;
        let read = complete(&mut tx, &ChunkCache::default(), &rows).await?;
        let Some(last) = read.last() else { break };
        after = (last.record.end.0, last.fingerprint.0.to_vec());
        read.iter().for_each(|stored| gathered.add(stored));
    }
    drop(tx);
    let Gathered {
        text,
        matches,
        ends,
    } = gathered;
    let Some(ends) = ends else { return Ok(None) };
    let length = i64::try_from(text.len()).unwrap_or(i64::MAX);
    let content = apart(move || pack(&text)).await?;
    let content = content.map_err(|error| StoreError::BadValue(error.to_string()))?;
    Ok(Some(NewChunk {
        changes,
        matches,
        ends,
        length,
        content,
    }))
}

/// The lines of a chunk that is being made.
#[derive(Default)]
struct Gathered {
    text: Vec<u8>,
    matches: Vec<(i64, i64, i64)>,
    ends: Option<(Timestamp, Timestamp)>,
}

impl Gathered {
    fn is_full(&self) -> bool {
        self.matches.len() == MOST_IN_CHUNK || self.text.len() >= FULL_BYTES
    }

    /// Adds the next match, if there is room. A match that is too long, or would not be stored without loss, stays in
    /// the tables.
    fn add(&mut self, stored: &Stored) {
        if self.is_full() {
            return;
        }
        let Some(line) = line(stored).filter(|line| self.text.len() + line.len() < MOST_BYTES)
        else {
            return;
        };
        self.text.extend(line.as_bytes());
        self.text.push(b'\n');
        let end = stored.record.end;
        self.ends = Some((self.ends.map_or(end, |ends| ends.0), end));
        self.matches.push(counts(stored));
    }
}

/// The id of a match, and how many humans and bots took part.
fn counts(stored: &Stored) -> (i64, i64, i64) {
    let kinds = stored.record.participants.iter().map(|p| p.key.kind);
    let humans = kinds.filter(|kind| *kind == Kind::Human).count();
    let bots = stored.record.participants.len() - humans;
    (stored.id, humans as i64, bots as i64)
}

/// How often stored matches have been changed, not counting the archive's own changes.
async fn changes(tx: &mut Connection) -> Result<i64, StoreError> {
    let query = scalar("SELECT changes FROM player_changes");
    query.fetch_one(tx).await
}

/// Writes the chunk, and deletes what it contains from `TABLES`. Returns `false` if a stored match has changed since
/// the chunk was read, or if another process has archived one; the caller then abandons the transaction.
pub(super) async fn write(tx: &mut Connection, new: &NewChunk) -> Result<bool, StoreError> {
    if changes(tx).await? != new.changes {
        return Ok(false);
    }
    let insert = "INSERT INTO archive_chunks (chunk, matches, first_end, last_end, length, sha256, content)
         SELECT coalesce(max(chunk), 0) + 1, $1, $2, $3, $4, $5, $6 FROM archive_chunks RETURNING chunk";
    let count = i64::try_from(new.matches.len()).unwrap_or(i64::MAX);
    let hash = hash(&new.content);
    let query = scalar(insert)
        .bind(count)
        .bind(new.ends.0.0)
        .bind(new.ends.1.0)
        .bind(new.length)
        .bind(&hash[..])
        .bind(&new.content[..]);
    let chunk: i64 = query.fetch_one(&mut *tx).await?;
    let mut query = Sql::new("UPDATE matches SET chunk = ");
    query.push_bind(chunk);
    query.push(", parts = NULL, line = v.column2, humans = v.column3, bots = v.column4 FROM (");
    let rows = (0_i64..).zip(&new.matches);
    query.rows(rows.map(|(line, (id, humans, bots))| values![id, line, humans, bots]));
    query.push(") AS v WHERE matches.id = v.column1 AND matches.chunk IS NULL");
    let moved = query.build().execute(&mut *tx).await?;
    if moved != new.matches() {
        return Ok(false);
    }
    for table in TABLES {
        let mut query = Sql::new(format!("DELETE FROM {table} WHERE match_id IN "));
        query.list(new.matches.iter().map(|(id, ..)| id));
        query.build().execute(&mut *tx).await?;
    }
    Ok(true)
}
