//! Reads leaderboards, and a player's standings.

use std::collections::BTreeSet;

use sqlx::{QueryBuilder, Row};

use super::super::{Db, DbPool, DbRow, persons::public_name, snapshot, text};
use crate::{
    domain::{Kind, PlayerKey, Timestamp},
    store::{BoardQuery, BoardRow, PersonRow, StandingLine, StoreError},
};

/// The columns of a [`BoardRow`], from `weights w`.
macro_rules! rows {
    ($columns:literal, $from:expr, $condition:literal) => {
        concat!(
            // With a join, the database would first compute the ranks of all players.
            "SELECT w.place, w.kind, w.player, w.name, w.weight, w.deviation, w.games, w.last_seen, p.handle,
                    (SELECT d.name FROM displayed_ranks r JOIN divisions d ON d.division = r.division
                     WHERE r.ruleset = w.ruleset AND r.kind = w.kind AND r.player = w.player) AS division",
            $columns,
            " FROM ",
            $from,
            " LEFT JOIN persons p ON p.kind = w.kind AND p.player = w.player
             WHERE w.place IS NOT NULL
               AND NOT EXISTS (SELECT 1 FROM hidden_players h WHERE h.kind = w.kind AND h.player = w.player)
               AND ",
            $condition
        )
    };
}

/// The players whose names contain $3. An index contains all columns that this reads, so that few rows of the
/// table are read, however many players there are. SQLite keeps the order of a CROSS JOIN. It may reverse that
/// of a JOIN, and would then search all names again for each player.
macro_rules! found {
    () => {
        "(SELECT player FROM weights f
          WHERE f.ruleset = $1 AND f.kind = $2 AND f.place IS NOT NULL AND instr(f.plain, $3) > 0
            AND NOT EXISTS (SELECT 1 FROM hidden_players h WHERE h.kind = f.kind AND h.player = f.player)
          ORDER BY f.place LIMIT $5 OFFSET $4) f
         CROSS JOIN weights w"
    };
}

/// The players whose names contain a text.
pub(in super::super::super) const SEARCH: &str = rows!(
    "",
    found!(),
    "w.ruleset = $1 AND w.kind = $2 AND w.player = f.player ORDER BY w.place"
);

/// A part of a leaderboard, and its last place.
pub(super) async fn board(
    pool: &DbPool,
    query: BoardQuery<'_>,
) -> Result<(Vec<BoardRow>, i64), StoreError> {
    let mut tx = snapshot(pool).await?;
    let last = "SELECT max(place) FROM weights WHERE ruleset = $1 AND kind = $2";
    let last = sqlx::query_scalar(last).bind(query.ruleset);
    let last: Option<i64> = last.bind(query.kind.as_str()).fetch_one(&mut *tx).await?;
    let rows = match query.search.is_empty() {
        true => sqlx::query(rows!(
            "",
            "weights w",
            "w.ruleset = $1 AND w.kind = $2 AND w.place > $4 AND w.place <= $4 + $5 AND $3 = ''
             ORDER BY w.place LIMIT $5"
        )),
        false => sqlx::query(SEARCH),
    };
    let rows = rows.bind(query.ruleset).bind(query.kind.as_str());
    let rows = rows.bind(query.search).bind(query.skip).bind(query.limit);
    let rows = rows.fetch_all(&mut *tx).await?;
    let rows: Result<Vec<_>, _> = rows.iter().map(row).collect();
    Ok((rows?, last.unwrap_or(0)))
}

/// The humans of a ruleset with these names, identities or handles. One look through the names finds all.
pub(super) async fn named(
    pool: &DbPool,
    ruleset: &str,
    texts: &BTreeSet<String>,
) -> Result<Vec<BoardRow>, StoreError> {
    if texts.is_empty() {
        return Ok(Vec::new());
    }
    let among = |query: &mut QueryBuilder<Db>| {
        let mut list = query.separated(", ");
        for one in texts {
            list.push_bind(text(one).into_owned());
        }
    };
    let mut query =
        QueryBuilder::<Db>::new(rows!("", "weights w", "w.kind = 'human' AND w.ruleset = "));
    query.push_bind(ruleset.to_owned());
    query.push(
        " AND w.player IN (SELECT f.player FROM weights f
          WHERE f.kind = 'human' AND f.place IS NOT NULL AND f.ruleset = ",
    );
    query
        .push_bind(ruleset.to_owned())
        .push(" AND (f.plain IN (");
    among(&mut query);
    query.push(") OR lower(f.player) IN (");
    among(&mut query);
    query.push(")) UNION SELECT h.player FROM persons h WHERE h.kind = 'human' AND h.handle IN (");
    among(&mut query);
    query.push(")) ORDER BY w.place LIMIT 500");
    let rows = query.build().fetch_all(pool).await?;
    rows.iter().map(row).collect()
}

/// The player with this handle or identity.
pub(super) async fn person(
    pool: &DbPool,
    text: &str,
    kind: Option<Kind>,
) -> Result<Option<PersonRow>, StoreError> {
    let query = sqlx::query(
        "SELECT p.person, p.kind, p.player, p.handle FROM persons p
         WHERE (p.handle = $1
                OR p.player = $1
                OR (p.kind, p.player) IN (SELECT kind, into_player FROM merged_players WHERE player = $1))
           AND ($2 IS NULL OR p.kind = $2)
           AND NOT EXISTS (SELECT 1 FROM hidden_players h WHERE h.kind = p.kind AND h.player = p.player)
           AND EXISTS (SELECT 1 FROM weights w
                       WHERE w.player = p.player AND w.kind = p.kind AND w.place IS NOT NULL)
         ORDER BY p.handle = $1 DESC, p.kind = 'human' DESC, p.player = $1 DESC LIMIT 1",
    );
    let query = query.bind(text).bind(kind.map(Kind::as_str));
    let Some(row) = query.fetch_optional(pool).await? else {
        return Ok(None);
    };
    Ok(Some(PersonRow {
        person: row.try_get("person")?,
        key: PlayerKey {
            kind: read_kind(&row)?,
            id: row.try_get("player")?,
        },
        handle: row.try_get("handle")?,
    }))
}

/// A player's standings, that with most matches first.
pub(super) async fn standings(
    pool: &DbPool,
    person: &PersonRow,
) -> Result<Vec<StandingLine>, StoreError> {
    let query = sqlx::query(rows!(
        ", w.ruleset, (SELECT max(place) FROM weights o WHERE o.ruleset = w.ruleset AND o.kind = w.kind) AS last,
           (SELECT max(ended_at) FROM rulings r WHERE r.ruleset = w.ruleset AND r.unrated IS NULL) AS learned",
        "weights w",
        "w.player = $1 AND w.kind = $2 ORDER BY w.games DESC, w.ruleset LIMIT 50"
    ));
    let query = query.bind(&person.key.id).bind(person.key.kind.as_str());
    let line = |found: &DbRow| {
        Ok(StandingLine {
            ruleset: found.try_get("ruleset")?,
            of: found.try_get::<Option<i64>, _>("last")?.unwrap_or(0),
            learned: found.try_get::<Option<i64>, _>("learned")?.map(Timestamp),
            row: row(found)?,
        })
    };
    query.fetch_all(pool).await?.iter().map(line).collect()
}

fn row(row: &DbRow) -> Result<BoardRow, StoreError> {
    let key = PlayerKey {
        kind: read_kind(row)?,
        id: row.try_get("player")?,
    };
    Ok(BoardRow {
        place: row.try_get("place")?,
        handle: row.try_get("handle")?,
        name: public_name(&key, row.try_get("name")?),
        key,
        weight: row.try_get("weight")?,
        deviation: row.try_get("deviation")?,
        games: row.try_get("games")?,
        last_seen: Timestamp(row.try_get("last_seen")?),
        division: row.try_get("division")?,
    })
}

/// The kind in the column `kind` of a row.
pub(super) fn read_kind(row: &DbRow) -> Result<Kind, StoreError> {
    let kind = row.try_get("kind")?;
    Kind::parse(kind).ok_or_else(|| StoreError::BadValue(format!("kind {kind}")))
}
