//! Reads the matches of one player, and who was in them.

use std::cmp::Reverse;

use sqlx::{Row, SqliteConnection, SqlitePool, sqlite::SqliteRow};

use super::boards::read_kind;
use crate::{
    domain::{Kind, PlayerKey, Timestamp},
    store::{
        Companion, GameOfPerson, StoreError,
        sqlite::persons::{is_forgotten, public_name},
    },
};

/// A player's latest rated matches, the last one first.
pub(super) async fn games(
    pool: &SqlitePool,
    person: i64,
    limit: i64,
) -> Result<Vec<GameOfPerson>, StoreError> {
    let query = sqlx::query(
        "SELECT p.match_id, p.ended_at, p.team, p.result, p.weight, p.deviation, p.points_for,
                p.points_against, r.ruleset, r.chance, m.map
         FROM performances p
         JOIN rulings r ON r.match_id = p.match_id
         JOIN matches m ON m.id = p.match_id
         WHERE p.person = ? ORDER BY p.ended_at DESC, p.match_id DESC LIMIT ?",
    );
    let rows = query.bind(person).bind(limit).fetch_all(pool).await?;
    rows.iter().map(game).collect()
}

fn game(row: &SqliteRow) -> Result<GameOfPerson, StoreError> {
    let weight: Option<f64> = row.try_get("weight")?;
    let deviation: Option<f64> = row.try_get("deviation")?;
    Ok(GameOfPerson {
        id: row.try_get("match_id")?,
        ended: Timestamp(row.try_get("ended_at")?),
        ruleset: row.try_get("ruleset")?,
        map: row.try_get("map")?,
        team: row.try_get("team")?,
        result: row.try_get("result")?,
        forecast: row.try_get("chance")?,
        after: weight.zip(deviation),
        points_for: row.try_get("points_for")?,
        points_against: row.try_get("points_against")?,
    })
}

/// The number of another person, whether on the same team, the number of matches, and the wins.
type Counted = (i64, bool, i64, f64);

/// Who has played with and against a player since a time.
pub(super) async fn companions(
    pool: &SqlitePool,
    person: i64,
    since: Timestamp,
    limit: usize,
) -> Result<Vec<Companion>, StoreError> {
    let mut tx = pool.begin().await?;
    let query = sqlx::query_as(
        "SELECT q.person, q.team = p.team AS together, count(*), total(p.result)
         FROM performances p
         JOIN performances q ON q.match_id = p.match_id AND q.person <> p.person
         WHERE p.person = ? AND p.ended_at >= ? AND p.result IS NOT NULL AND q.team IS NOT NULL
         GROUP BY q.person, together",
    );
    let query = query.bind(person).bind(since.0);
    let mut counted: Vec<Counted> = query.fetch_all(&mut *tx).await?;
    counted.sort_by_key(|&(other, _, games, _)| (Reverse(games), other));
    let mut companions: Vec<Companion> = Vec::new();
    for together in [true, false] {
        let group = counted.iter().filter(|counted| counted.1 == together);
        for counted in group.take(limit) {
            companions.extend(companion(&mut tx, *counted).await?);
        }
    }
    Ok(companions)
}

/// A companion with the name; `None` for players without a page.
async fn companion(
    tx: &mut SqliteConnection,
    (person, together, games, won): Counted,
) -> Result<Option<Companion>, StoreError> {
    let query = sqlx::query(
        "SELECT p.handle, p.kind, p.player, w.name FROM persons p
         JOIN weights w ON w.player = p.player AND w.kind = p.kind
         WHERE p.person = ?
           AND NOT EXISTS (SELECT 1 FROM hidden_players h WHERE h.kind = p.kind AND h.player = p.player)
         ORDER BY w.last_seen DESC LIMIT 1",
    );
    let Some(row) = query.bind(person).fetch_optional(tx).await? else {
        return Ok(None);
    };
    let kind: Kind = read_kind(&row)?;
    let (id, name): (String, String) = (row.try_get("player")?, row.try_get("name")?);
    let key = PlayerKey { kind, id };
    if is_forgotten(&key, &name) {
        return Ok(None);
    }
    let name = public_name(&key, name);
    Ok(Some(Companion {
        handle: row.try_get("handle")?,
        kind,
        name,
        together,
        games,
        won,
    }))
}
