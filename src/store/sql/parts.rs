//! Reads match records from their tables.

use std::collections::HashMap;

use crate::{
    domain::{
        Fingerprint, Kind, LeaveReason, MatchRecord, Outcome, Participant, PlayerKey, Presence,
        Role, ScoreEvent, Span,
    },
    store::{StoreError, Stored, db::*},
};

/// Reads the row of a match: the record without its parts.
pub(super) fn head(row: &Row) -> Result<Stored, StoreError> {
    let id: i64 = row.get("id")?;
    let bytes: &[u8] = row.get("fingerprint")?;
    let fingerprint = Fingerprint::from_slice(bytes);
    let fingerprint = fingerprint.ok_or_else(|| bad_value("a fingerprint", id))?;
    let winner: Option<u8> = row.get("winner")?;
    let outcome = match (row.get("outcome")?, winner) {
        ("won", Some(team)) => Outcome::Won(team),
        ("draw", None) => Outcome::Draw,
        ("undecided", None) => Outcome::Undecided,
        ("abandoned", None) => Outcome::Abandoned,
        _ => return Err(bad_value("an outcome", id)),
    };
    let clock: Option<i64> = row.get("log_clock")?;
    let record = MatchRecord {
        server: row.get("server")?,
        start: row.get("started_at")?,
        end: row.get("ended_at")?,
        clock: clock.map(to_u64),
        untimed: row.get("untimed")?,
        map: row.get("map")?,
        game_type: row.get("game_type")?,
        mode: row.get("mode")?,
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
    pub async fn fetch(tx: &mut Connection, ids: &[i64]) -> Result<Self, StoreError> {
        let mut parts = Self::default();
        for row in rows(tx, "match_mutators", ids, "mutator").await? {
            let list = parts.mutators.entry(row.get("match_id")?).or_default();
            list.push(row.get("mutator")?);
        }
        for row in rows(tx, "match_teams", ids, "team").await? {
            let list = parts.scores.entry(row.get("match_id")?).or_default();
            list.push(row.get("score")?);
        }
        for row in rows(tx, "participants", ids, "seat").await? {
            let list = parts.participants.entry(row.get("match_id")?).or_default();
            list.push(participant(&row)?);
        }
        for row in rows(tx, "presence", ids, "seat, stay").await? {
            parts.seat(&row)?.presence.push(presence(&row)?);
        }
        for row in rows(tx, "roles", ids, "seat, role, team").await? {
            parts.seat(&row)?.roles.push(role(&row)?);
        }
        for row in rows(tx, "score_events", ids, "seq").await? {
            let list = parts.events.entry(row.get("match_id")?).or_default();
            list.push(event(&row)?);
        }
        Ok(parts)
    }

    /// The participant that a row with `match_id` and `seat` belongs to.
    fn seat(&mut self, row: &Row) -> Result<&mut Participant, StoreError> {
        let id: i64 = row.get("match_id")?;
        let seat: usize = row.get("seat")?;
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
    tx: &mut Connection,
    table: &'static str,
    ids: &[i64],
    order: &'static str,
) -> Result<Vec<Row>, StoreError> {
    // PostgreSQL does not accept an empty list.
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut query = Sql::new(format!("SELECT * FROM {table} WHERE match_id IN "));
    query.list(ids).push(format!(" ORDER BY match_id, {order}"));
    query.build().fetch_all(tx).await
}

fn participant(row: &Row) -> Result<Participant, StoreError> {
    let kind = row.get("kind")?;
    let kind = Kind::parse(kind).ok_or_else(|| StoreError::BadValue(format!("kind {kind}")))?;
    let left = match row.get::<Option<&str>>("left_reason")? {
        Some(left) => {
            let reason = LeaveReason::parse(left);
            Some(reason.ok_or_else(|| StoreError::BadValue(format!("reason {left}")))?)
        }
        None => None,
    };
    Ok(Participant {
        key: PlayerKey {
            kind,
            id: row.get("player")?,
        },
        name: row.get("name")?,
        presence: Vec::new(),
        points: row.get("points")?,
        kills: row.get("kills")?,
        deaths: row.get("deaths")?,
        roles: Vec::new(),
        party: row.get("party")?,
        left,
    })
}

fn presence(row: &Row) -> Result<Presence, StoreError> {
    let (from, to) = (row.get("from_ms")?, row.get("to_ms")?);
    let span = Span {
        from: to_u64(from),
        to: to_u64(to),
    };
    Ok(Presence {
        team: row.get("team")?,
        span,
    })
}

fn role(row: &Row) -> Result<Role, StoreError> {
    Ok(Role {
        name: row.get("role")?,
        team: row.get("team")?,
        share: row.get("share")?,
    })
}

fn event(row: &Row) -> Result<ScoreEvent, StoreError> {
    Ok(ScoreEvent {
        at: to_u64(row.get("at_ms")?),
        team: row.get("team")?,
        points: row.get("points")?,
        by: row.get("seat")?,
    })
}

fn bad_value(what: &str, id: i64) -> StoreError {
    StoreError::BadValue(format!("{what} of match {id}"))
}

fn to_u64(millis: i64) -> u64 {
    u64::try_from(millis).unwrap_or(0)
}
