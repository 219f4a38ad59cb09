//! Matches that are told twice: as two halves of a log, or by the line of a game server and by its log. Each is one
//! match.
//!
//! A match that the line has reported to its end stays as it is, and the log's stands for it from then on. Of a match that
//! broke off on the line, the log has the whole, and replaces it under the same id. What is known from the line alone, the
//! decisions and what was predicted as the teams were picked, belongs to the match in either case.

use std::cmp::Reverse;

use sha2::{Digest, Sha256};

use super::{
    chances,
    insert::{insert_as, insert_if_new, insert_match, known, note_game, remove},
    read_matches::fetch,
};
use crate::{
    ingest::same_match::{is_same_match, overlap},
    model::{
        MatchRecord, Outcome, fingerprint::Fingerprint, match_chances::MatchChances, time::DAY,
    },
    store::{
        HalfRecorded, JoinHalves, Recorded, StoreError, StoredMatch, corrections::changed, db::*,
    },
};

/// The most matches of one server and map that are tried as the other half.
const TRIED: i64 = 8;

/// Does what [`Matches::record_half`](crate::store::Matches::record_half) does, within a
/// transaction.
pub(super) async fn insert_half(
    tx: &mut PooledConnection,
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
    tx: &mut PooledConnection,
    record: &MatchRecord,
    pause: i64,
) -> Result<Vec<StoredMatch>, StoreError> {
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
    tx: &mut PooledConnection,
    half: Fingerprint,
    other: &StoredMatch,
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

/// The most matches at the same time that are compared.
const TRIED_TWINS: i64 = 32;
/// The longest match that is found, in milliseconds.
const LONGEST: i64 = DAY;

/// What the matches that may be the same have to be.
const REPORTED: &str = "m.game IS NOT NULL";
const LOGGED: &str = "m.game IS NULL";

/// Whether game servers have reported any match at the time of these records. If not, none of them is such a match.
pub(super) async fn any_reported(
    tx: &mut PooledConnection,
    records: impl Iterator<Item = &MatchRecord> + Clone,
) -> Result<bool, StoreError> {
    let (first, last) = (
        records.clone().map(|record| record.start).min(),
        records.map(|record| record.end).max(),
    );
    let (Some(first), Some(last)) = (first, last) else {
        return Ok(false);
    };
    let query = scalar(
        "SELECT EXISTS (SELECT 1 FROM matches m WHERE ended_at > $1 AND ended_at <= $2
             AND game IS NOT NULL)",
    );
    let query = query.bind(first).bind(last.plus_millis(LONGEST));
    query.fetch_one(tx).await
}

/// Finds out whether a match of a log is one that the line has reported, and if so, notes it. `None` if the match is on
/// disk under its fingerprint, or was not reported.
pub(super) async fn settle_logged(
    tx: &mut PooledConnection,
    record: &MatchRecord,
    fingerprint: Fingerprint,
) -> Result<Option<Recorded>, StoreError> {
    if known(tx, fingerprint).await?.is_some() {
        return Ok(None);
    }
    let Some(twin) = find_twin(tx, record, REPORTED).await? else {
        return Ok(None);
    };
    let broke_off = |record: &MatchRecord| record.outcome == Outcome::Abandoned;
    if !broke_off(&twin.record) || broke_off(record) {
        stand_for(tx, fingerprint, twin.id).await?;
        return Ok(Some(Recorded::Duplicate(twin.id)));
    }
    replace_twins(tx, record, fingerprint, &twin).await?;
    Ok(Some(Recorded::New(twin.id)))
}

/// The match of a log that is the one that the line reports now, if there is one.
pub(super) async fn logged(
    tx: &mut PooledConnection,
    record: &MatchRecord,
) -> Result<Option<i64>, StoreError> {
    Ok(find_twin(tx, record, LOGGED).await?.map(|twin| twin.id))
}

/// The match of this kind that is the same as the record; of several, the one that overlaps it longest.
async fn find_twin(
    tx: &mut PooledConnection,
    record: &MatchRecord,
    kind: &'static str,
) -> Result<Option<StoredMatch>, StoreError> {
    let mut query = Sql::new(
        "SELECT id FROM matches m WHERE ended_at > $1 AND ended_at <= $2 AND started_at < $3
           AND lower(game_type) = lower($4) AND (server = $5 OR server = '' OR $5 = '') AND ",
    );
    query.push(kind).push(" ORDER BY ended_at LIMIT $6");
    let ids: Vec<i64> = query
        .build_scalar()
        .bind(record.start)
        .bind(record.end.plus_millis(LONGEST))
        .bind(record.end)
        .bind(&record.game_type)
        .bind(&record.server)
        .bind(TRIED_TWINS)
        .fetch_all(&mut *tx)
        .await?;
    let found = fetch(tx, &ids).await?;
    let same = found
        .into_iter()
        .filter(|twin| is_same_match(&twin.record, record));
    Ok(same.min_by_key(|twin| (Reverse(overlap(&twin.record, record)), twin.id)))
}

/// Notes that a match of this fingerprint is one that is on disk.
async fn stand_for(
    tx: &mut PooledConnection,
    fingerprint: Fingerprint,
    id: i64,
) -> Result<(), StoreError> {
    let note = sql(
        "INSERT INTO match_halves (fingerprint, match_id) VALUES ($1, $2) ON CONFLICT DO NOTHING",
    );
    note.bind(fingerprint).bind(id).execute(tx).await.map(drop)
}

/// Replaces a match that broke off by the whole one, which keeps its id, its server, and what the line alone knows.
async fn replace_twins(
    tx: &mut PooledConnection,
    record: &MatchRecord,
    fingerprint: Fingerprint,
    twin: &StoredMatch,
) -> Result<(), StoreError> {
    let game: Option<i64> = scalar("SELECT game FROM matches WHERE id = $1")
        .bind(twin.id)
        .fetch_one(&mut *tx)
        .await?;
    let announced = chances::read_summary(tx, twin.id).await?;
    remove(tx, twin.id).await?;
    let mut whole = record.clone();
    if whole.server.is_empty() {
        whole.server.clone_from(&twin.record.server);
    }
    let recorded = insert_as(tx, &whole, fingerprint, Some(twin.id)).await?;
    let announced = MatchChances {
        picked: announced.picked,
        started: announced.started,
        changes: Vec::new(), // they name seats of the record that is gone
    };
    chances::insert(tx, recorded, &whole, &announced).await?;
    if let Some(game) = game {
        note_game(tx, game, twin.id).await?;
    }
    stand_for(tx, twin.fingerprint, twin.id).await?;
    changed(tx).await
}
