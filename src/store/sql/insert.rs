//! Writes match records to their tables, with rows of many matches in each statement.

use std::borrow::Cow;

use sqlx::{QueryBuilder, query_builder::Separated};

use super::{Db, DbConnection, parts::to_i64, played::count_prediction, storable};
use crate::{
    domain::{
        Fingerprint, LeaveReason, MatchRecord, Outcome, Participant, Presence, Role, ScoreEvent,
    },
    store::{Recorded, StoreError},
};

/// Rows per statement: at most 15 values each, far below SQLite's limit of 32,766 parameters.
pub(super) const ROWS: usize = 1_000;

/// A match that already has an id, and whose parts must still be written.
type New<'a> = (i64, &'a MatchRecord);

/// Writes each match unless it is on disk already, as a match or as half of another.
pub(super) async fn insert_matches(
    tx: &mut DbConnection,
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
    tx: &mut DbConnection,
    record: &MatchRecord,
    fingerprint: Fingerprint,
) -> Result<Recorded, StoreError> {
    insert_as(tx, record, fingerprint, None).await
}

/// Like [`insert_if_new`]. With an id, which no match has, the match gets that one.
pub(super) async fn insert_as(
    tx: &mut DbConnection,
    record: &MatchRecord,
    fingerprint: Fingerprint,
    id: Option<i64>,
) -> Result<Recorded, StoreError> {
    if let Some(id) = known(tx, fingerprint).await? {
        return Ok(Recorded::Duplicate(id));
    }
    let record = checked(record, fingerprint)?;
    let id = insert_checked(tx, &record, fingerprint, id).await?;
    Ok(Recorded::New(id))
}

/// Writes a match that is not on disk, and returns its id.
pub(super) async fn insert_match(
    tx: &mut DbConnection,
    record: &MatchRecord,
    fingerprint: Fingerprint,
) -> Result<i64, StoreError> {
    let record = checked(record, fingerprint)?;
    insert_checked(tx, &record, fingerprint, None).await
}

async fn insert_checked(
    tx: &mut DbConnection,
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
    record: &MatchRecord,
    fingerprint: Fingerprint,
) -> Result<Cow<'_, MatchRecord>, StoreError> {
    let record = storable(record);
    record.check().map_err(|why| StoreError::BadRecord {
        what: fingerprint.to_string(),
        why,
    })?;
    Ok(record)
}

/// The match with this fingerprint, or the one that it is half of.
pub(super) async fn known(
    tx: &mut DbConnection,
    fingerprint: Fingerprint,
) -> Result<Option<i64>, StoreError> {
    let query = sqlx::query_scalar(
        "SELECT id FROM matches WHERE fingerprint = $1
         UNION ALL SELECT match_id FROM match_halves WHERE fingerprint = $1",
    );
    Ok(query.bind(&fingerprint.0[..]).fetch_optional(tx).await?)
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
    tx: &mut DbConnection,
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
    let query = sqlx::query_scalar(insert)
        .bind(&fingerprint.0[..])
        .bind(&record.server)
        .bind(record.start.0)
        .bind(record.end.0)
        .bind(record.clock.map(to_i64))
        .bind(&record.map)
        .bind(&record.game_type)
        .bind(&record.mode)
        .bind(outcome)
        .bind(winner.map(i64::from))
        .bind(record.untimed);
    let query = match id {
        Some(id) => query.bind(id),
        None => query,
    };
    Ok(query.fetch_one(tx).await?)
}

async fn insert_parts(tx: &mut DbConnection, new: &[New<'_>]) -> Result<(), StoreError> {
    insert_mutators_and_teams(tx, new).await?;
    insert_participants(tx, new).await?;
    insert_presence(tx, new).await?;
    insert_roles(tx, new).await?;
    insert_events(tx, new).await
}

async fn insert_mutators_and_teams(
    tx: &mut DbConnection,
    new: &[New<'_>],
) -> Result<(), StoreError> {
    let mutators = |&(id, record): &New<'_>| {
        let mutators = record.mutators.clone().into_iter();
        mutators.map(move |mutator| (id, mutator))
    };
    let rows: Vec<(i64, String)> = new.iter().flat_map(mutators).collect();
    let columns = "INSERT INTO match_mutators (match_id, mutator)";
    insert(tx, columns, "", &rows, |mut row, (id, mutator)| {
        row.push_bind(*id).push_bind(mutator.clone());
    })
    .await?;
    let scores = |&(id, record): &New<'_>| {
        let scores = (0_i64..).zip(record.scores.clone());
        scores.map(move |(team, score)| (id, team, score))
    };
    let rows: Vec<(i64, i64, f64)> = new.iter().flat_map(scores).collect();
    let columns = "INSERT INTO match_teams (match_id, team, score)";
    insert(tx, columns, "", &rows, |mut row, (id, team, score)| {
        row.push_bind(*id).push_bind(*team).push_bind(*score);
    })
    .await
}

/// Every participant of every match, with the match's id and the seat.
fn seats<'a>(new: &'a [New<'_>]) -> impl Iterator<Item = (i64, i64, &'a Participant)> {
    new.iter().flat_map(|&(id, record)| {
        let seats = (0_i64..).zip(&record.participants);
        seats.map(move |(seat, participant)| (id, seat, participant))
    })
}

async fn insert_participants(tx: &mut DbConnection, new: &[New<'_>]) -> Result<(), StoreError> {
    let rows: Vec<(i64, i64, &Participant)> = seats(new).collect();
    let columns = "INSERT INTO participants (match_id, seat, kind, player, name, points, kills, deaths, party, left_reason)";
    insert(tx, columns, "", &rows, |mut row, (id, seat, p)| {
        row.push_bind(*id).push_bind(*seat);
        row.push_bind(p.key.kind.as_str());
        row.push_bind(p.key.id.clone()).push_bind(p.name.clone());
        row.push_bind(p.points).push_bind(i64::from(p.kills));
        row.push_bind(i64::from(p.deaths));
        row.push_bind(p.party.map(i64::from));
        row.push_bind(p.left.map(LeaveReason::as_str));
    })
    .await
}

async fn insert_presence(tx: &mut DbConnection, new: &[New<'_>]) -> Result<(), StoreError> {
    let stays = seats(new).flat_map(|(id, seat, p)| {
        let stays = (0_i64..).zip(&p.presence);
        stays.map(move |(stay, presence)| (id, seat, stay, *presence))
    });
    let rows: Vec<(i64, i64, i64, Presence)> = stays.collect();
    let columns = "INSERT INTO presence (match_id, seat, stay, team, from_ms, to_ms)";
    insert(
        tx,
        columns,
        "",
        &rows,
        |mut row, (id, seat, stay, presence)| {
            row.push_bind(*id).push_bind(*seat).push_bind(*stay);
            row.push_bind(i64::from(presence.team));
            row.push_bind(to_i64(presence.span.from));
            row.push_bind(to_i64(presence.span.to));
        },
    )
    .await
}

async fn insert_roles(tx: &mut DbConnection, new: &[New<'_>]) -> Result<(), StoreError> {
    let roles = seats(new).flat_map(|(id, seat, p)| {
        let roles = p.roles.iter();
        roles.map(move |role| (id, seat, role))
    });
    let rows: Vec<(i64, i64, &Role)> = roles.collect();
    let columns = "INSERT INTO roles (match_id, seat, role, team, share)";
    insert(tx, columns, "", &rows, |mut row, (id, seat, role)| {
        row.push_bind(*id).push_bind(*seat);
        row.push_bind(role.name.clone());
        row.push_bind(i64::from(role.team)).push_bind(role.share);
    })
    .await
}

async fn insert_events(tx: &mut DbConnection, new: &[New<'_>]) -> Result<(), StoreError> {
    let events = new.iter().flat_map(|&(id, record)| {
        let events = (0_i64..).zip(&record.events);
        events.map(move |(seq, event)| (id, seq, event))
    });
    let rows: Vec<(i64, i64, &ScoreEvent)> = events.collect();
    let columns = "INSERT INTO score_events (match_id, seq, at_ms, team, points, seat)";
    insert(tx, columns, "", &rows, |mut row, (id, seq, event)| {
        row.push_bind(*id).push_bind(*seq);
        row.push_bind(to_i64(event.at));
        row.push_bind(i64::from(event.team));
        row.push_bind(event.points);
        row.push_bind(event.by.map(i64::from));
    })
    .await
}

/// Writes any number of rows, at most [`ROWS`] per statement. The statement begins with the clause
/// `INSERT INTO table (columns)`, and ends with what is done about rows that exist already.
pub(super) async fn insert<T>(
    tx: &mut DbConnection,
    clause: &'static str,
    conflict: &'static str,
    rows: &[T],
    bind: impl Fn(Separated<'_, Db, &'static str>, &T),
) -> Result<(), StoreError> {
    for chunk in rows.chunks(ROWS) {
        let mut query = QueryBuilder::new(format!("{clause} "));
        query.push_values(chunk, &bind).push(conflict);
        query.build().execute(&mut *tx).await?;
    }
    Ok(())
}
