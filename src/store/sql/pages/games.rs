//! Reads the matches of one player, and who was in them.

use std::{cmp::Reverse, collections::HashMap};

use sqlx::{QueryBuilder, Row};

use super::super::{
    Db, DbConnection, DbPool, DbRow,
    chances::{self, told_columns, told_tables},
    optional_int,
    persons::{is_forgotten, public_name},
    snapshot,
};
use super::boards::read_kind;
use crate::{
    domain::{Kind, PlayerKey, Timestamp},
    store::{Companion, Companions, GameOfPerson, PointsInMatch, StoreError},
};

/// A player's latest rated matches, the last one first.
pub(super) async fn games(
    pool: &DbPool,
    person: i64,
    limit: i64,
) -> Result<Vec<GameOfPerson>, StoreError> {
    let query = sqlx::query(concat!(
        "SELECT p.match_id, p.ended_at, p.team, p.result, p.weight, p.deviation, p.points_for,
                p.points_against, r.ruleset, r.chance AS forecast, m.map, ",
        told_columns!(),
        " FROM performances p
         JOIN rulings r ON r.match_id = p.match_id
         JOIN matches m ON m.id = p.match_id",
        told_tables!(),
        "WHERE p.person = $1 ORDER BY p.ended_at DESC, p.match_id DESC LIMIT $2"
    ));
    let rows = query.bind(person).bind(limit).fetch_all(pool).await?;
    rows.iter().map(game).collect()
}

fn game(row: &DbRow) -> Result<GameOfPerson, StoreError> {
    let weight: Option<f64> = row.try_get("weight")?;
    Ok(GameOfPerson {
        id: row.try_get("match_id")?,
        ended: Timestamp(row.try_get("ended_at")?),
        ruleset: row.try_get("ruleset")?,
        map: row.try_get("map")?,
        team: optional_int(row, "team")?,
        result: row.try_get("result")?,
        started: chances::summary(row, 2)?.started,
        forecast: row.try_get("forecast")?,
        after: weight.zip(row.try_get("deviation")?),
        points_for: row.try_get("points_for")?,
        points_against: row.try_get("points_against")?,
    })
}

/// A player's points in these matches, and the mean of the others' points.
pub(super) async fn points(
    pool: &DbPool,
    person: i64,
    ids: &[i64],
) -> Result<Vec<PointsInMatch>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut query = QueryBuilder::<Db>::new(
        "SELECT p.match_id, a.points,
                (SELECT avg(o.points) FROM participants o
                 WHERE o.match_id = p.match_id AND o.seat <> p.seat) AS others
         FROM performances p JOIN participants a ON a.match_id = p.match_id AND a.seat = p.seat
         WHERE a.points IS NOT NULL AND p.person = ",
    );
    query.push_bind(person).push(" AND p.match_id IN (");
    let mut list = query.separated(", ");
    for id in ids {
        list.push_bind(*id);
    }
    query.push(")");
    let rows = query.build().fetch_all(pool).await?;
    let points = |row: &DbRow| {
        Ok(PointsInMatch {
            id: row.try_get("match_id")?,
            own: row.try_get("points")?,
            others: row.try_get("others")?,
        })
    };
    rows.iter().map(points).collect()
}

/// The number of another person, whether on the same team, the number of matches, and the wins.
type Counted = (i64, bool, i64, f64);

/// Who has played with and against a player in at least `fewest` matches since a time.
pub(super) async fn companions(
    pool: &DbPool,
    person: i64,
    since: Timestamp,
    fewest: i64,
    limit: usize,
) -> Result<Companions, StoreError> {
    let mut tx = snapshot(pool).await?;
    let query = sqlx::query_as(
        "SELECT q.person, q.team = p.team AS together, count(*), sum(p.result)
         FROM performances p
         JOIN performances q ON q.match_id = p.match_id AND q.person <> p.person
         WHERE p.person = $1 AND p.ended_at >= $2 AND p.result IS NOT NULL AND q.team IS NOT NULL
         GROUP BY q.person, q.team = p.team HAVING count(*) >= $3",
    );
    let query = query.bind(person).bind(since.0).bind(fewest);
    let mut counted: Vec<Counted> = query.fetch_all(&mut *tx).await?;
    counted.sort_by_key(|&(other, _, games, _)| (Reverse(games), other));
    let (with, against): (Vec<Counted>, Vec<Counted>) =
        counted.into_iter().partition(|counted| counted.1);
    let looked_at = with.iter().take(limit).chain(against.iter().take(limit));
    let looked_at: Vec<Counted> = looked_at.copied().collect();
    let shown = shown(&mut tx, &looked_at).await?;
    let companion = |&(person, together, games, won): &Counted| {
        let (handle, kind, name) = shown.get(&person)?.clone();
        Some(Companion {
            handle: Some(handle),
            kind,
            name,
            together,
            games,
            won,
        })
    };
    Ok(Companions {
        list: looked_at.iter().filter_map(companion).collect(),
        together: with.len(),
        apart: against.len(),
    })
}

/// The handle, the kind and the name of each of these persons, without those who have no page.
async fn shown(
    tx: &mut DbConnection,
    persons: &[Counted],
) -> Result<HashMap<i64, (String, Kind, String)>, StoreError> {
    let mut shown = HashMap::new();
    if persons.is_empty() {
        return Ok(shown);
    }
    let mut query = QueryBuilder::<Db>::new(
        "SELECT p.person, p.handle, p.kind, p.player,
                (SELECT w.name FROM weights w WHERE w.player = p.player AND w.kind = p.kind
                 ORDER BY w.last_seen DESC LIMIT 1) AS name
         FROM persons p
         WHERE NOT EXISTS (SELECT 1 FROM hidden_players h WHERE h.kind = p.kind AND h.player = p.player)
           AND p.person IN (",
    );
    let mut list = query.separated(", ");
    for counted in persons {
        list.push_bind(counted.0);
    }
    query.push(")");
    for row in query.build().fetch_all(tx).await? {
        let kind: Kind = read_kind(&row)?;
        let id = row.try_get("player")?;
        let (key, name) = (
            PlayerKey { kind, id },
            row.try_get::<Option<String>, _>("name")?,
        );
        let Some(name) = name.filter(|name| !is_forgotten(&key, name)) else {
            continue;
        };
        let name = public_name(&key, name);
        shown.insert(row.try_get("person")?, (row.try_get("handle")?, kind, name));
    }
    Ok(shown)
}
