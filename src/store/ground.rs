//! Match records in and out.

use std::collections::HashMap;

use sqlx::{QueryBuilder, Row, Sqlite, SqliteConnection, sqlite::SqliteRow};

use super::{Store, StoreError};
use crate::domain::{
    Fingerprint, Kind, MatchRecord, Outcome, Participant, PlayerKey, Presence, Role, ScoreEvent,
    Span, Timestamp,
};

/// Rows per INSERT: at most nine values each, far below SQLite's limit of parameters.
pub(super) const ROWS: usize = 1_000;

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// It is on disk under this id.
    New(i64),
    /// It was there already.
    Duplicate(i64),
}

/// A match on disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Its id.
    pub id: i64,
    /// Its fingerprint, as it was when it was recorded.
    pub fingerprint: Fingerprint,
    /// What was told of it.
    pub record: MatchRecord,
}

/// A place in the order of matches: behind the one that ended then, with this fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor(Option<(Timestamp, Fingerprint)>);

impl Cursor {
    /// Before the first match.
    pub const START: Self = Self(None);

    /// Before the first match that ended then or later.
    pub fn since(end: Timestamp) -> Self {
        Self(Some((end.plus_millis(-1), Fingerprint([u8::MAX; 16]))))
    }
}

impl Store {
    /// Writes one match, whole or not at all. It is on disk when this returns.
    ///
    /// # Errors
    /// A record that fails its own check, or the database's.
    pub async fn record(&self, record: &MatchRecord) -> Result<Recorded, StoreError> {
        self.record_as(record, Fingerprint::of(record)).await
    }

    /// The same, known by a fingerprint that need not be its own: a match that was changed since it
    /// was first recorded is still the same match.
    ///
    /// # Errors
    /// A record that fails its own check, or the database's.
    pub async fn record_as(
        &self,
        record: &MatchRecord,
        fingerprint: Fingerprint,
    ) -> Result<Recorded, StoreError> {
        let mut tx = self.writer.begin_with("BEGIN IMMEDIATE").await?;
        let recorded = put(&mut tx, record, fingerprint).await?;
        tx.commit().await?;
        Ok(recorded)
    }

    /// When a match began, and its game type as the game named it.
    ///
    /// # Errors
    /// The database's.
    pub async fn start_of(&self, id: i64) -> Result<Option<(Timestamp, String)>, StoreError> {
        let query = sqlx::query_as("SELECT started_at, game_type FROM matches WHERE id = ?");
        let row: Option<(i64, String)> = query.bind(id).fetch_optional(&self.readers).await?;
        Ok(row.map(|(start, game_type)| (Timestamp(start), game_type)))
    }

    /// The last match of a server, if it ended `since` then.
    ///
    /// # Errors
    /// The database's, or rows that make no record.
    pub async fn last_of(
        &self,
        server: &str,
        since: Timestamp,
    ) -> Result<Option<Stored>, StoreError> {
        let mut tx = self.readers.begin().await?;
        let head_row = sqlx::query(
            "SELECT * FROM matches WHERE ended_at >= ? AND server = ?
             ORDER BY ended_at DESC, id DESC LIMIT 1",
        )
        .bind(since.0)
        .bind(server)
        .fetch_optional(&mut *tx)
        .await?;
        let Some(row) = head_row else { return Ok(None) };
        let mut stored = head(&row)?;
        let mut parts = Parts::fetch(&mut tx, &[stored.id]).await?;
        parts.fill(stored.id, &mut stored.record);
        Ok(Some(stored))
    }

    /// Up to `limit` matches behind `cursor` in (end, fingerprint) order, and the
    /// cursor to go on with. No matches: that was all.
    ///
    /// # Errors
    /// The database's, or rows that make no record.
    pub async fn matches(
        &self,
        cursor: Cursor,
        limit: u32,
    ) -> Result<(Vec<Stored>, Cursor), StoreError> {
        let mut tx = self.readers.begin().await?;
        let (end, fingerprint) = cursor.0.map_or((i64::MIN, [0; 16]), |(t, f)| (t.0, f.0));
        let heads = sqlx::query(
            "SELECT * FROM matches WHERE (ended_at, fingerprint) > (?, ?)
             ORDER BY ended_at, fingerprint LIMIT ?",
        )
        .bind(end)
        .bind(&fingerprint[..])
        .bind(limit)
        .fetch_all(&mut *tx)
        .await?;
        let mut matches = heads.iter().map(head).collect::<Result<Vec<_>, _>>()?;
        let ids: Vec<i64> = matches.iter().map(|stored| stored.id).collect();
        let mut parts = Parts::fetch(&mut tx, &ids).await?;
        for Stored { id, record, .. } in &mut matches {
            parts.fill(*id, record);
            if let Err(why) = record.check() {
                let what = id.to_string();
                return Err(StoreError::BadRecord { what, why });
            }
        }
        let next = matches.last().map_or(cursor, |last| {
            Cursor(Some((last.record.end, last.fingerprint)))
        });
        Ok((matches, next))
    }
}

/// Writes a match unless it is there, also as a half of another.
pub(super) async fn put(
    tx: &mut SqliteConnection,
    record: &MatchRecord,
    fingerprint: Fingerprint,
) -> Result<Recorded, StoreError> {
    if let Some(id) = known(tx, fingerprint).await? {
        return Ok(Recorded::Duplicate(id));
    }
    let id = insert_whole(tx, record, fingerprint).await?;
    Ok(Recorded::New(id))
}

/// The match of this fingerprint, or that it is a half of.
pub(super) async fn known(
    tx: &mut SqliteConnection,
    fingerprint: Fingerprint,
) -> Result<Option<i64>, StoreError> {
    let query = sqlx::query_scalar(
        "SELECT id FROM matches WHERE fingerprint = ?1
         UNION ALL SELECT match_id FROM match_halves WHERE fingerprint = ?1",
    );
    let known = query.bind(&fingerprint.0[..]).fetch_optional(tx).await?;
    Ok(known)
}

/// Writes a match and all of its parts.
pub(super) async fn insert_whole(
    tx: &mut SqliteConnection,
    record: &MatchRecord,
    fingerprint: Fingerprint,
) -> Result<i64, StoreError> {
    record.check().map_err(|why| StoreError::BadRecord {
        what: fingerprint.to_string(),
        why,
    })?;
    let id = insert_match(tx, &fingerprint, record).await?;
    insert_mutators_and_teams(tx, id, record).await?;
    insert_participants(tx, id, &record.participants).await?;
    insert_events(tx, id, &record.events).await?;
    Ok(id)
}

/// Everything of these matches, in no order.
pub(super) async fn fetch(
    tx: &mut SqliteConnection,
    ids: &[i64],
) -> Result<Vec<Stored>, StoreError> {
    let mut query = QueryBuilder::<Sqlite>::new("SELECT * FROM matches WHERE id IN (");
    let mut list = query.separated(", ");
    for id in ids {
        list.push_bind(*id);
    }
    query.push(")");
    let rows = query.build().fetch_all(&mut *tx).await?;
    let mut matches = rows.iter().map(head).collect::<Result<Vec<_>, _>>()?;
    let mut parts = Parts::fetch(tx, ids).await?;
    for Stored { id, record, .. } in &mut matches {
        parts.fill(*id, record);
    }
    Ok(matches)
}

async fn insert_match(
    tx: &mut SqliteConnection,
    fingerprint: &Fingerprint,
    record: &MatchRecord,
) -> Result<i64, StoreError> {
    let (outcome, winner) = match record.outcome {
        Outcome::Won(team) => ("won", Some(team)),
        Outcome::Draw => ("draw", None),
        // The table has no word for a broken-off game yet.
        Outcome::Undecided => ("undecided", None),
        Outcome::Abandoned => ("abandoned", None),
    };
    let done = sqlx::query(
        "INSERT INTO matches (fingerprint, server, started_at, ended_at, log_clock, map, game_type,
                              mode, outcome, winner) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
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

async fn insert_mutators_and_teams(
    tx: &mut SqliteConnection,
    id: i64,
    record: &MatchRecord,
) -> Result<(), StoreError> {
    insert(
        tx,
        "INSERT INTO match_mutators (match_id, mutator)",
        &record.mutators,
        |mut row, mutator| {
            row.push_bind(id).push_bind(mutator.clone());
        },
    )
    .await?;
    let scores: Vec<(i64, f64)> = (0..).zip(record.scores.iter().copied()).collect();
    insert(
        tx,
        "INSERT INTO match_teams (match_id, team, score)",
        &scores,
        |mut row, (team, score)| {
            row.push_bind(id).push_bind(*team).push_bind(*score);
        },
    )
    .await
}

async fn insert_participants(
    tx: &mut SqliteConnection,
    id: i64,
    participants: &[Participant],
) -> Result<(), StoreError> {
    let seats: Vec<(i64, &Participant)> = (0..).zip(participants).collect();
    let columns = "INSERT INTO participants (match_id, seat, kind, player, name, points, kills, deaths, party)";
    insert(tx, columns, &seats, |mut row, (seat, p)| {
        row.push_bind(id)
            .push_bind(*seat)
            .push_bind(p.key.kind.as_str());
        row.push_bind(p.key.id.clone()).push_bind(p.name.clone());
        row.push_bind(p.points).push_bind(p.kills);
        row.push_bind(p.deaths).push_bind(p.party);
    })
    .await?;
    insert_presence(tx, id, &seats).await?;
    let roles = |&(seat, p): &(i64, &Participant)| {
        let roles: Vec<Role> = p.roles.clone();
        roles.into_iter().map(move |role| (seat, role))
    };
    let roles: Vec<(i64, Role)> = seats.iter().flat_map(roles).collect();
    let columns = "INSERT INTO roles (match_id, seat, role, team, share)";
    insert(tx, columns, &roles, |mut row, (seat, role)| {
        row.push_bind(id).push_bind(*seat);
        row.push_bind(role.name.clone());
        row.push_bind(role.team).push_bind(role.share);
    })
    .await
}

async fn insert_presence(
    tx: &mut SqliteConnection,
    id: i64,
    seats: &[(i64, &Participant)],
) -> Result<(), StoreError> {
    let numbered = |&(seat, p): &(i64, &Participant)| {
        let stays: Vec<Presence> = p.presence.clone();
        (0i64..)
            .zip(stays)
            .map(move |(stay, presence)| (seat, stay, presence))
    };
    let stays: Vec<(i64, i64, Presence)> = seats.iter().flat_map(numbered).collect();
    let columns = "INSERT INTO presence (match_id, seat, stay, team, from_ms, to_ms)";
    insert(tx, columns, &stays, |mut row, (seat, stay, presence)| {
        row.push_bind(id)
            .push_bind(*seat)
            .push_bind(*stay)
            .push_bind(presence.team);
        row.push_bind(to_i64(presence.span.from))
            .push_bind(to_i64(presence.span.to));
    })
    .await
}

async fn insert_events(
    tx: &mut SqliteConnection,
    id: i64,
    events: &[ScoreEvent],
) -> Result<(), StoreError> {
    let numbered: Vec<(i64, &ScoreEvent)> = (0..).zip(events).collect();
    let columns = "INSERT INTO score_events (match_id, seq, at_ms, team, points, seat)";
    insert(tx, columns, &numbered, |mut row, (seq, event)| {
        row.push_bind(id)
            .push_bind(*seq)
            .push_bind(to_i64(event.at))
            .push_bind(event.team);
        row.push_bind(event.points).push_bind(event.by);
    })
    .await
}

/// Writes any number of rows by `INSERT … INTO table (columns)`, many a statement.
pub(super) async fn insert<T>(
    tx: &mut SqliteConnection,
    insert: &'static str,
    rows: &[T],
    bind: impl Fn(sqlx::query_builder::Separated<'_, Sqlite, &'static str>, &T),
) -> Result<(), StoreError> {
    for chunk in rows.chunks(ROWS) {
        let mut query = QueryBuilder::new(format!("{insert} "));
        query.push_values(chunk, &bind);
        query.build().execute(&mut *tx).await?;
    }
    Ok(())
}

/// A match's own row: a record that lacks its parts.
fn head(row: &SqliteRow) -> Result<Stored, StoreError> {
    let id: i64 = row.try_get("id")?;
    let bytes: &[u8] = row.try_get("fingerprint")?;
    let fingerprint = Fingerprint::from_slice(bytes);
    let fingerprint = fingerprint.ok_or_else(|| bad_value("a fingerprint", id))?;
    let winner: Option<u8> = row.try_get("winner")?;
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

/// Everything of some matches that stands in other tables, by match id.
#[derive(Default)]
struct Parts {
    mutators: HashMap<i64, Vec<String>>,
    scores: HashMap<i64, Vec<f64>>,
    participants: HashMap<i64, Vec<Participant>>,
    events: HashMap<i64, Vec<ScoreEvent>>,
}

impl Parts {
    async fn fetch(tx: &mut SqliteConnection, ids: &[i64]) -> Result<Self, StoreError> {
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

    /// The participant whom a row with `match_id` and `seat` speaks of.
    fn seat(&mut self, row: &SqliteRow) -> Result<&mut Participant, StoreError> {
        let id: i64 = row.try_get("match_id")?;
        let seat: u32 = row.try_get("seat")?;
        let list = self.participants.get_mut(&id);
        let participant = list.and_then(|list| list.get_mut(seat as usize));
        participant.ok_or_else(|| bad_value("a seat", id))
    }

    fn fill(&mut self, id: i64, record: &mut MatchRecord) {
        record.mutators = self.mutators.remove(&id).unwrap_or_default();
        record.scores = self.scores.remove(&id).unwrap_or_default();
        record.participants = self.participants.remove(&id).unwrap_or_default();
        record.events = self.events.remove(&id).unwrap_or_default();
    }
}

/// The rows of one table that belong to these matches, in the table's own order.
pub(super) async fn rows(
    tx: &mut SqliteConnection,
    table: &'static str,
    ids: &[i64],
    order: &'static str,
) -> Result<Vec<SqliteRow>, StoreError> {
    let mut query =
        QueryBuilder::<Sqlite>::new(format!("SELECT * FROM {table} WHERE match_id IN ("));
    let mut list = query.separated(", ");
    for id in ids {
        list.push_bind(*id);
    }
    query.push(format!(") ORDER BY match_id, {order}"));
    Ok(query.build().fetch_all(tx).await?)
}

fn participant(row: &SqliteRow) -> Result<Participant, StoreError> {
    let kind = row.try_get("kind")?;
    let kind = Kind::parse(kind).ok_or_else(|| StoreError::BadValue(format!("kind {kind}")))?;
    Ok(Participant {
        key: PlayerKey {
            kind,
            id: row.try_get("player")?,
        },
        name: row.try_get("name")?,
        presence: Vec::new(),
        points: row.try_get("points")?,
        kills: row.try_get("kills")?,
        deaths: row.try_get("deaths")?,
        roles: Vec::new(),
        party: row.try_get("party")?,
    })
}

fn presence(row: &SqliteRow) -> Result<Presence, StoreError> {
    let (from, to) = (row.try_get("from_ms")?, row.try_get("to_ms")?);
    let span = Span {
        from: to_u64(from),
        to: to_u64(to),
    };
    Ok(Presence {
        team: row.try_get("team")?,
        span,
    })
}

fn role(row: &SqliteRow) -> Result<Role, StoreError> {
    Ok(Role {
        name: row.try_get("role")?,
        team: row.try_get("team")?,
        share: row.try_get("share")?,
    })
}

fn event(row: &SqliteRow) -> Result<ScoreEvent, StoreError> {
    Ok(ScoreEvent {
        at: to_u64(row.try_get("at_ms")?),
        team: row.try_get("team")?,
        points: row.try_get("points")?,
        by: row.try_get("seat")?,
    })
}

fn bad_value(what: &str, id: i64) -> StoreError {
    StoreError::BadValue(format!("{what} of match {id}"))
}

/// Times in play are bounded by a week, so nothing is lost.
fn to_i64(millis: u64) -> i64 {
    i64::try_from(millis).unwrap_or(i64::MAX)
}

fn to_u64(millis: i64) -> u64 {
    u64::try_from(millis).unwrap_or(0)
}
