//! Who was in which match: everybody, the names that they used, and their matches.

use std::collections::BTreeMap;

use super::Matches;
use crate::{
    model::{Kind, PlayerKey, Timestamp, plain_name},
    store::{StoreError, db::*},
};

columns! {
    /// A name that a player has used.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct NameSeen {
        /// The name as the game sent it.
        pub name: String,
        /// Number of matches under this name.
        pub matches: u32,
        /// The start of the first of these matches.
        pub first: Timestamp,
        /// The end of the last of these matches.
        pub last: Timestamp,
    }
}

columns! {
    /// A player whom a search has found, under the identity that their matches count for.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct FoundPlayer {
        /// The identity of the player.
        pub key: PlayerKey,
        /// The public handle; `None` without rated matches.
        pub handle: Option<String>,
        /// The latest name, as the game sent it.
        pub name: String,
        /// Number of rated matches in all rulesets.
        pub games: i64,
        /// The end of the last rated match; `None` without any.
        pub last_seen: Option<Timestamp>,
    }
}

impl Matches<'_> {
    /// The ids of the matches of a player, under all identities that count as them, that ended at
    /// `since` or later, in order of time.
    pub async fn matches_of(
        self,
        player: &PlayerKey,
        since: Timestamp,
    ) -> Result<Vec<i64>, StoreError> {
        let query = scalar(
            "SELECT m.id FROM matches m
             WHERE m.ended_at >= $3 AND EXISTS (
                 SELECT 1 FROM match_players p
                 WHERE p.match_id = m.id AND p.kind = $1 AND (p.player = $2 OR p.player IN
                     (SELECT player FROM merged_players WHERE kind = $1 AND into_player = $2)))
             ORDER BY m.ended_at, m.fingerprint",
        );
        let query = query.bind(player.kind.as_str()).bind(&player.id);
        query.bind(since).fetch_all(&self.0.readers).await
    }

    /// Everybody who has a page, and who is in a match after `last`, in no particular order. With the last match of the
    /// derived tables, that is whoever is in a rated match, without reading the players of all matches.
    pub async fn participants(self, last: i64) -> Result<Vec<PlayerKey>, StoreError> {
        let all = "SELECT kind, player FROM match_players WHERE match_id > $1
             UNION SELECT kind, player FROM persons";
        let rows = sql(all).bind(last).fetch_all(&self.0.readers).await?;
        rows.iter().map(Row::player).collect()
    }

    /// The names that a player has used, the latest first; empty if the player has no matches.
    pub async fn names(self, player: &PlayerKey) -> Result<Vec<NameSeen>, StoreError> {
        let query = tuple(
            "SELECT p.name, count(*) AS matches, min(m.started_at) AS first, max(m.ended_at) AS last
             FROM match_players p JOIN matches m ON m.id = p.match_id
             WHERE p.kind = $1 AND (p.player = $2 OR p.player IN
                 (SELECT player FROM merged_players WHERE kind = $1 AND into_player = $2 AND automatic))
             GROUP BY p.name ORDER BY last DESC, p.name",
        );
        let query = query.bind(player.kind).bind(&player.id);
        query.fetch_all(&self.0.readers).await
    }

    /// Players with this text in a name, in an identity or in one that was merged into theirs, or as their handle; those
    /// with most matches first. Colour codes and the case of letters do not matter. With a kind, only that.
    pub async fn find_players(
        self,
        text: &str,
        kind: Option<Kind>,
        limit: i64,
    ) -> Result<Vec<FoundPlayer>, StoreError> {
        let mut tx = self.0.readers.snapshot().await?;
        let query = tuple(FIND).bind(plain_name(text).to_lowercase());
        let query = query.bind(text).bind(kind).bind(limit);
        let mut found: Vec<FoundPlayer> = query.fetch_all(&mut tx).await?;
        name_unrated(&mut tx, &mut found).await?;
        Ok(found)
    }
}

/// Gives players without a weight the names that they had in their latest matches.
async fn name_unrated(tx: &mut Connection, found: &mut [FoundPlayer]) -> Result<(), StoreError> {
    let unrated = found.iter_mut().filter(|one| one.last_seen.is_none());
    let mut unrated: BTreeMap<PlayerKey, &mut String> = unrated
        .map(|one| (one.key.clone(), &mut one.name))
        .collect();
    if unrated.is_empty() {
        return Ok(());
    }
    let mut query = Sql::new(
        "SELECT p.kind, p.player, p.name FROM (
             SELECT kind, player, max(match_id) AS match_id FROM match_players WHERE player IN ",
    );
    query.list(unrated.keys().map(|key| &key.id)).push(
        " GROUP BY kind, player) l
         JOIN match_players p ON p.match_id = l.match_id AND p.kind = l.kind AND p.player = l.player",
    );
    for row in query.build().fetch_all(tx).await? {
        if let Some(name) = unrated.get_mut(&row.player()?) {
            **name = row.get("name")?;
        }
    }
    Ok(())
}

/// The players with a text in a name or an identity; those who have a weight with their names.
const FIND: &str = "WITH named AS (
        SELECT kind, player FROM weights WHERE instr(plain, $1) > 0
        UNION SELECT kind, player FROM match_players WHERE instr(lower(name), $1) > 0 OR instr(lower(player), $1) > 0
        UNION SELECT kind, player FROM persons WHERE handle = $2),
    found AS (
        SELECT DISTINCT n.kind, coalesce(m.into_player, n.player) AS player FROM named n
        LEFT JOIN merged_players m ON m.kind = n.kind AND m.player = n.player
        WHERE $3 IS NULL OR n.kind = $3)
    SELECT f.kind, f.player, p.handle,
        coalesce((SELECT w.name FROM weights w WHERE w.kind = f.kind AND w.player = f.player
                  ORDER BY w.last_seen DESC, w.ruleset LIMIT 1), '') AS name,
        CAST(coalesce((SELECT sum(w.games) FROM weights w WHERE w.kind = f.kind AND w.player = f.player), 0) AS BIGINT)
            AS games,
        (SELECT max(w.last_seen) FROM weights w WHERE w.kind = f.kind AND w.player = f.player) AS last_seen
    FROM found f LEFT JOIN persons p ON p.kind = f.kind AND p.player = f.player
    ORDER BY games DESC, f.player LIMIT $4";
