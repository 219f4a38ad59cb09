//! The matches of one player and of two, the names that players used, and the players whom a text names.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
};

use super::{Matches, chances};
use crate::{
    model::{
        Kind, PlayerKey, Timestamp,
        match_chances::TeamChances,
        names::{folded, own_name, plain_name},
        weight::{WeightCause, WeightEntry},
    },
    store::{
        Store, StoreError,
        db::*,
        learned::persons::{is_forgotten, nameless},
    },
};

columns! {
    /// A rated match of one player.
    #[derive(Clone, Debug, PartialEq)]
    pub struct GameOfPerson {
        /// The match that was played.
        pub id: i64,
        /// The end of the match.
        pub ended: Timestamp,
        /// The key of the ruleset.
        pub ruleset: String,
        /// Name of the map.
        pub map: String,
        /// The player's team; `None` without teams.
        pub team: Option<u8>,
        /// 1 if it won, 0.5 for a draw, 0 if it lost; `None` without a result.
        pub result: Option<f64>,
        /// The forecast: see [`MatchLine::forecast`](crate::store::MatchLine::forecast).
        pub forecast: Option<f64>,
        /// What the match entered into the player's account.
        pub entry: Option<WeightEntry>,
        /// Points that the player's team scored meanwhile; kills without teams. `None` if the scores are not known.
        pub points_for: Option<f64>,
        /// Points scored against it; deaths without teams.
        pub points_against: Option<f64>,
    }
}

impl GameOfPerson {
    /// The forecast for the player's team; `None` unless the match had two teams.
    pub fn expected(&self) -> Option<f64> {
        of_team(self.team, self.forecast)
    }
}

/// The chance of a team of two, from that of the first one.
pub(super) fn of_team(team: Option<u8>, first: Option<f64>) -> Option<f64> {
    match team {
        Some(0) => first,
        Some(1) => first.map(|chance| 1.0 - chance),
        _ => None,
    }
}

columns! {
    /// Points on the scoreboard of a match.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct PointsInMatch {
        /// The match that was played.
        pub id: i64,
        /// The points of one player.
        pub own: f64,
        /// The mean of the others' points; `None` if nobody else has any.
        pub others: Option<f64>,
    }
}

/// Who has played with and against a player.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Companions {
    /// Those with most matches, on the player's team and on others.
    pub list: Vec<Companion>,
    /// How many there are on the player's team, with those who are not in the list.
    pub together: usize,
    /// How many there are on other teams.
    pub apart: usize,
}

/// A player who was in matches with another one.
#[derive(Clone, Debug, PartialEq)]
pub struct Companion {
    /// The handle; `None` if the player has none.
    pub handle: Option<String>,
    /// The kind of the player.
    pub kind: Kind,
    /// The name in the player's latest match.
    pub name: String,
    /// Whether they were on one team.
    pub together: bool,
    /// Number of matches that both were in.
    pub games: i64,
    /// How many of these the first player won; a draw is half a win.
    pub won: f64,
}

impl Matches<'_> {
    /// A player's latest rated matches, the last one first.
    pub async fn games_of(self, person: i64, limit: i64) -> Result<Vec<GameOfPerson>, StoreError> {
        let query = tuple(
            "SELECT p.match_id AS id, m.ended_at AS ended, p.team, p.result, p.weight_before, p.weight, p.deviation, p.cause,
                    p.points_for, p.points_against, r.ruleset, r.chance AS forecast, m.map
             FROM performances p
             JOIN rulings r ON r.match_id = p.match_id
             JOIN matches m ON m.id = p.match_id
             WHERE p.person = $1 ORDER BY p.ended_ms DESC, p.match_id DESC LIMIT $2",
        );
        let query = query.bind(person).bind(limit);
        query.fetch_all(&self.0.pages).await
    }

    /// The teams of those of these matches of which it is known how they were at START, with the chances that were
    /// predicted then.
    pub async fn started_teams(self, ids: &[i64]) -> Result<HashMap<i64, TeamChances>, StoreError> {
        let mut all = HashMap::with_capacity(ids.len());
        if ids.is_empty() {
            return Ok(all);
        }
        let mut query = Sql::new(chances::STARTED_TEAMS);
        query.list(ids.iter().copied());
        for row in query.build().fetch_all(&self.0.pages).await? {
            if let Some(started) = chances::started(&row, 2)? {
                all.insert(row.get("match_id")?, started);
            }
        }
        Ok(all)
    }

    /// A player's points in those of these matches that have any, in no particular order.
    pub async fn points_in(
        self,
        person: i64,
        ids: &[i64],
    ) -> Result<Vec<PointsInMatch>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut query = Sql::new(
            "SELECT p.match_id AS id, a.points AS own,
                    (SELECT avg(o.points) FROM match_players o
                     WHERE o.match_id = p.match_id AND o.seat <> p.seat) AS others
             FROM performances p JOIN match_players a ON a.match_id = p.match_id AND a.seat = p.seat
             WHERE a.points IS NOT NULL AND p.person = ",
        );
        query.push_bind(person).push(" AND p.match_id IN ");
        query.list(ids.iter().copied());
        query.build_tuple().fetch_all(&self.0.pages).await
    }

    /// Who has played with and against a player in at least `fewest` matches since a time, those with most matches
    /// first, at most `limit` of each.
    pub async fn companions(
        self,
        person: i64,
        since: Timestamp,
        fewest: i64,
        limit: usize,
    ) -> Result<Companions, StoreError> {
        let mut tx = self.0.pages.snapshot().await?;
        let query = tuple(
            "SELECT q.person, q.team = p.team AS together, count(*), sum(p.result)
             FROM performances p
             JOIN performances q ON q.match_id = p.match_id AND q.person <> p.person
             WHERE p.person = $1 AND p.ended_ms >= $2 AND p.result IS NOT NULL AND q.team IS NOT NULL
             GROUP BY q.person, q.team = p.team HAVING count(*) >= $3",
        );
        let query = query.bind(person).bind(since.0).bind(fewest);
        let mut counted: Vec<Counted> = query.fetch_all(&mut tx).await?;
        counted.sort_by_key(|&(other, _, games, _)| (Reverse(games), other));
        let (with, against): (Vec<Counted>, Vec<Counted>) =
            counted.into_iter().partition(|counted| counted.1);
        let looked_at = with.iter().take(limit).chain(against.iter().take(limit));
        let looked_at: Vec<Counted> = looked_at.copied().collect();
        let persons: Vec<i64> = looked_at.iter().map(|counted| counted.0).collect();
        let shown = shown(&mut tx, None, &persons).await?;
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
}

/// What a match entered into an account is in four columns of `performances`.
impl FromColumn<'_> for Option<WeightEntry> {
    fn read(row: &Row, _: At<'_>) -> Result<Self, StoreError> {
        let numbers: [Option<f64>; 3] = [
            row.get("weight_before")?,
            row.get("weight")?,
            row.get("deviation")?,
        ];
        let cause: Option<&str> = row.get("cause")?;
        Ok(match numbers {
            [Some(before), Some(weight), Some(deviation)] => Some(WeightEntry {
                before,
                weight,
                deviation,
                cause: cause.and_then(WeightCause::parse),
            }),
            _ => None,
        })
    }
}

/// The number of another person, whether on the same team, the number of matches, and the wins.
type Counted = (i64, bool, i64, f64);

/// The handle, the kind and the name among the players of a ruleset of each of these persons, without those who have no page.
pub(in crate::store) async fn shown(
    tx: &mut PooledConnection,
    ruleset: Option<&str>,
    persons: &[i64],
) -> Result<HashMap<i64, (String, Kind, String)>, StoreError> {
    let mut shown = HashMap::new();
    if persons.is_empty() {
        return Ok(shown);
    }
    let mut query = Sql::new(
        "SELECT p.person, p.handle, p.kind, p.player,
                (SELECT w.name FROM weights w WHERE w.player = p.player AND w.kind = p.kind
                 ORDER BY w.last_seen DESC LIMIT 1) AS name
         FROM persons p
         WHERE NOT EXISTS (SELECT 1 FROM player_settings h WHERE h.kind = p.kind AND h.player = p.player AND h.hidden)
           AND p.person IN ",
    );
    query.list(persons);
    let mut found = Vec::new();
    for row in query.build().fetch_all(&mut *tx).await? {
        let (key, name) = (row.player()?, row.get::<Option<String>>("name")?);
        let Some(name) = name.filter(|name| !is_forgotten(&key, name)) else {
            continue;
        };
        let name = own_name(&key, name);
        found.push((row.get("person")?, row.get("handle")?, key, name));
    }
    let unnamed = found.iter().filter(|(.., name)| name.is_none());
    let unnamed = unnamed.map(|(_, _, key, _)| key).collect();
    let nameless = nameless(tx, ruleset, &unnamed).await?;
    for (person, handle, key, name) in found {
        let name = name.or_else(|| nameless.get(&key).cloned());
        shown.insert(person, (handle, key.kind, name.unwrap_or_default()));
    }
    Ok(shown)
}

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
        /// The ruleset with most of them; `None` without any.
        pub ruleset: Option<String>,
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

    /// The ids of the matches that a client has brought, in order of time: of those over HTTP that came at `since` or later,
    /// and of all others that ended then. A name that ends with `*` stands for all that begin like it.
    pub async fn brought_by(self, client: &str, since: Timestamp) -> Result<Vec<i64>, StoreError> {
        let (name, is_start) = match client.strip_suffix('*') {
            Some(start) => (start, true),
            None => (client, false),
        };
        let query = scalar(
            "SELECT id FROM matches
             WHERE (client = $1 OR ($2 AND substr(client, 1, length($1)) = $1)) AND coalesce(reported_at, ended_at) >= $3
             ORDER BY ended_at, fingerprint",
        );
        let query = query.bind(name).bind(is_start).bind(since);
        query.fetch_all(&self.0.readers).await
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
        let query = tuple(FIND).bind(folded(&plain_name(text)));
        let query = query.bind(text).bind(kind).bind(limit);
        let mut found: Vec<FoundPlayer> = query.fetch_all(&mut tx).await?;
        name_unrated(&mut tx, &mut found).await?;
        Ok(found)
    }
}

/// Gives players without a weight the names that they had in their latest matches.
async fn name_unrated(
    tx: &mut PooledConnection,
    found: &mut [FoundPlayer],
) -> Result<(), StoreError> {
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
        (SELECT max(w.last_seen) FROM weights w WHERE w.kind = f.kind AND w.player = f.player) AS last_seen,
        (SELECT w.ruleset FROM weights w WHERE w.kind = f.kind AND w.player = f.player
         ORDER BY w.games DESC, w.ruleset LIMIT 1) AS ruleset
    FROM found f LEFT JOIN persons p ON p.kind = f.kind AND p.player = f.player
    ORDER BY games DESC, f.player LIMIT $4";

columns! {
    /// A rated match with a result in which two persons were on teams.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct SharedGame {
        /// The match that was played.
        pub id: i64,
        /// Whether both were on one team.
        pub together: bool,
        /// The team of the first one.
        pub team: Option<u8>,
        /// 1 if it won, 0.5 for a draw, 0 if it lost.
        pub result: f64,
        /// The forecast for team 0 of two.
        pub forecast: Option<f64>,
    }
}

impl SharedGame {
    /// The forecast for the team of the first one; `None` unless the match had two teams.
    pub fn expected(&self) -> Option<f64> {
        of_team(self.team, self.forecast)
    }
}

impl Matches<'_> {
    /// The latest rated matches with a result of two persons, the last one first.
    pub async fn shared_games(
        self,
        one: i64,
        other: i64,
        limit: i64,
    ) -> Result<Vec<SharedGame>, StoreError> {
        let rarer = self.rarer(one, other).await?;
        let commoner = if rarer == one { other } else { one };
        let query = tuple(SHARED).bind(rarer).bind(commoner);
        let query = query.bind(one).bind(limit);
        query.fetch_all(&self.0.pages).await
    }

    /// Which of two persons was in fewer matches: who was in both is found among these.
    pub(super) async fn rarer(self, one: i64, other: i64) -> Result<i64, StoreError> {
        let query = scalar(
            "SELECT CASE WHEN (SELECT count(*) FROM performances WHERE person = $1)
                           <= (SELECT count(*) FROM performances WHERE person = $2) THEN $1 ELSE $2 END",
        );
        let query = query.bind(one).bind(other);
        query.fetch_one(&self.0.pages).await
    }
}

/// The matches with a result of $1 and $2, who was in more matches, from the side of $3. An index has all that is read of the
/// matches in which only one of them was. SQLite keeps the order of a CROSS JOIN.
pub(in crate::store) const SHARED: &str = "SELECT a.match_id AS id, a.team = b.team AS together,
        CASE WHEN a.person = $3 THEN a.team ELSE b.team END AS team,
        CASE WHEN a.person = $3 THEN a.result ELSE b.result END AS result, r.chance AS forecast
    FROM performances d CROSS JOIN performances e
    CROSS JOIN performances a CROSS JOIN performances b CROSS JOIN rulings r
    WHERE d.person = $1 AND e.person = $2 AND e.ended_ms = d.ended_ms AND e.match_id = d.match_id
      AND a.match_id = d.match_id AND a.seat = d.seat AND b.match_id = e.match_id AND b.seat = e.seat
      AND r.match_id = d.match_id AND a.result IS NOT NULL AND b.result IS NOT NULL AND a.person <> b.person
    ORDER BY d.ended_ms DESC, d.match_id DESC LIMIT $4";

/// Of players with the same name, this many are found.
const MOST: i64 = 20;

impl Store {
    /// The players whom a text names: the one with this identity if it has played; else those with this handle or latest
    /// name, of whom at most 20.
    pub async fn called(&self, kind: Kind, text: &str) -> Result<Vec<FoundPlayer>, StoreError> {
        let found = self.matches().find_players(text, Some(kind), MOST).await?;
        let id = text.to_owned();
        let key = PlayerKey { kind, id };
        let names = self.matches().names(&key).await?;
        if let Some(latest) = names.into_iter().next() {
            let known = found.into_iter().find(|one| one.key == key);
            let bare = || FoundPlayer {
                key,
                name: latest.name,
                handle: None,
                games: 0,
                last_seen: None,
                ruleset: None,
            };
            return Ok(vec![known.unwrap_or_else(bare)]);
        }
        let name = folded(&plain_name(text));
        let is_named = |one: &FoundPlayer| {
            let has_name = folded(&plain_name(&one.name)) == name;
            has_name || one.handle.as_deref() == Some(text)
        };
        Ok(found.into_iter().filter(is_named).collect())
    }
}
