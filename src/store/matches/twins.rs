//! Matches that both a game server's line and its log report: each is one match.
//!
//! A match that the line has reported to its end stays as it is, and the log's stands for it from then on. Of a match that
//! broke off on the line, the log has the whole, and replaces it under the same id. What is known from the line alone, the
//! decisions and what was predicted as the teams were picked, belongs to the match in either case.

use std::cmp::Reverse;

use super::{
    chances,
    insert::{insert_as, known, note_game, remove},
    read_matches::fetch,
};
use crate::{
    ingest::{is_same_match, overlap},
    model::{DAY, Fingerprint, MatchChances, MatchRecord, Outcome},
    store::{Recorded, StoreError, Stored, corrections::players::changed, db::*},
};

/// The most matches at the same time that are compared.
const TRIED: i64 = 32;
/// The longest match that is found, in milliseconds.
const LONGEST: i64 = DAY;

/// What the matches that may be the same have to be.
const REPORTED: &str = "m.game IS NOT NULL";
const LOGGED: &str = "m.game IS NULL";

/// Whether game servers have reported any match at the time of these records. If not, none of them is such a match.
pub(super) async fn any_reported(
    tx: &mut Connection,
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
    tx: &mut Connection,
    record: &MatchRecord,
    fingerprint: Fingerprint,
) -> Result<Option<Recorded>, StoreError> {
    if known(tx, fingerprint).await?.is_some() {
        return Ok(None);
    }
    let Some(twin) = find(tx, record, REPORTED).await? else {
        return Ok(None);
    };
    let broke_off = |record: &MatchRecord| record.outcome == Outcome::Abandoned;
    if !broke_off(&twin.record) || broke_off(record) {
        stand_for(tx, fingerprint, twin.id).await?;
        return Ok(Some(Recorded::Duplicate(twin.id)));
    }
    replace(tx, record, fingerprint, &twin).await?;
    Ok(Some(Recorded::New(twin.id)))
}

/// The match of a log that is the one that the line reports now, if there is one.
pub(super) async fn logged(
    tx: &mut Connection,
    record: &MatchRecord,
) -> Result<Option<i64>, StoreError> {
    Ok(find(tx, record, LOGGED).await?.map(|twin| twin.id))
}

/// The match of this kind that is the same as the record; of several, the one that overlaps it longest.
async fn find(
    tx: &mut Connection,
    record: &MatchRecord,
    kind: &'static str,
) -> Result<Option<Stored>, StoreError> {
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
        .bind(TRIED)
        .fetch_all(&mut *tx)
        .await?;
    let found = fetch(tx, &ids).await?;
    let same = found
        .into_iter()
        .filter(|twin| is_same_match(&twin.record, record));
    Ok(same.min_by_key(|twin| (Reverse(overlap(&twin.record, record)), twin.id)))
}

/// Notes that a match of this fingerprint is one that is on disk.
pub(super) async fn stand_for(
    tx: &mut Connection,
    fingerprint: Fingerprint,
    id: i64,
) -> Result<(), StoreError> {
    let note = sql(
        "INSERT INTO match_halves (fingerprint, match_id) VALUES ($1, $2) ON CONFLICT DO NOTHING",
    );
    note.bind(fingerprint).bind(id).execute(tx).await.map(drop)
}

/// Replaces a match that broke off by the whole one, which keeps its id, its server, and what the line alone knows.
async fn replace(
    tx: &mut Connection,
    record: &MatchRecord,
    fingerprint: Fingerprint,
    twin: &Stored,
) -> Result<(), StoreError> {
    let game: Option<i64> = scalar("SELECT game FROM matches WHERE id = $1")
        .bind(twin.id)
        .fetch_one(&mut *tx)
        .await?;
    let told = chances::read_summary(tx, twin.id).await?;
    remove(tx, twin.id).await?;
    let mut whole = record.clone();
    if whole.server.is_empty() {
        whole.server.clone_from(&twin.record.server);
    }
    let recorded = insert_as(tx, &whole, fingerprint, Some(twin.id)).await?;
    let told = MatchChances {
        picked: told.picked,
        started: told.started,
        changes: Vec::new(), // they name seats of the record that is gone
    };
    chances::insert(tx, recorded, &whole, &told).await?;
    if let Some(game) = game {
        note_game(tx, game, twin.id).await?;
    }
    stand_for(tx, twin.fingerprint, twin.id).await?;
    changed(tx).await
}
