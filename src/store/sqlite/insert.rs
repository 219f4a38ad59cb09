//! Writes match records to their tables, with rows of many matches in each statement.

use sqlx::{QueryBuilder, Sqlite, SqliteConnection, query_builder::Separated};

use super::{parts::to_i64, played::count_prediction};
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
    tx: &mut SqliteConnection,
    records: &[(&MatchRecord, Fingerprint)],
) -> Result<Vec<Recorded>, StoreError> {
    let (mut recorded, mut new) = (Vec::with_capacity(records.len()), Vec::new());
    for &(record, fingerprint) in records {
        recorded.push(match known(tx, fingerprint).await? {
            Some(id) => Recorded::Duplicate(id),
            None => {
                let id = insert_head(tx, fingerprint, record, None).await?;
                new.push((id, record));
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
    tx: &mut SqliteConnection,
    record: &MatchRecord,
    fingerprint: Fingerprint,
) -> Result<Recorded, StoreError> {
    insert_as(tx, record, fingerprint, None).await
}

/// Like [`insert_if_new`]. With an id, which no match has, the match gets that one.
pub(super) async fn insert_as(
    tx: &mut SqliteConnection,
    record: &MatchRecord,
    fingerprint: Fingerprint,
    id: Option<i64>,
) -> Result<Recorded, StoreError> {
    if let Some(id) = known(tx, fingerprint).await? {
        return Ok(Recorded::Duplicate(id));
    }
    check(record, fingerprint)?;
    let id = insert_head(tx, fingerprint, record, id).await?;
    insert_parts(tx, &[(id, record)]).await?;
    count_prediction(tx, id, record).await?;
    Ok(Recorded::New(id))
}

/// Writes a match that is not on disk, and returns its id.
pub(super) async fn insert_match(
    tx: &mut SqliteConnection,
    record: &MatchRecord,
    fingerprint: Fingerprint,
) -> Result<i64, StoreError> {
    check(record, fingerprint)?;
    let id = insert_head(tx, fingerprint, record, None).await?;
    insert_parts(tx, &[(id, record)]).await?;
    count_prediction(tx, id, record).await?;
    Ok(id)
}

/// Refuses a record that must not be stored.
pub(super) fn check(record: &MatchRecord, fingerprint: Fingerprint) -> Result<(), StoreError> {
    record.check().map_err(|why| StoreError::BadRecord {
        what: fingerprint.to_string(),
        why,
    })
}

/// The match with this fingerprint, or the one that it is half of.
pub(super) async fn known(
    tx: &mut SqliteConnection,
    fingerprint: Fingerprint,
) -> Result<Option<i64>, StoreError> {
    let query = sqlx::query_scalar(
        "SELECT id FROM matches WHERE fingerprint = ?1
         UNION ALL SELECT match_id FROM match_halves WHERE fingerprint = ?1",
    );
    Ok(query.bind(&fingerprint.0[..]).fetch_optional(tx).await?)
}

/// Writes the row of a match, without its parts.
async fn insert_head(
    tx: &mut SqliteConnection,
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
    let done = sqlx::query(
        "INSERT INTO matches (id, fingerprint, server, started_at, ended_at, log_clock, map, game_type,
                              mode, outcome, winner) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(id)
    .bind(&fingerprint.0[..])
    .bind(&record.server)
    .bind(record.start.0)
    .bind(record.end.0)
    .bind(record.clock.map(to_i64))
    .bind(&record.map)
    .bind(&record.game_type)
    .bind(&record.mode)
    .bind(outcome)
    .bind(winner)
    .execute(tx)
    .await?;
    Ok(done.last_insert_rowid())
}

async fn insert_parts(tx: &mut SqliteConnection, new: &[New<'_>]) -> Result<(), StoreError> {
    insert_mutators_and_teams(tx, new).await?;
    insert_participants(tx, new).await?;
    insert_presence(tx, new).await?;
    insert_roles(tx, new).await?;
    insert_events(tx, new).await
}

async fn insert_mutators_and_teams(
    tx: &mut SqliteConnection,
    new: &[New<'_>],
) -> Result<(), StoreError> {
    let mutators = |&(id, record): &New<'_>| {
        let mutators = record.mutators.clone().into_iter();
        mutators.map(move |mutator| (id, mutator))
    };
    let rows: Vec<(i64, String)> = new.iter().flat_map(mutators).collect();
    let columns = "INSERT INTO match_mutators (match_id, mutator)";
    insert(tx, columns, &rows, |mut row, (id, mutator)| {
        row.push_bind(*id).push_bind(mutator.clone());
    })
    .await?;
    let scores = |&(id, record): &New<'_>| {
        let scores = (0_i64..).zip(record.scores.clone());
        scores.map(move |(team, score)| (id, team, score))
    };
    let rows: Vec<(i64, i64, f64)> = new.iter().flat_map(scores).collect();
    let columns = "INSERT INTO match_teams (match_id, team, score)";
    insert(tx, columns, &rows, |mut row, (id, team, score)| {
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

async fn insert_participants(tx: &mut SqliteConnection, new: &[New<'_>]) -> Result<(), StoreError> {
    let rows: Vec<(i64, i64, &Participant)> = seats(new).collect();
    let columns = "INSERT INTO participants (match_id, seat, kind, player, name, points, kills, deaths, party, left_reason)";
    insert(tx, columns, &rows, |mut row, (id, seat, p)| {
        row.push_bind(*id).push_bind(*seat);
        row.push_bind(p.key.kind.as_str());
        row.push_bind(p.key.id.clone()).push_bind(p.name.clone());
        row.push_bind(p.points).push_bind(p.kills);
        row.push_bind(p.deaths).push_bind(p.party);
        row.push_bind(p.left.map(LeaveReason::as_str));
    })
    .await
}

async fn insert_presence(tx: &mut SqliteConnection, new: &[New<'_>]) -> Result<(), StoreError> {
    let stays = seats(new).flat_map(|(id, seat, p)| {
        let stays = (0_i64..).zip(&p.presence);
        stays.map(move |(stay, presence)| (id, seat, stay, *presence))
    });
    let rows: Vec<(i64, i64, i64, Presence)> = stays.collect();
    let columns = "INSERT INTO presence (match_id, seat, stay, team, from_ms, to_ms)";
    insert(tx, columns, &rows, |mut row, (id, seat, stay, presence)| {
        row.push_bind(*id).push_bind(*seat).push_bind(*stay);
        row.push_bind(presence.team);
        row.push_bind(to_i64(presence.span.from));
        row.push_bind(to_i64(presence.span.to));
    })
    .await
}

async fn insert_roles(tx: &mut SqliteConnection, new: &[New<'_>]) -> Result<(), StoreError> {
    let roles = seats(new).flat_map(|(id, seat, p)| {
        let roles = p.roles.iter();
        roles.map(move |role| (id, seat, role))
    });
    let rows: Vec<(i64, i64, &Role)> = roles.collect();
    let columns = "INSERT INTO roles (match_id, seat, role, team, share)";
    insert(tx, columns, &rows, |mut row, (id, seat, role)| {
        row.push_bind(*id).push_bind(*seat);
        row.push_bind(role.name.clone());
        row.push_bind(role.team).push_bind(role.share);
    })
    .await
}

async fn insert_events(tx: &mut SqliteConnection, new: &[New<'_>]) -> Result<(), StoreError> {
    let events = new.iter().flat_map(|&(id, record)| {
        let events = (0_i64..).zip(&record.events);
        events.map(move |(seq, event)| (id, seq, event))
    });
    let rows: Vec<(i64, i64, &ScoreEvent)> = events.collect();
    let columns = "INSERT INTO score_events (match_id, seq, at_ms, team, points, seat)";
    insert(tx, columns, &rows, |mut row, (id, seq, event)| {
        row.push_bind(*id).push_bind(*seq);
        row.push_bind(to_i64(event.at)).push_bind(event.team);
        row.push_bind(event.points).push_bind(event.by);
    })
    .await
}

/// Writes any number of rows, at most [`ROWS`] per statement. The statement begins with the clause
/// `INSERT INTO table (columns)`.
pub(super) async fn insert<T>(
    tx: &mut SqliteConnection,
    clause: &'static str,
    rows: &[T],
    bind: impl Fn(Separated<'_, Sqlite, &'static str>, &T),
) -> Result<(), StoreError> {
    for chunk in rows.chunks(ROWS) {
        let mut query = QueryBuilder::new(format!("{clause} "));
        query.push_values(chunk, &bind);
        query.build().execute(&mut *tx).await?;
    }
    Ok(())
}
