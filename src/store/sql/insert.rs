//! Writes match records to their tables, with rows of many matches in each statement.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use futures_util::{FutureExt, future::BoxFuture};

use super::{
    parts::stored_parts,
    played::count_predictions,
    rows::{Target, insert, write},
};
use crate::{
    domain::{Fingerprint, LeaveReason, MatchRecord, Outcome, Participant},
    store::{Recorded, StoreError, db::*, sql::rows::ROWS},
};

/// A match that is not on disk yet.
struct NewMatch<'a> {
    fingerprint: Fingerprint,
    /// As this database can store it.
    record: &'a MatchRecord,
    /// The id that it gets; `None` for the next free one.
    id: Option<i64>,
}

impl<'a> NewMatch<'a> {
    /// A match that gets the next free id.
    fn new(fingerprint: Fingerprint, record: &'a MatchRecord) -> Self {
        Self {
            fingerprint,
            record,
            id: None,
        }
    }
}

/// A match, and the id with which its parts are written.
pub(super) type New<'a> = (i64, &'a MatchRecord);

/// Writes each match unless it is on disk already, as a match or as half of another.
pub(super) async fn insert_matches(
    tx: &mut Connection,
    records: &[(Cow<'_, MatchRecord>, Fingerprint)],
) -> Result<Vec<Recorded>, StoreError> {
    let prints: Vec<Fingerprint> = records.iter().map(|&(_, print)| print).collect();
    let mut on_disk = known_all(tx, &prints).await?;
    let mut seen = HashSet::new();
    let new: Vec<NewMatch<'_>> = records
        .iter()
        .filter(|(_, print)| !on_disk.contains_key(print) && seen.insert(*print))
        .map(|(record, print)| NewMatch::new(*print, record))
        .collect();
    let mut written = insert_new(tx, &new).await?;
    let mut recorded = Vec::with_capacity(records.len());
    for (_, print) in records {
        recorded.push(match written.remove(print) {
            Some(id) => {
                on_disk.insert(*print, id);
                Recorded::New(id)
            }
            None => Recorded::Duplicate(id_of(&on_disk, *print)?),
        });
    }
    Ok(recorded)
}

/// Writes matches that are not on disk, and have different fingerprints. Returns their ids.
fn insert_new<'a>(
    tx: &'a mut Connection,
    new: &'a [NewMatch<'a>],
) -> BoxFuture<'a, Result<HashMap<Fingerprint, i64>, StoreError>> {
    let written = async move {
        let ids = insert_heads(tx, new).await?;
        let mut with_ids: Vec<New<'_>> = Vec::with_capacity(new.len());
        for one in new {
            with_ids.push((id_of(&ids, one.fingerprint)?, one.record));
        }
        insert_parts(tx, &with_ids).await?;
        count_predictions(tx, &with_ids).await?;
        Ok(ids)
    };
    written.boxed()
}

/// The id of a match that was read or written.
fn id_of(ids: &HashMap<Fingerprint, i64>, print: Fingerprint) -> Result<i64, StoreError> {
    let id = ids.get(&print).copied();
    id.ok_or_else(|| StoreError::from(sqlx::Error::RowNotFound))
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
    let new = NewMatch {
        fingerprint,
        record: &record,
        id,
    };
    let ids = insert_new(tx, &[new]).await?;
    Ok(Recorded::New(id_of(&ids, fingerprint)?))
}

/// Writes a match that is not on disk, and returns its id.
pub(super) async fn insert_match(
    tx: &mut Connection,
    record: &MatchRecord,
    fingerprint: Fingerprint,
) -> Result<i64, StoreError> {
    let record = checked(tx.dialect(), record, fingerprint)?;
    let ids = insert_new(tx, &[NewMatch::new(fingerprint, &record)]).await?;
    id_of(&ids, fingerprint)
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
    let found = known_all(tx, &[fingerprint]).await?;
    Ok(found.get(&fingerprint).copied())
}

/// Those of these fingerprints that a match has, or half of one, each with the match's id.
async fn known_all(
    tx: &mut Connection,
    prints: &[Fingerprint],
) -> Result<HashMap<Fingerprint, i64>, StoreError> {
    let mut found = HashMap::new();
    for some in prints.chunks(ROWS) {
        for table in [
            "SELECT fingerprint, id FROM matches WHERE fingerprint IN ",
            "SELECT fingerprint, match_id FROM match_halves WHERE fingerprint IN ",
        ] {
            let mut query = Sql::new(table);
            query.list(some.iter().copied());
            let rows: Vec<(Fingerprint, i64)> = query.build_tuple().fetch_all(&mut *tx).await?;
            for (print, id) in rows {
                found.entry(print).or_insert(id);
            }
        }
    }
    Ok(found)
}

/// The columns of a match without its id.
macro_rules! head_columns {
    () => {
        "fingerprint, server, started_at, ended_at, log_clock, map, game_type, mode, outcome, winner, untimed, parts"
    };
}
pub(super) use head_columns;

const HEADS: Target = Target::new("matches", head_columns!());
const HEADS_WITH_ID: Target = Target::new("matches", concat!(head_columns!(), ", id"));
pub(super) const MUTATORS: Target = Target::new("match_mutators", "match_id, mutator");
pub(super) const TEAMS: Target = Target::new("match_teams", "match_id, team, score");
pub(super) const PARTICIPANTS: Target = Target::new(
    "participants",
    "match_id, seat, kind, player, name, points, kills, deaths, party, left_reason",
);
/// Which match a game has become.
pub(super) const MATCH_GAMES: Target = Target::new("match_games", "game, match_id");
pub(super) const ROLES: Target = Target::new("roles", "match_id, seat, role, team, share");

/// Writes the rows of matches, without their parts. Returns their ids.
async fn insert_heads(
    tx: &mut Connection,
    new: &[NewMatch<'_>],
) -> Result<HashMap<Fingerprint, i64>, StoreError> {
    let mut ids = HashMap::with_capacity(new.len());
    let returned = " RETURNING fingerprint, id";
    for (target, has_id) in [(HEADS, false), (HEADS_WITH_ID, true)] {
        let some = new.iter().filter(|one| one.id.is_some() == has_id);
        for row in write(tx, target, returned, some.map(head_with_id)).await? {
            ids.insert(row.get("fingerprint")?, row.get("id")?);
        }
    }
    Ok(ids)
}

fn head_with_id(new: &NewMatch<'_>) -> Vec<Value> {
    let mut row = head(new.fingerprint, new.record);
    row.extend(new.id.map(Value::from));
    row
}

/// The row of a match without its id.
pub(super) fn head(fingerprint: Fingerprint, record: &MatchRecord) -> Vec<Value> {
    let (outcome, winner) = match record.outcome {
        Outcome::Won(team) => ("won", Some(team)),
        Outcome::Draw => ("draw", None),
        Outcome::Undecided => ("undecided", None),
        Outcome::Abandoned => ("abandoned", None),
    };
    values![
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
        stored_parts(record),
    ]
}

/// Writes the rows of the other tables.
pub(super) async fn insert_parts(tx: &mut Connection, new: &[New<'_>]) -> Result<(), StoreError> {
    insert(tx, MUTATORS, "", mutators(new)).await?;
    insert(tx, TEAMS, "", scores(new)).await?;
    insert(tx, PARTICIPANTS, "", participants(new)).await?;
    insert(tx, ROLES, "", roles(new)).await
}

pub(super) fn mutators<'a>(new: &'a [New<'a>]) -> impl Iterator<Item = Vec<Value>> + Send {
    new.iter().flat_map(|&(id, record)| {
        let mutators = record.mutators.iter();
        mutators.map(move |mutator| values![id, mutator])
    })
}

pub(super) fn scores<'a>(new: &'a [New<'a>]) -> impl Iterator<Item = Vec<Value>> + Send {
    new.iter().flat_map(|&(id, record)| {
        let scores = (0_i64..).zip(&record.scores);
        scores.map(move |(team, score)| values![id, team, *score])
    })
}

/// Every participant of every match, with the match's id and the seat.
fn seats<'a>(new: &'a [New<'a>]) -> impl Iterator<Item = (i64, i64, &'a Participant)> + Send {
    new.iter().flat_map(|&(id, record)| {
        let seats = (0_i64..).zip(&record.participants);
        seats.map(move |(seat, participant)| (id, seat, participant))
    })
}

pub(super) fn participants<'a>(new: &'a [New<'a>]) -> impl Iterator<Item = Vec<Value>> + Send {
    seats(new).map(|(id, seat, p)| {
        let left = p.left.map(LeaveReason::as_str);
        values![
            id, seat, p.key.kind, &p.key.id, &p.name, p.points, p.kills, p.deaths, p.party, left
        ]
    })
}

pub(super) fn roles<'a>(new: &'a [New<'a>]) -> impl Iterator<Item = Vec<Value>> + Send {
    seats(new).flat_map(|(id, seat, p)| {
        let roles = p.roles.iter();
        roles.map(move |role| values![id, seat, &role.name, role.team, role.share])
    })
}
