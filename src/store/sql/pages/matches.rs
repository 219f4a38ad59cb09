//! Reads matches, in lists and one by one.

use std::collections::HashMap;

use sqlx::{QueryBuilder, Row};

use super::super::{
    Db, DbConnection, DbPool, DbRow,
    chances::{self, told_columns, told_tables},
    int, optional_int,
    persons::{is_forgotten, public_name},
    snapshot,
};
use super::{archived, boards::read_kind};
use crate::{
    domain::{PlayerKey, Timestamp},
    store::{MatchLine, PageMatch, PageSeat, PageStay, StoreError, chunk::ChunkCache},
};

/// Selects the columns of a [`MatchLine`] from matches `m` and their rulings `r`.
macro_rules! lines {
    ($from:literal, $rest:literal) => {
        concat!(
            "SELECT m.id, m.started_at, m.ended_at, m.untimed, m.map, m.server, m.game_type, m.mode, m.outcome, m.winner, r.ruleset, r.unrated,
                    r.chance AS forecast, ",
            told_columns!(),
            ",
                    (SELECT string_agg(CAST(score AS TEXT), ' ' ORDER BY team)
                       FROM match_teams WHERE match_id = m.id) AS scores,
                    coalesce(m.humans, (SELECT count(*) FROM participants WHERE match_id = m.id AND kind = 'human')) AS humans,
                    coalesce(m.bots, (SELECT count(*) FROM participants WHERE match_id = m.id AND kind = 'bot')) AS bots,
                    m.chunk ",
            $from,
            told_tables!(),
            $rest
        )
    };
}

/// The latest matches, the last one first.
pub(super) async fn latest(
    pool: &DbPool,
    ruleset: Option<&str>,
    limit: i64,
) -> Result<Vec<MatchLine>, StoreError> {
    let query = match ruleset {
        Some(ruleset) => sqlx::query(lines!(
            "FROM rulings r JOIN matches m ON m.id = r.match_id ",
            "WHERE r.ruleset = $1 ORDER BY r.ended_at DESC, m.id DESC LIMIT $2"
        ))
        .bind(ruleset),
        None => sqlx::query(lines!(
            "FROM matches m LEFT JOIN rulings r ON r.match_id = m.id ",
            "ORDER BY m.ended_at DESC, m.fingerprint DESC LIMIT $1"
        )),
    };
    let rows = query.bind(limit).fetch_all(pool).await?;
    rows.iter().map(line).collect()
}

/// The matches with these ids, in the same order.
pub(super) async fn lines_of(pool: &DbPool, ids: &[i64]) -> Result<Vec<MatchLine>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut query = QueryBuilder::<Db>::new(lines!(
        "FROM matches m LEFT JOIN rulings r ON r.match_id = m.id ",
        "WHERE m.id IN ("
    ));
    let mut list = query.separated(", ");
    for id in ids {
        list.push_bind(*id);
    }
    query.push(")");
    let mut found = HashMap::new();
    for row in query.build().fetch_all(pool).await? {
        let line = line(&row)?;
        found.insert(line.id, line);
    }
    Ok(ids.iter().filter_map(|id| found.remove(id)).collect())
}

/// The matches before the one with this id, in the same order.
pub(super) async fn before(
    pool: &DbPool,
    ruleset: Option<&str>,
    id: i64,
    limit: i64,
) -> Result<Vec<MatchLine>, StoreError> {
    let query = match ruleset {
        Some(ruleset) => sqlx::query(lines!(
            "FROM rulings r JOIN matches m ON m.id = r.match_id ",
            "WHERE r.ruleset = $3 AND (r.ended_at, m.id) < ((SELECT ended_at FROM matches WHERE id = $1), $1)
             ORDER BY r.ended_at DESC, m.id DESC LIMIT $2"
        ))
        .bind(id)
        .bind(limit)
        .bind(ruleset),
        None => sqlx::query(lines!(
            "FROM matches m LEFT JOIN rulings r ON r.match_id = m.id ",
            "WHERE (m.ended_at, m.fingerprint) <
                 ((SELECT ended_at FROM matches WHERE id = $1), (SELECT fingerprint FROM matches WHERE id = $1))
             ORDER BY m.ended_at DESC, m.fingerprint DESC LIMIT $2"
        ))
        .bind(id)
        .bind(limit),
    };
    let rows = query.fetch_all(pool).await?;
    rows.iter().map(line).collect()
}

/// One match with its parts.
pub(super) async fn page(
    pool: &DbPool,
    cache: &ChunkCache,
    id: i64,
) -> Result<Option<PageMatch>, StoreError> {
    let mut tx = snapshot(pool).await?;
    let query = sqlx::query(lines!(
        "FROM matches m LEFT JOIN rulings r ON r.match_id = m.id ",
        "WHERE m.id = $1"
    ));
    let Some(row) = query.bind(id).fetch_optional(&mut *tx).await? else {
        return Ok(None);
    };
    let mutators =
        "SELECT mutator FROM match_mutators WHERE match_id = $1 ORDER BY mutator LIMIT 32";
    let mutators = sqlx::query_scalar(mutators).bind(id);
    let balance = "SELECT decision FROM decisions
                   WHERE match_id = $1 AND kind = 'balance' AND length(decision) < 100000
                   ORDER BY id DESC LIMIT 1";
    let balance = sqlx::query_scalar(balance).bind(id);
    let line = line(&row)?;
    let changes = chances::read_changes(&mut tx, id, line.scores.len()).await?;
    let is_archived = row.try_get::<Option<i64>, _>("chunk")?.is_some();
    let (seats, events) = match is_archived {
        true => archived::parts(&mut tx, cache, &line).await?,
        false => (seats(&mut tx, id).await?, events(&mut tx, id).await?),
    };
    Ok(Some(PageMatch {
        line,
        is_archived,
        game_type: row.try_get("game_type")?,
        mode: row.try_get("mode")?,
        mutators: mutators.fetch_all(&mut *tx).await?,
        changes,
        seats,
        events,
        balance: balance.fetch_optional(&mut *tx).await?,
    }))
}

/// A change of the score: milliseconds, team, and points.
pub(super) type PageEvent = (i64, u8, f64);

/// The changes of the score of a match.
async fn events(tx: &mut DbConnection, id: i64) -> Result<Vec<PageEvent>, StoreError> {
    let query = sqlx::query(
        "SELECT at_ms, team, points FROM score_events WHERE match_id = $1 ORDER BY seq LIMIT $2",
    );
    let query = query.bind(id).bind(PageMatch::MOST_EVENTS);
    let event = |row: &DbRow| {
        Ok((
            row.try_get("at_ms")?,
            int(row, "team")?,
            row.try_get("points")?,
        ))
    };
    query.fetch_all(tx).await?.iter().map(event).collect()
}

/// The players of a match.
async fn seats(tx: &mut DbConnection, id: i64) -> Result<Vec<PageSeat>, StoreError> {
    let query = sqlx::query(
        "SELECT p.seat, p.kind, p.player, p.name, p.points, p.kills, p.deaths, p.left_reason, f.team,
                f.weight, f.deviation, o.handle, o.player AS counted,
                (SELECT q.weight FROM
                     (SELECT match_id, ended_at, weight FROM performances b
                      WHERE b.person = f.person AND b.ended_at < f.ended_at ORDER BY b.ended_at DESC LIMIT 100) q
                 JOIN rulings r ON r.match_id = q.match_id
                 WHERE r.ruleset = (SELECT ruleset FROM rulings WHERE match_id = p.match_id)
                 ORDER BY q.ended_at DESC LIMIT 1) AS before,
                EXISTS (SELECT 1 FROM hidden_players h WHERE h.kind = p.kind AND h.player IN (p.player, o.player))
                    AS hidden
         FROM participants p
         LEFT JOIN performances f ON f.match_id = p.match_id AND f.seat = p.seat
         LEFT JOIN persons o ON o.person = f.person
         WHERE p.match_id = $1 ORDER BY p.points DESC NULLS LAST, p.seat LIMIT $2",
    );
    let query = query.bind(id).bind(PageMatch::MOST_SEATS);
    let rows = query.fetch_all(&mut *tx).await?;
    let mut stays = stays(tx, id).await?;
    let seat = |row: &DbRow| {
        let key = PlayerKey {
            kind: read_kind(row)?,
            id: row.try_get("player")?,
        };
        let name: String = row.try_get("name")?;
        let gone = row.try_get("hidden")? || is_forgotten(&key, &name);
        let weight: Option<f64> = row.try_get("weight")?;
        let handle: Option<String> = row.try_get("handle")?;
        let counted: Option<String> = row.try_get("counted")?;
        let stays = stays.remove(&row.try_get("seat")?).unwrap_or_default();
        let name = public_name(&key, name);
        Ok(PageSeat {
            seat: int(row, "seat")?,
            key: PlayerKey {
                id: counted.unwrap_or(key.id),
                ..key
            },
            handle: handle.filter(|_| !gone),
            name: (!gone).then_some(name),
            team: optional_int(row, "team")?,
            points: row.try_get("points")?,
            kills: row.try_get("kills")?,
            deaths: row.try_get("deaths")?,
            left: row.try_get("left_reason")?,
            before: row.try_get("before")?,
            after: weight.zip(row.try_get("deviation")?),
            stays,
        })
    };
    rows.iter().map(seat).collect()
}

/// The stays of each seat of a match.
async fn stays(tx: &mut DbConnection, id: i64) -> Result<HashMap<i64, Vec<PageStay>>, StoreError> {
    let query = sqlx::query_as(
        "SELECT seat, team, from_ms, to_ms FROM presence WHERE match_id = $1 ORDER BY seat, stay LIMIT 2000",
    );
    let rows: Vec<(i64, i64, i64, i64)> = query.bind(id).fetch_all(tx).await?;
    let mut stays: HashMap<i64, Vec<PageStay>> = HashMap::new();
    for (seat, team, from, to) in rows {
        let team = u8::try_from(team).map_err(|_| StoreError::BadValue(format!("team {team}")))?;
        stays
            .entry(seat)
            .or_default()
            .push(PageStay { team, from, to });
    }
    Ok(stays)
}

fn line(row: &DbRow) -> Result<MatchLine, StoreError> {
    let scores: Option<String> = row.try_get("scores")?;
    let scores = scores.unwrap_or_default();
    let scores: Vec<f64> = scores.split(' ').filter_map(|s| s.parse().ok()).collect();
    Ok(MatchLine {
        id: row.try_get("id")?,
        started: Timestamp(row.try_get("started_at")?),
        ended: Timestamp(row.try_get("ended_at")?),
        untimed: row.try_get("untimed")?,
        map: row.try_get("map")?,
        server: row.try_get("server")?,
        ruleset: row.try_get("ruleset")?,
        chances: chances::summary(row, scores.len())?,
        scores,
        outcome: row.try_get("outcome")?,
        winner: optional_int(row, "winner")?,
        humans: row.try_get("humans")?,
        bots: row.try_get("bots")?,
        forecast: row.try_get("forecast")?,
        unrated: row.try_get("unrated")?,
    })
}
