//! Reads match records from their tables.

use std::collections::HashMap;

use sqlx::{QueryBuilder, Row};

use super::{Db, DbConnection, DbRow, archive::complete, int, optional_int};
use crate::{
    domain::{
        Fingerprint, Kind, LeaveReason, MatchRecord, Outcome, Participant, PlayerKey, Presence,
        Role, ScoreEvent, Span, Timestamp,
    },
    store::{StoreError, Stored, chunk::ChunkCache},
};

/// Reads the matches with these ids, in no particular order.
pub(super) async fn fetch(
    tx: &mut DbConnection,
    cache: &ChunkCache,
    ids: &[i64],
) -> Result<Vec<Stored>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut query = QueryBuilder::<Db>::new("SELECT * FROM matches WHERE id IN (");
    let mut list = query.separated(", ");
    for id in ids {
        list.push_bind(*id);
    }
    query.push(")");
    let rows = query.build().fetch_all(&mut *tx).await?;
    complete(tx, cache, &rows).await
}

/// Reads the row of a match: the record without its parts.
pub(super) fn head(row: &DbRow) -> Result<Stored, StoreError> {
    let id: i64 = row.try_get("id")?;
    let bytes: &[u8] = row.try_get("fingerprint")?;
    let fingerprint = Fingerprint::from_slice(bytes);
    let fingerprint = fingerprint.ok_or_else(|| bad_value("a fingerprint", id))?;
    let winner: Option<u8> = optional_int(row, "winner")?;
    let outcome = match (row.try_get("outcome")?, winner) {
        ("won", Some(team)) => Outcome::Won(team),
        ("draw", None) => Outcome::Draw,
        ("undecided", None) => Outcome::Undecided,
        ("abandoned", None) => Outcome::Abandoned,
        _ => return Err(bad_value("an outcome", id)),
    };
    let clock: Option<i64> = row.try_get("log_clock")?;
    let record = MatchRecord {
        server: row.try_get("server")?,
        start: Timestamp(row.try_get("started_at")?),
        end: Timestamp(row.try_get("ended_at")?),
        clock: clock.map(to_u64),
        untimed: row.try_get("untimed")?,
        map: row.try_get("map")?,
        game_type: row.try_get("game_type")?,
        mode: row.try_get("mode")?,
        mutators: Vec::new(),
        scores: Vec::new(),
        participants: Vec::new(),
        events: Vec::new(),
        outcome,
    };
    Ok(Stored {
        id,
        fingerprint,
        record,
    })
}

/// The parts of some matches that are in other tables, by match id.
#[derive(Default)]
pub(super) struct MatchParts {
    mutators: HashMap<i64, Vec<String>>,
    scores: HashMap<i64, Vec<f64>>,
    participants: HashMap<i64, Vec<Participant>>,
    events: HashMap<i64, Vec<ScoreEvent>>,
}

impl MatchParts {
    pub async fn fetch(tx: &mut DbConnection, ids: &[i64]) -> Result<Self, StoreError> {
        let mut parts = Self::default();
        for row in rows(tx, "match_mutators", ids, "mutator").await? {
            let list = parts.mutators.entry(row.try_get("match_id")?).or_default();
            list.push(row.try_get("mutator")?);
        }
        for row in rows(tx, "match_teams", ids, "team").await? {
            let list = parts.scores.entry(row.try_get("match_id")?).or_default();
            list.push(row.try_get("score")?);
        }
        for row in rows(tx, "participants", ids, "seat").await? {
            let list = parts
                .participants
                .entry(row.try_get("match_id")?)
                .or_default();
            list.push(participant(&row)?);
        }
        for row in rows(tx, "presence", ids, "seat, stay").await? {
            parts.seat(&row)?.presence.push(presence(&row)?);
        }
        for row in rows(tx, "roles", ids, "seat, role, team").await? {
            parts.seat(&row)?.roles.push(role(&row)?);
        }
        for row in rows(tx, "score_events", ids, "seq").await? {
            let list = parts.events.entry(row.try_get("match_id")?).or_default();
            list.push(event(&row)?);
        }
        Ok(parts)
    }

    /// The participant that a row with `match_id` and `seat` belongs to.
    fn seat(&mut self, row: &DbRow) -> Result<&mut Participant, StoreError> {
        let id: i64 = row.try_get("match_id")?;
        let seat: usize = int(row, "seat")?;
        let list = self.participants.get_mut(&id);
        let participant = list.and_then(|list| list.get_mut(seat));
        participant.ok_or_else(|| bad_value("a seat", id))
    }

    /// Moves the parts of one match into its record.
    pub fn fill(&mut self, id: i64, record: &mut MatchRecord) {
        record.mutators = self.mutators.remove(&id).unwrap_or_default();
        record.scores = self.scores.remove(&id).unwrap_or_default();
        record.participants = self.participants.remove(&id).unwrap_or_default();
        record.events = self.events.remove(&id).unwrap_or_default();
    }
}

/// The rows of one table that belong to these matches, in the table's own order.
pub(super) async fn rows(
    tx: &mut DbConnection,
    table: &'static str,
    ids: &[i64],
    order: &'static str,
) -> Result<Vec<DbRow>, StoreError> {
    // PostgreSQL does not accept an empty list.
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut query = QueryBuilder::<Db>::new(format!("SELECT * FROM {table} WHERE match_id IN ("));
    let mut list = query.separated(", ");
    for id in ids {
        list.push_bind(*id);
    }
    query.push(format!(") ORDER BY match_id, {order}"));
    Ok(query.build().fetch_all(tx).await?)
}

fn participant(row: &DbRow) -> Result<Participant, StoreError> {
    let kind = row.try_get("kind")?;
    let kind = Kind::parse(kind).ok_or_else(|| StoreError::BadValue(format!("kind {kind}")))?;
    let left = match row.try_get::<Option<&str>, _>("left_reason")? {
        Some(left) => {
            let reason = LeaveReason::parse(left);
            Some(reason.ok_or_else(|| StoreError::BadValue(format!("reason {left}")))?)
        }
        None => None,
    };
    Ok(Participant {
        key: PlayerKey {
            kind,
            id: row.try_get("player")?,
        },
        name: row.try_get("name")?,
        presence: Vec::new(),
        points: row.try_get("points")?,
        kills: int(row, "kills")?,
        deaths: int(row, "deaths")?,
        roles: Vec::new(),
        party: optional_int(row, "party")?,
        left,
    })
}

fn presence(row: &DbRow) -> Result<Presence, StoreError> {
    let (from, to) = (row.try_get("from_ms")?, row.try_get("to_ms")?);
    let span = Span {
        from: to_u64(from),
        to: to_u64(to),
    };
    Ok(Presence {
        team: int(row, "team")?,
        span,
    })
}

fn role(row: &DbRow) -> Result<Role, StoreError> {
    Ok(Role {
        name: row.try_get("role")?,
        team: int(row, "team")?,
        share: row.try_get("share")?,
    })
}

fn event(row: &DbRow) -> Result<ScoreEvent, StoreError> {
    Ok(ScoreEvent {
        at: to_u64(row.try_get("at_ms")?),
        team: int(row, "team")?,
        points: row.try_get("points")?,
        by: optional_int(row, "seat")?,
    })
}

fn bad_value(what: &str, id: i64) -> StoreError {
    StoreError::BadValue(format!("{what} of match {id}"))
}

/// Converts without loss, because times in play are at most a week.
pub(super) fn to_i64(millis: u64) -> i64 {
    i64::try_from(millis).unwrap_or(i64::MAX)
}

fn to_u64(millis: i64) -> u64 {
    u64::try_from(millis).unwrap_or(0)
}
