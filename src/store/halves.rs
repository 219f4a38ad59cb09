//! Matches that are told in two halves.

use sqlx::SqliteConnection;

use super::{
    Recorded, Store, StoreError, Stored,
    ground::{fetch, insert_whole, known, put},
    players::changed,
};
use crate::domain::{Fingerprint, MatchRecord};

/// The most matches of one server and map that are tried as the other half.
const TRIED: i64 = 8;

/// How two halves become one match, the first one first; `None` where they are not.
pub(super) type Join = fn(&MatchRecord, &MatchRecord) -> Option<MatchRecord>;

/// What became of a game that may be half a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    /// It stands alone, so far.
    Whole(Recorded),
    /// It and another are one match now.
    Joined {
        /// Under this id.
        id: i64,
        /// Which the other half had until now.
        instead_of: i64,
    },
}

impl Half {
    /// The match it is, or is part of.
    pub fn id(self) -> i64 {
        match self {
            Self::Whole(Recorded::New(id) | Recorded::Duplicate(id)) | Self::Joined { id, .. } => {
                id
            }
        }
    }
}

impl Store {
    /// Writes a game, joined with its other half where that is on record and ended at most `pause`
    /// milliseconds before it began, or began at most so long after it ended. Both halves count as
    /// on record then: read again, each is a duplicate of the match.
    ///
    /// # Errors
    /// A record that fails its own check, or the database's.
    pub async fn record_half(
        &self,
        record: &MatchRecord,
        pause: i64,
        join: Join,
    ) -> Result<Half, StoreError> {
        let mut tx = self.writer.begin_with("BEGIN IMMEDIATE").await?;
        let half = put_half(&mut tx, record, pause, join).await?;
        tx.commit().await?;
        Ok(half)
    }
}

/// See [`Store::record_half`].
pub(super) async fn put_half(
    tx: &mut SqliteConnection,
    record: &MatchRecord,
    pause: i64,
    join: Join,
) -> Result<Half, StoreError> {
    let fingerprint = Fingerprint::of(record);
    if let Some(id) = known(tx, fingerprint).await? {
        return Ok(Half::Whole(Recorded::Duplicate(id)));
    }
    for other in candidates(tx, record, pause).await? {
        let joined = match other.record.start <= record.start {
            true => join(&other.record, record),
            false => join(record, &other.record),
        };
        if let Some(joined) = joined {
            return replace(tx, fingerprint, &other, &joined).await;
        }
    }
    Ok(Half::Whole(put(tx, record, fingerprint).await?))
}

/// Matches that are no two halves themselves and could be the other half, the nearest first.
async fn candidates(
    tx: &mut SqliteConnection,
    record: &MatchRecord,
    pause: i64,
) -> Result<Vec<Stored>, StoreError> {
    let ids: Vec<i64> = sqlx::query_scalar(
        "SELECT id FROM matches m
         WHERE ended_at BETWEEN ?1 AND ?2 AND server = ?5 AND map = ?6 AND game_type = ?7
           AND (ended_at <= ?3 OR started_at >= ?4)
           AND NOT EXISTS (SELECT 1 FROM match_halves h WHERE h.match_id = m.id)
         ORDER BY abs(started_at - ?3) LIMIT ?8",
    )
    .bind(record.start.plus_millis(-pause).0)
    // No second half is longer than a day.
    .bind(record.end.plus_millis(pause + 86_400_000).0)
    .bind(record.start.0)
    .bind(record.end.0)
    .bind(&record.server)
    .bind(&record.map)
    .bind(&record.game_type)
    .bind(TRIED)
    .fetch_all(&mut *tx)
    .await?;
    let mut found = fetch(tx, &ids).await?;
    found.sort_by_key(|stored| ids.iter().position(|id| *id == stored.id));
    Ok(found)
}

/// Puts the whole match in the place of its half.
async fn replace(
    tx: &mut SqliteConnection,
    half: Fingerprint,
    other: &Stored,
    joined: &MatchRecord,
) -> Result<Half, StoreError> {
    let fingerprint = Fingerprint::of(joined);
    let id = match known(tx, fingerprint).await? {
        // The first half has the same start, and with the same people it looks the same.
        Some(id) if id != other.id => id,
        _ => {
            sqlx::query("UPDATE matches SET fingerprint = randomblob(16) WHERE id = ?")
                .bind(other.id)
                .execute(&mut *tx)
                .await?;
            insert_whole(tx, joined, fingerprint).await?
        }
    };
    let carry = "UPDATE OR IGNORE log_matches SET match_id = ?1 WHERE match_id = ?2";
    sqlx::query(carry)
        .bind(id)
        .bind(other.id)
        .execute(&mut *tx)
        .await?;
    sqlx::query("DELETE FROM matches WHERE id = ?")
        .bind(other.id)
        .execute(&mut *tx)
        .await?;
    for half in [half, other.fingerprint] {
        sqlx::query("INSERT OR IGNORE INTO match_halves (fingerprint, match_id) VALUES (?, ?)")
            .bind(&half.0[..])
            .bind(id)
            .execute(&mut *tx)
            .await?;
    }
    // Somebody may have learned from the half alone.
    changed(tx).await?;
    let instead_of = other.id;
    Ok(Half::Joined { id, instead_of })
}
