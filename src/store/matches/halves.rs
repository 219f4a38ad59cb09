//! Matches whose log contains them as two halves.

use sha2::{Digest, Sha256};

use super::{
    insert::{insert_if_new, insert_match, known, remove},
    read_matches::fetch,
    twins::{settle_logged, stand_for},
};
use crate::{
    model::{DAY, Fingerprint, MatchRecord},
    store::{
        HalfRecorded, JoinHalves, Recorded, StoreError, Stored, corrections::players::changed,
        db::*,
    },
};

/// The most matches of one server and map that are tried as the other half.
const TRIED: i64 = 8;

/// Does what [`Matches::record_half`](crate::store::Matches::record_half) does, within a
/// transaction.
pub(super) async fn insert_half(
    tx: &mut Connection,
    record: &MatchRecord,
    fingerprint: Fingerprint,
    pause: i64,
    join: JoinHalves,
) -> Result<HalfRecorded, StoreError> {
    if let Some(id) = known(tx, fingerprint).await? {
        return Ok(HalfRecorded::Alone(Recorded::Duplicate(id)));
    }
    if let Some(reported) = settle_logged(tx, record, fingerprint).await? {
        return Ok(HalfRecorded::Alone(reported));
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
    Ok(HalfRecorded::Alone(
        insert_if_new(tx, record, fingerprint).await?,
    ))
}

/// Matches that could be the other half, the nearest in time first. Excludes matches that were
/// joined already.
async fn candidates(
    tx: &mut Connection,
    record: &MatchRecord,
    pause: i64,
) -> Result<Vec<Stored>, StoreError> {
    let ids: Vec<i64> = scalar(
        "SELECT id FROM matches m
         WHERE ended_at BETWEEN $1 AND $2 AND server = $5 AND map = $6 AND game_type = $7
           AND (ended_at <= $3 OR started_at >= $4)
           AND NOT EXISTS (SELECT 1 FROM match_halves h WHERE h.match_id = m.id)
         ORDER BY abs(julianday(started_at) - julianday($3)) LIMIT $8",
    )
    .bind(record.start.plus_millis(-pause))
    // A second half lasts at most a day.
    .bind(record.end.plus_millis(pause + DAY))
    .bind(record.start)
    .bind(record.end)
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

/// A fingerprint that no match has, for the row of a half until it is removed.
fn unused_fingerprint(id: i64) -> [u8; 16] {
    let digest: [u8; 32] = Sha256::digest(format!("half {id}")).into();
    std::array::from_fn(|at| digest[at])
}

/// Replaces the half that is on disk by the joined match.
async fn replace(
    tx: &mut Connection,
    half: Fingerprint,
    other: &Stored,
    joined: &MatchRecord,
) -> Result<HalfRecorded, StoreError> {
    let fingerprint = Fingerprint::of(joined);
    let id = match known(tx, fingerprint).await? {
        // The first half has the same start; if it also has the same players, it has the same
        // fingerprint.
        Some(id) if id != other.id => id,
        _ => {
            sql("UPDATE matches SET fingerprint = $2 WHERE id = $1")
                .bind(other.id)
                .bind(&unused_fingerprint(other.id)[..])
                .execute(&mut *tx)
                .await?;
            insert_match(tx, joined, fingerprint).await?
        }
    };
    let carry = "INSERT INTO log_matches (log, match_id)
         SELECT log, $1 FROM log_matches WHERE match_id = $2 ON CONFLICT DO NOTHING";
    sql(carry).bind(id).bind(other.id).execute(&mut *tx).await?;
    remove(tx, other.id).await?;
    for half in [half, other.fingerprint] {
        stand_for(tx, half, id).await?;
    }
    // Existing weights may have been derived from only one half.
    changed(tx).await?;
    let instead_of = other.id;
    Ok(HalfRecorded::Joined { id, instead_of })
}
