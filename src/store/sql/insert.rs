//! Writes match records to their tables, with rows of many matches in each statement.

use std::borrow::Cow;

use futures_util::{FutureExt, future::BoxFuture};

use super::played::count_prediction;
use crate::{
    domain::{Fingerprint, LeaveReason, MatchRecord, Outcome, Participant},
    store::{Recorded, StoreError, db::*},
};

/// Rows per statement: at most 15 values each, far below SQLite's limit of 32,766 parameters.
pub(in crate::store) const ROWS: usize = 1_000;

/// A match that already has an id, and whose parts must still be written.
type New<'a> = (i64, &'a MatchRecord);

/// Writes each match unless it is on disk already, as a match or as half of another.
pub(super) async fn insert_matches(
    tx: &mut Connection,
    records: &[(Cow<'_, MatchRecord>, Fingerprint)],
) -> Result<Vec<Recorded>, StoreError> {
    let (mut recorded, mut new) = (Vec::with_capacity(records.len()), Vec::new());
    for (record, fingerprint) in records {
        recorded.push(match known(tx, *fingerprint).await? {
            Some(id) => Recorded::Duplicate(id),
            None => {
                let id = insert_head(tx, *fingerprint, record, None).await?;
                new.push((id, &**record));
                Recorded::New(id)
            }
        });
    }
    insert_parts(tx, &new).await?;
    for (id, record) in new {
        count_prediction(tx, id, record).await?;
    }
    Ok(recorded)
}

/// Writes a match unless it is on disk already, as a match or as half of another.
pub(super) async fn insert_if_new(
    tx: &mut Connection,
    record: &MatchRecord,
    fingerprint: Fingerprint,
) -> Result<Recorded, StoreError> {
    insert_as(tx, record, fingerprint, None).await
}

/// Like [`insert_if_new`]. With an id, which no match has, the match gets that one.
pub(super) async fn insert_as(
    tx: &mut Connection,
    record: &MatchRecord,
    fingerprint: Fingerprint,
    id: Option<i64>,
) -> Result<Recorded, StoreError> {
    if let Some(id) = known(tx, fingerprint).await? {
        return Ok(Recorded::Duplicate(id));
    }
    let record = checked(tx.dialect(), record, fingerprint)?;
    let id = insert_checked(tx, &record, fingerprint, id).await?;
    Ok(Recorded::New(id))
}

/// Writes a match that is not on disk, and returns its id.
pub(super) async fn insert_match(
    tx: &mut Connection,
    record: &MatchRecord,
    fingerprint: Fingerprint,
) -> Result<i64, StoreError> {
    let record = checked(tx.dialect(), record, fingerprint)?;
    insert_checked(tx, &record, fingerprint, None).await
}

async fn insert_checked(
    tx: &mut Connection,
    record: &MatchRecord,
    fingerprint: Fingerprint,
    id: Option<i64>,
) -> Result<i64, StoreError> {
    let id = insert_head(tx, fingerprint, record, id).await?;
    insert_parts(tx, &[(id, record)]).await?;
    count_prediction(tx, id, record).await?;
    Ok(id)
}

/// The record as this database can store it. Refuses one that must not be stored.
pub(super) fn checked(
    dialect: Dialect,
    record: &MatchRecord,
    fingerprint: Fingerprint,
) -> Result<Cow<'_, MatchRecord>, StoreError> {
    let record = dialect.storable(record);
    record.check().map_err(|why| StoreError::BadRecord {
        what: fingerprint.to_string(),
        why,
    })?;
    Ok(record)
}

/// The match with this fingerprint, or the one that it is half of.
pub(super) async fn known(
    tx: &mut Connection,
    fingerprint: Fingerprint,
) -> Result<Option<i64>, StoreError> {
    let query = scalar(
        "SELECT id FROM matches WHERE fingerprint = $1
         UNION ALL SELECT match_id FROM match_halves WHERE fingerprint = $1",
    );
    query.bind(&fingerprint.0[..]).fetch_optional(tx).await
}

/// The statement that writes the row of a match and returns its id, with one more column.
macro_rules! head {
    ($column:literal, $value:literal) => {
        concat!(
            "INSERT INTO matches (",
            $column,
            "fingerprint, server, started_at, ended_at, log_clock, map, game_type, mode, outcome,
                 winner, untimed)
             VALUES (",
            $value,
            "$1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) RETURNING id"
        )
    };
}

/// Writes the row of a match, without its parts.
async fn insert_head(
    tx: &mut Connection,
    fingerprint: Fingerprint,
    record: &MatchRecord,
    id: Option<i64>,
) -> Result<i64, StoreError> {
    let (outcome, winner) = match record.outcome {
        Outcome::Won(team) => ("won", Some(team)),
        Outcome::Draw => ("draw", None),
        Outcome::Undecided => ("undecided", None),
        Outcome::Abandoned => ("abandoned", None),
    };
    let insert = match id {
        Some(_) => head!("id, ", "$12, "),
        None => head!("", ""),
    };
    let own = values![
        fingerprint,
        &record.server,
        record.start,
        record.end,
        record.clock,
        &record.map,
        &record.game_type,
        &record.mode,
        outcome,
        winner,
        record.untimed,
    ];
    let query = scalar(insert).bind_all(own);
    let query = query.bind_all(id.map(Value::from));
    query.fetch_one(tx).await
}

async fn insert_parts(tx: &mut Connection, new: &[New<'_>]) -> Result<(), StoreError> {
    insert_mutators_and_teams(tx, new).await?;
    insert_participants(tx, new).await?;
    insert_presence(tx, new).await?;
    insert_roles(tx, new).await?;
    insert_events(tx, new).await
}

async fn insert_mutators_and_teams(tx: &mut Connection, new: &[New<'_>]) -> Result<(), StoreError> {
    let mutators = new.iter().flat_map(|&(id, record)| {
        let mutators = record.mutators.iter();
        mutators.map(move |mutator| values![id, mutator])
    });
    let table = "INSERT INTO match_mutators (match_id, mutator)";
    insert(tx, table, "", mutators).await?;
    let scores = new.iter().flat_map(|&(id, record)| {
        let scores = (0_i64..).zip(&record.scores);
        scores.map(move |(team, score)| values![id, team, *score])
    });
    let table = "INSERT INTO match_teams (match_id, team, score)";
    insert(tx, table, "", scores).await
}

/// Every participant of every match, with the match's id and the seat.
fn seats<'a>(new: &'a [New<'_>]) -> impl Iterator<Item = (i64, i64, &'a Participant)> {
    new.iter().flat_map(|&(id, record)| {
        let seats = (0_i64..).zip(&record.participants);
        seats.map(move |(seat, participant)| (id, seat, participant))
    })
}

async fn insert_participants(tx: &mut Connection, new: &[New<'_>]) -> Result<(), StoreError> {
    let table = "INSERT INTO participants
         (match_id, seat, kind, player, name, points, kills, deaths, party, left_reason)";
    let rows = seats(new).map(|(id, seat, p)| {
        let left = p.left.map(LeaveReason::as_str);
        values![
            id, seat, p.key.kind, &p.key.id, &p.name, p.points, p.kills, p.deaths, p.party, left
        ]
    });
    insert(tx, table, "", rows).await
}

async fn insert_presence(tx: &mut Connection, new: &[New<'_>]) -> Result<(), StoreError> {
    let table = "INSERT INTO presence (match_id, seat, stay, team, from_ms, to_ms)";
    let rows = seats(new).flat_map(|(id, seat, p)| {
        let stays = (0_i64..).zip(&p.presence);
        stays.map(move |(stay, own)| values![id, seat, stay, own.team, own.span.from, own.span.to])
    });
    insert(tx, table, "", rows).await
}

async fn insert_roles(tx: &mut Connection, new: &[New<'_>]) -> Result<(), StoreError> {
    let table = "INSERT INTO roles (match_id, seat, role, team, share)";
    let rows = seats(new).flat_map(|(id, seat, p)| {
        let roles = p.roles.iter();
        roles.map(move |role| values![id, seat, &role.name, role.team, role.share])
    });
    insert(tx, table, "", rows).await
}

async fn insert_events(tx: &mut Connection, new: &[New<'_>]) -> Result<(), StoreError> {
    let table = "INSERT INTO score_events (match_id, seq, at_ms, team, points, seat)";
    let rows = new.iter().flat_map(|&(id, record)| {
        let events = (0_i64..).zip(&record.events);
        events
            .map(move |(seq, event)| values![id, seq, event.at, event.team, event.points, event.by])
    });
    insert(tx, table, "", rows).await
}

/// Writes any number of rows, at most [`ROWS`] per statement. The statement begins with the clause
/// `INSERT INTO table (columns)`, and ends with what is done about rows that exist already.
pub(super) fn insert<'a>(
    tx: &'a mut Connection,
    clause: &'static str,
    conflict: &'static str,
    rows: impl Iterator<Item = Vec<Value>> + Send + 'a,
) -> BoxFuture<'a, Result<(), StoreError>> {
    let mut rows = rows.peekable();
    let all = async move {
        while rows.peek().is_some() {
            let mut query = Sql::new(clause);
            let some = rows.by_ref().take(ROWS);
            query.push(" ").rows(some).push(conflict);
            query.build().execute(&mut *tx).await?;
        }
        Ok(())
    };
    all.boxed()
}
