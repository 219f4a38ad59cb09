//! Reads match records from their tables.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::{
    domain::{
        Fingerprint, Kind, LeaveReason, MatchRecord, Outcome, Participant, PlayerKey, Presence,
        Role, ScoreEvent, Span,
    },
    store::{StoreError, Stored, db::*},
};

/// The stays and the score events of a match, as the column `parts` has them.
#[derive(Deserialize, Serialize)]
struct Parts {
    /// The stays of each seat: the team, and from when to when.
    stays: Vec<Vec<(u8, u64, u64)>>,
    /// When, for which team, how many points, and by whom.
    events: Vec<(u64, u8, f64, Option<u32>)>,
}

/// The column `parts` of a match.
pub(super) fn stored_parts(record: &MatchRecord) -> Option<String> {
    let stay = |stay: &Presence| (stay.team, stay.span.from, stay.span.to);
    let seats = record.participants.iter();
    let event = |event: &ScoreEvent| (event.at, event.team, event.points, event.by);
    let parts = Parts {
        stays: seats
            .map(|p| p.presence.iter().map(stay).collect())
            .collect(),
        events: record.events.iter().map(event).collect(),
    };
    serde_json::to_string(&parts).ok()
}

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
        logged_as: None,
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

/// The parts of some matches, by match id.
#[derive(Default)]
pub(super) struct MatchParts {
    mutators: HashMap<i64, Vec<String>>,
    scores: HashMap<i64, Vec<f64>>,
    participants: HashMap<i64, Vec<Participant>>,
    /// What the row of the match has.
    own: HashMap<i64, Parts>,
}

impl MatchParts {
    /// Reads the parts of the matches of these rows of `matches`.
    pub async fn fetch(tx: &mut Connection, heads: &[&Row]) -> Result<Self, StoreError> {
        let mut parts = Self::default();
        let mut ids: Vec<i64> = Vec::with_capacity(heads.len());
        for head in heads {
            let id = head.get("id")?;
            let own: Option<&str> = head.get("parts")?;
            let own = own.and_then(|own| serde_json::from_str(own).ok());
            parts
                .own
                .insert(id, own.ok_or_else(|| bad_value("parts", id))?);
            ids.push(id);
        }
        for row in rows(tx, "match_mutators", &ids, "mutator").await? {
            let list = parts.mutators.entry(row.get("match_id")?).or_default();
            list.push(row.get("mutator")?);
        }
        for row in rows(tx, "match_teams", &ids, "team").await? {
            let list = parts.scores.entry(row.get("match_id")?).or_default();
            list.push(row.get("score")?);
        }
        for row in rows(tx, "participants", &ids, "seat").await? {
            let list = parts.participants.entry(row.get("match_id")?).or_default();
            list.push(participant(&row)?);
        }
        for row in rows(tx, "roles", &ids, "seat, role, team").await? {
            parts.seat(&row)?.roles.push(role(&row)?);
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
    pub fn fill(&mut self, id: i64, record: &mut MatchRecord) -> Result<(), StoreError> {
        let Some(own) = self.own.remove(&id) else {
            return Ok(());
        };
        record.mutators = self.mutators.remove(&id).unwrap_or_default();
        record.scores = self.scores.remove(&id).unwrap_or_default();
        record.participants = self.participants.remove(&id).unwrap_or_default();
        if record.participants.len() != own.stays.len() {
            return Err(bad_value("a seat", id));
        }
        for (participant, stays) in record.participants.iter_mut().zip(own.stays) {
            let stays = stays.into_iter();
            participant.presence = stays.map(|(team, from, to)| stay(team, from, to)).collect();
        }
        let events = own.events.into_iter();
        record.events = events
            .map(|(at, team, points, by)| ScoreEvent {
                at,
                team,
                points,
                by,
            })
            .collect();
        Ok(())
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

fn stay(team: u8, from: u64, to: u64) -> Presence {
    Presence {
        team,
        span: Span { from, to },
    }
}

fn role(row: &Row) -> Result<Role, StoreError> {
    Ok(Role {
        name: row.get("role")?,
        team: row.get("team")?,
        share: row.get("share")?,
    })
}

fn bad_value(what: &str, id: i64) -> StoreError {
    StoreError::BadValue(format!("{what} of match {id}"))
}

fn to_u64(millis: i64) -> u64 {
    u64::try_from(millis).unwrap_or(0)
}
