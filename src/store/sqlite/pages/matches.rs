//! Reads matches, in lists and one by one.

use std::collections::HashMap;

use sqlx::{Row, SqliteConnection, SqlitePool, sqlite::SqliteRow};

use super::boards::read_kind;
use crate::{
    domain::{PlayerKey, Timestamp},
    store::{
        MatchLine, PageMatch, PageSeat, PageStay, StoreError,
        sqlite::persons::{is_forgotten, public_name},
    },
};

/// The columns of a [`MatchLine`].
macro_rules! lines {
    ($rest:literal) => {
        concat!(
            "SELECT m.id, m.started_at, m.ended_at, m.map, m.server, m.game_type, m.mode, m.outcome, m.winner, r.ruleset, r.unrated,
                    r.chance AS forecast, t.chance AS told,
                    (SELECT group_concat(score, ' ')
                       FROM (SELECT score FROM match_teams WHERE match_id = m.id ORDER BY team)) AS scores,
                    (SELECT count(*) FROM participants WHERE match_id = m.id AND kind = 'human') AS humans,
                    (SELECT count(*) FROM participants WHERE match_id = m.id AND kind = 'bot') AS bots ",
            $rest
        )
    };
}

/// The latest matches, the last one first.
pub(super) async fn latest(
    pool: &SqlitePool,
    ruleset: Option<&str>,
    limit: i64,
) -> Result<Vec<MatchLine>, StoreError> {
    let query = match ruleset {
        Some(ruleset) => sqlx::query(lines!(
            "FROM rulings r JOIN matches m ON m.id = r.match_id
             LEFT JOIN predictions t ON t.match_id = m.id AND (t.ruleset IS NULL OR t.ruleset = r.ruleset)
             WHERE r.ruleset = ? ORDER BY r.ended_at DESC, m.id DESC LIMIT ?"
        ))
        .bind(ruleset),
        None => sqlx::query(lines!(
            "FROM matches m LEFT JOIN rulings r ON r.match_id = m.id
             LEFT JOIN predictions t ON t.match_id = m.id AND (t.ruleset IS NULL OR t.ruleset = r.ruleset)
             ORDER BY m.ended_at DESC, m.fingerprint DESC LIMIT ?"
        )),
    };
    let rows = query.bind(limit).fetch_all(pool).await?;
    rows.iter().map(line).collect()
}

/// One match with its parts.
pub(super) async fn page(pool: &SqlitePool, id: i64) -> Result<Option<PageMatch>, StoreError> {
    let mut tx = pool.begin().await?;
    let query = sqlx::query(lines!(
        "FROM matches m LEFT JOIN rulings r ON r.match_id = m.id
         LEFT JOIN predictions t ON t.match_id = m.id AND (t.ruleset IS NULL OR t.ruleset = r.ruleset)
         WHERE m.id = ?"
    ));
    let Some(row) = query.bind(id).fetch_optional(&mut *tx).await? else {
        return Ok(None);
    };
    let mutators =
        "SELECT mutator FROM match_mutators WHERE match_id = ? ORDER BY mutator LIMIT 32";
    let mutators = sqlx::query_scalar(mutators).bind(id);
    let events =
        "SELECT at_ms, team, points FROM score_events WHERE match_id = ? ORDER BY seq LIMIT ?";
    let events = sqlx::query_as(events).bind(id).bind(PageMatch::MOST_EVENTS);
    let balance = "SELECT decision FROM decisions
                   WHERE match_id = ? AND kind = 'balance' AND length(decision) < 100000
                   ORDER BY id DESC LIMIT 1";
    let balance = sqlx::query_scalar(balance).bind(id);
    Ok(Some(PageMatch {
        line: line(&row)?,
        game_type: row.try_get("game_type")?,
        mode: row.try_get("mode")?,
        mutators: mutators.fetch_all(&mut *tx).await?,
        seats: seats(&mut tx, id).await?,
        events: events.fetch_all(&mut *tx).await?,
        balance: balance.fetch_optional(&mut *tx).await?,
    }))
}

/// The players of a match.
async fn seats(tx: &mut SqliteConnection, id: i64) -> Result<Vec<PageSeat>, StoreError> {
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
         WHERE p.match_id = ? ORDER BY p.points DESC, p.seat LIMIT ?",
    );
    let query = query.bind(id).bind(PageMatch::MOST_SEATS);
    let rows = query.fetch_all(&mut *tx).await?;
    let mut stays = stays(tx, id).await?;
    let seat = |row: &SqliteRow| {
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
            key: PlayerKey {
                id: counted.unwrap_or(key.id),
                ..key
            },
            handle: handle.filter(|_| !gone),
            name: (!gone).then_some(name),
            team: row.try_get("team")?,
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
async fn stays(
    tx: &mut SqliteConnection,
    id: i64,
) -> Result<HashMap<i64, Vec<PageStay>>, StoreError> {
    let query = sqlx::query_as(
        "SELECT seat, team, from_ms, to_ms FROM presence WHERE match_id = ? ORDER BY seat, stay LIMIT 2000",
    );
    let rows: Vec<(i64, u8, i64, i64)> = query.bind(id).fetch_all(tx).await?;
    let mut stays: HashMap<i64, Vec<PageStay>> = HashMap::new();
    for (seat, team, from, to) in rows {
        stays
            .entry(seat)
            .or_default()
            .push(PageStay { team, from, to });
    }
    Ok(stays)
}

fn line(row: &SqliteRow) -> Result<MatchLine, StoreError> {
    let scores: Option<String> = row.try_get("scores")?;
    let scores = scores.unwrap_or_default();
    Ok(MatchLine {
        id: row.try_get("id")?,
        started: Timestamp(row.try_get("started_at")?),
        ended: Timestamp(row.try_get("ended_at")?),
        map: row.try_get("map")?,
        server: row.try_get("server")?,
        ruleset: row.try_get("ruleset")?,
        scores: scores.split(' ').filter_map(|s| s.parse().ok()).collect(),
        outcome: row.try_get("outcome")?,
        winner: row.try_get("winner")?,
        humans: row.try_get("humans")?,
        bots: row.try_get("bots")?,
        told: row.try_get("told")?,
        forecast: row.try_get("forecast")?,
        unrated: row.try_get("unrated")?,
    })
}
