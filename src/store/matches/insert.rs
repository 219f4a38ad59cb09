//! Writes matches, with rows of many in each statement, and removes them.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use futures_util::{FutureExt, future::BoxFuture};

use super::{packed::pack, played::count_predictions};
use crate::{
    model::{Fingerprint, Kind, MatchRecord, Outcome, Participant, score_text},
    store::{
        Recorded, StoreError,
        db::*,
        sql::rows::{ROWS, Target, insert, write},
    },
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

/// A match, and the id with which the rows of its players are written.
pub(in crate::store) type New<'a> = (i64, &'a MatchRecord);

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
        insert_players(tx, &with_ids).await?;
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

/// Writes matches of which none is on disk, each with its id.
///
/// # Errors
/// Fails if one is on disk, or fails [`MatchRecord::check`].
pub(in crate::store) async fn insert_all_as(
    tx: &mut Connection,
    matches: &[(MatchRecord, Fingerprint, i64)],
) -> Result<(), StoreError> {
    let dialect = tx.dialect();
    let checked = matches.iter().map(|(record, print, id)| {
        let record = checked(dialect, record, *print)?;
        Ok((record, *print, *id))
    });
    let checked = checked.collect::<Result<Vec<_>, StoreError>>()?;
    let new: Vec<NewMatch<'_>> = checked
        .iter()
        .map(|(record, fingerprint, id)| NewMatch {
            fingerprint: *fingerprint,
            record,
            id: Some(*id),
        })
        .collect();
    insert_new(tx, &new).await.map(drop)
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
pub(in crate::store) fn checked(
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
pub(in crate::store) async fn known(
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
        "fingerprint, started_at, ended_at, untimed, server, client, map, game_type, mutators, mode, outcome, winner, scores, \
         gap, humans, bots, record"
    };
}
pub(super) use head_columns;

const HEADS: Target = Target::new("matches", head_columns!());
const HEADS_WITH_ID: Target = Target::new("matches", concat!(head_columns!(), ", id"));
pub(in crate::store) const PLAYERS: Target = Target::new(
    "match_players",
    "match_id, seat, kind, player, name, team, share, points, kills, deaths",
);

/// Writes the rows of matches, without those of their players. Returns their ids.
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
pub(in crate::store) fn head(fingerprint: Fingerprint, record: &MatchRecord) -> Vec<Value> {
    let (outcome, winner) = match record.outcome {
        Outcome::Won(team) => ("won", Some(team)),
        Outcome::Draw => ("draw", None),
        Outcome::Undecided => ("undecided", None),
        Outcome::Abandoned => ("abandoned", None),
    };
    let count = |kind| {
        record
            .participants
            .iter()
            .filter(|p| p.key.kind == kind)
            .count()
    };
    values![
        fingerprint,
        record.start,
        record.end,
        record.untimed,
        &record.server,
        &record.client,
        &record.map,
        &record.game_type,
        record.mutators.join(" "),
        &record.mode,
        outcome,
        winner,
        record
            .has_teams()
            .then(|| score_text(&record.known_scores())),
        record.score_gap(),
        count(Kind::Human),
        count(Kind::Bot),
        pack(record, fingerprint),
    ]
}

/// The scores, of which each may not be known; none from NULL.
impl Column<'_> for Vec<Option<f64>> {
    fn read(row: &Row, at: At<'_>) -> Result<Self, StoreError> {
        let text: Option<&str> = Column::read(row, at)?;
        let scores = text.into_iter().flat_map(|text| text.split(':'));
        Ok(scores.map(|score| score.parse().ok()).collect())
    }
}

/// Writes the rows of the players of matches.
pub(super) async fn insert_players(tx: &mut Connection, new: &[New<'_>]) -> Result<(), StoreError> {
    insert(tx, PLAYERS, "", players(new)).await
}

pub(in crate::store) fn players<'a>(new: &'a [New<'a>]) -> impl Iterator<Item = Vec<Value>> + Send {
    new.iter().flat_map(|&(id, record)| {
        let seats = (0_i64..).zip(&record.participants);
        seats.map(move |(seat, p)| {
            let team = p.main_team().filter(|_| record.has_teams());
            let (kind, share) = (p.key.kind, share(p, record.millis()));
            values![
                id, seat, kind, &p.key.id, &p.name, team, share, p.points, p.kills, p.deaths
            ]
        })
    })
}

/// The share of a match of so many milliseconds in which a participant was there.
pub(in crate::store) fn share(participant: &Participant, millis: u64) -> f64 {
    match millis {
        0 => 0.0,
        _ => (participant.millis() as f64 / millis as f64).min(1.0),
    }
}

/// Notes which match a game has become: its decisions belong to it, too.
pub(super) async fn note_game(tx: &mut Connection, game: i64, id: i64) -> Result<(), StoreError> {
    for note in [
        "UPDATE matches SET game = $1 WHERE id = $2",
        "UPDATE decisions SET match_id = $2 WHERE game = $1",
    ] {
        sql(note).bind(game).bind(id).execute(&mut *tx).await?;
    }
    Ok(())
}

/// Deletes a match and everything that belongs to it. The tables that are not named here have foreign keys.
pub(in crate::store) async fn remove(tx: &mut Connection, id: i64) -> Result<(), StoreError> {
    for delete in [
        "DELETE FROM performances WHERE match_id = $1",
        "DELETE FROM match_players WHERE match_id = $1",
        "DELETE FROM match_chances WHERE match_id = $1",
        "UPDATE decisions SET match_id = NULL WHERE match_id = $1",
        "DELETE FROM matches WHERE id = $1",
    ] {
        sql(delete).bind(id).execute(&mut *tx).await?;
    }
    Ok(())
}
