//! Reads leaderboards, and a player's standings.

use std::collections::BTreeSet;

use super::{
    super::persons::public_name,
    standings::{BoardSize, Standing, size},
};
use crate::{
    domain::{Kind, PlayerKey, Timestamp, steam},
    store::{Store, StoreError, db::*},
};

/// Which part of a leaderboard to read.
#[derive(Clone, Copy, Debug)]
pub struct BoardQuery<'a> {
    /// The key of the ruleset.
    pub ruleset: &'a str,
    /// Whether to read the humans or the bots.
    pub kind: Kind,
    /// A part of the name in lower case; empty for all players.
    pub search: &'a str,
    /// Whether those who are away are listed, too. A search finds them anyway.
    pub away: bool,
    /// How many rows to skip; without a search, how many positions.
    pub skip: i64,
    /// The most rows to read.
    pub limit: i64,
}

/// A line of a leaderboard.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardRow {
    /// The player; the identity is not for the page.
    pub key: PlayerKey,
    /// Whether the player has a place.
    pub standing: Standing,
    /// The place, from 1, among those who are not hidden.
    pub place: Option<i64>,
    /// The handle of the player; `None` if the player has none.
    pub handle: Option<String>,
    /// The name in the player's latest match.
    pub name: String,
    /// The weight, 0 to 100.
    pub weight: f64,
    /// The standard deviation of the weight.
    pub deviation: f64,
    /// Number of rated matches.
    pub games: i64,
    /// The end of the latest of them.
    pub last_seen: Timestamp,
    /// The name of the division as it is displayed now.
    pub division: Option<String>,
}

columns! {
    /// A player who has a page.
    #[derive(Clone, Debug, PartialEq)]
    pub struct PersonRow {
        /// The number of the person; it may change when weights are derived again.
        pub person: i64,
        /// The identity that the player's matches count for.
        pub key: PlayerKey,
        /// The public handle of the player.
        pub handle: String,
    }
}

columns! {
    /// A player's standing under one ruleset.
    #[derive(Clone, Debug, PartialEq)]
    pub struct StandingLine {
        /// The key of the ruleset.
        pub ruleset: String,
        /// The number of players of this kind who have a place there.
        pub of: i64,
        /// When the latest match of the ruleset ended, from which the weight was learned; `None` without any.
        pub learned: Option<Timestamp>,
        /// The player's line in the leaderboard.
        pub row: BoardRow,
    }
}

/// The columns of a [`BoardRow`], from `weights w`.
macro_rules! rows {
    ($columns:literal, $from:expr, $condition:literal) => {
        concat!(
            // With a join, the database would first compute the ranks of all players.
            // Those who are hidden leave no gap. SQLite keeps the order of a CROSS JOIN: few players are hidden.
            "SELECT w.standing,
                    CASE w.standing WHEN 0 THEN w.position -
                        (SELECT count(*) FROM hidden_players g CROSS JOIN weight_places o
                         WHERE g.kind = w.kind AND o.ruleset = w.ruleset AND o.kind = g.kind AND o.player = g.player
                           AND o.standing = 0 AND o.position < w.position)
                    END AS place, w.kind, w.player, w.name, w.weight, w.deviation, w.games, w.last_seen, p.handle,
                    CASE WHEN EXISTS (SELECT 1 FROM divisions) THEN
                        (SELECT d.name FROM displayed_ranks r JOIN divisions d ON d.division = r.division
                         WHERE r.ruleset = w.ruleset AND r.kind = w.kind AND r.player = w.player)
                    END AS division",
            $columns,
            " FROM ",
            $from,
            " LEFT JOIN persons p ON p.kind = w.kind AND p.player = w.player
             WHERE w.position IS NOT NULL
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
        "(SELECT player FROM weight_places f
          WHERE f.ruleset = $1 AND f.kind = $2 AND instr(f.plain, $3) > 0
            AND NOT EXISTS (SELECT 1 FROM hidden_players h WHERE h.kind = f.kind AND h.player = f.player)
          ORDER BY f.position LIMIT $5 OFFSET $4) f
         CROSS JOIN weights w"
    };
}

/// In how many of the latest matches players are looked for.
const LATEST: i64 = 50;

/// At most $3 players who were in the latest $2 matches.
macro_rules! latest {
    () => {
        "(SELECT o.player, max(l.ended_at) AS last
          FROM (SELECT match_id, ended_at FROM rulings WHERE ruleset = $1 AND unrated IS NULL
                ORDER BY ended_at DESC LIMIT $2) l
          CROSS JOIN performances q
          CROSS JOIN persons o
          WHERE q.match_id = l.match_id AND o.person = q.person AND o.kind = 'human' GROUP BY o.player ORDER BY last DESC, o.player LIMIT $3) f
         CROSS JOIN weights w"
    };
}

/// The players whose names contain a text.
pub(in crate::store) const SEARCH: &str = rows!(
    "",
    found!(),
    "w.ruleset = $1 AND w.kind = $2 AND w.player = f.player ORDER BY w.position"
);

/// The person $1, of the kind $2 if that is not NULL. Each part looks into an index: with OR, SQLite would read all persons.
pub(in crate::store) const PERSON: &str = "SELECT p.person, p.kind, p.player, p.handle FROM
         (SELECT person FROM persons WHERE handle = $1
          UNION SELECT person FROM persons WHERE kind IN ('human', 'bot') AND player = $1
          UNION SELECT o.person FROM merged_players m
                JOIN persons o ON o.kind = m.kind AND o.player = m.into_player
                WHERE m.kind IN ('human', 'bot') AND m.player = $1
          UNION SELECT o.person FROM persons a
                JOIN merged_players m ON m.kind = a.kind AND m.player = a.player
                JOIN persons o ON o.kind = m.kind AND o.player = m.into_player
                WHERE a.handle = $1) found
     JOIN persons p ON p.person = found.person
     WHERE ($2 IS NULL OR p.kind = $2)
       AND NOT EXISTS (SELECT 1 FROM hidden_players h WHERE h.kind = p.kind AND h.player = p.player)
       AND EXISTS (SELECT 1 FROM weight_parts w
                   JOIN weight_places o ON o.ruleset = w.ruleset AND o.kind = w.kind AND o.player = w.player
                   WHERE w.player = p.player AND w.kind = p.kind)
     ORDER BY p.handle = $1 DESC, p.kind = 'human' DESC, p.player = $1 DESC LIMIT 1";

impl Store {
    /// A part of a leaderboard, and how many players it has.
    pub async fn board(
        &self,
        query: BoardQuery<'_>,
    ) -> Result<(Vec<BoardRow>, BoardSize), StoreError> {
        let mut tx = self.pages.snapshot().await?;
        let size = size(&mut tx, query.ruleset, query.kind).await?;
        let by_position = query.search.is_empty();
        let last = if query.away { size.all } else { size.listed };
        let end = last.min(query.skip.saturating_add(query.limit));
        let rows = match by_position {
            true => tuple(rows!(
                "",
                "weight_places o CROSS JOIN weights w",
                "o.ruleset = $1 AND o.kind = $2 AND o.position > $4 AND o.position <= $5 AND $3 = ''
                 AND w.ruleset = o.ruleset AND w.kind = o.kind AND w.player = o.player ORDER BY o.position"
            )),
            false => tuple(SEARCH),
        };
        let rows = rows.bind(query.ruleset).bind(query.kind.as_str());
        let rows = rows.bind(query.search).bind(query.skip);
        let rows = rows.bind(if by_position { end } else { query.limit });
        Ok((rows.fetch_all(&mut tx).await?, size))
    }

    /// The humans of a leaderboard whose name is one of these texts, or whose identity or handle is; all in lower case.
    /// At most 500, by place.
    pub async fn named(
        &self,
        ruleset: &str,
        texts: &BTreeSet<String>,
    ) -> Result<Vec<BoardRow>, StoreError> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let mut query = Sql::new(rows!("", "weights w", "w.kind = 'human' AND w.ruleset = "));
        query.push_bind(ruleset.to_owned());
        query.push(
            " AND w.player IN (SELECT f.player FROM weight_places f
              WHERE f.kind = 'human' AND f.ruleset = ",
        );
        query
            .push_bind(ruleset.to_owned())
            .push(" AND (f.plain IN ");
        query
            .list(texts)
            .push(" OR lower(f.player) IN ")
            .list(texts);
        query
            .push(") UNION SELECT h.player FROM persons h WHERE h.kind = 'human' AND h.handle IN ");
        query.list(texts).push(") ORDER BY w.position LIMIT 500");
        query.build_tuple().fetch_all(&self.pages).await
    }

    /// The humans of a leaderboard who were in the latest matches of its ruleset, at most `limit`, those who played last first.
    pub async fn latest_players(
        &self,
        ruleset: &str,
        limit: i64,
    ) -> Result<Vec<BoardRow>, StoreError> {
        let query = tuple(rows!(
            "",
            latest!(),
            "w.ruleset = $1 AND w.kind = 'human' AND w.player = f.player ORDER BY f.last DESC, w.position"
        ));
        let query = query.bind(ruleset).bind(LATEST).bind(limit);
        query.fetch_all(&self.pages).await
    }

    /// The player with this handle, else with this identity: the human, or the bot if there is no such
    /// human. With a kind, only that. Identities that were merged lead to the player they count as.
    /// `None` for players without a page.
    pub async fn person(
        &self,
        text: &str,
        kind: Option<Kind>,
    ) -> Result<Option<PersonRow>, StoreError> {
        let query = tuple(PERSON);
        let query = query.bind(steam::canonical(text));
        let query = query.bind(kind.map(Kind::as_str));
        query.fetch_optional(&self.pages).await
    }

    /// A player's standings, that with most matches first, at most 50.
    pub async fn standings_of(&self, person: &PersonRow) -> Result<Vec<StandingLine>, StoreError> {
        let query = tuple(rows!(
            ", w.ruleset, coalesce((SELECT max(position) FROM weight_places o
                             WHERE o.ruleset = w.ruleset AND o.kind = w.kind AND o.standing = 0), 0) AS of,
               (SELECT max(ended_at) FROM rulings r WHERE r.ruleset = w.ruleset AND r.unrated IS NULL) AS learned",
            "weights w",
            "w.player = $1 AND w.kind = $2 ORDER BY w.games DESC, w.ruleset LIMIT 50"
        ));
        let query = query.bind(&person.key.id).bind(person.key.kind.as_str());
        query.fetch_all(&self.pages).await
    }

    /// The number of the person whose matches count for this identity, also of one who is hidden; `None` without a
    /// rated match.
    pub async fn person_number(&self, player: &PlayerKey) -> Result<Option<i64>, StoreError> {
        let query = "SELECT person FROM persons WHERE kind = $1 AND player = $2";
        let query = scalar(query).bind(player.kind.as_str());
        query.bind(&player.id).fetch_optional(&self.pages).await
    }

    /// Keeps a player off the pages, or shows the player again. Returns whether that changes anything.
    pub async fn set_hidden(&self, player: &PlayerKey, hidden: bool) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let kind = player.kind.as_str();
        let merged = "SELECT into_player FROM merged_players WHERE kind = $1 AND player = $2";
        let merged = scalar(merged).bind(kind).bind(&player.id);
        let merged: Option<String> = merged.fetch_optional(&mut tx).await?;
        let mut done = 0;
        for id in [Some(&player.id), merged.as_ref()].into_iter().flatten() {
            let query = match hidden {
                true => sql(
                    "INSERT INTO hidden_players (kind, player) VALUES ($1, $2) ON CONFLICT DO NOTHING",
                ),
                false => sql(
                    "DELETE FROM hidden_players WHERE kind = $1 AND (player = $2 OR player IN
                         (SELECT player FROM merged_players WHERE kind = $1 AND into_player = $2))",
                ),
            };
            let query = query.bind(kind).bind(id);
            done += query.execute(&mut tx).await?;
        }
        self.commit(tx).await?;
        Ok(done > 0)
    }
}

impl FromRow for BoardRow {
    fn from_row(row: &Row) -> Result<Self, StoreError> {
        let key = row.player()?;
        Ok(Self {
            standing: Standing::of_number(row.get("standing")?),
            place: row.get("place")?,
            handle: row.get("handle")?,
            name: public_name(&key, row.get("name")?),
            key,
            weight: row.get("weight")?,
            deviation: row.get("deviation")?,
            games: row.get("games")?,
            last_seen: row.get("last_seen")?,
            division: row.get("division")?,
        })
    }
}

impl Column<'_> for BoardRow {
    fn read(row: &Row, _: At<'_>) -> Result<Self, StoreError> {
        Self::from_row(row)
    }
}
