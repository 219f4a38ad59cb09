//! Reads the matches of one player, and who was in them.

use std::{cmp::Reverse, collections::HashMap};

use super::{Matches, chances};
use crate::{
    model::{Kind, PlayerKey, TeamChances, Timestamp, WeightCause, WeightEntry},
    store::{
        StoreError,
        db::*,
        learned::names::{is_forgotten, public_name},
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
        /// Points that the player's team scored meanwhile; kills without teams.
        pub points_for: f64,
        /// Points scored against it; deaths without teams.
        pub points_against: f64,
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
        let shown = shown(&mut tx, &persons).await?;
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
impl Column<'_> for Option<WeightEntry> {
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

/// The handle, the kind and the name of each of these persons, without those who have no page.
pub(in crate::store) async fn shown(
    tx: &mut Connection,
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
    for row in query.build().fetch_all(tx).await? {
        let kind: Kind = row.get("kind")?;
        let id = row.get("player")?;
        let (key, name) = (PlayerKey { kind, id }, row.get::<Option<String>>("name")?);
        let Some(name) = name.filter(|name| !is_forgotten(&key, name)) else {
            continue;
        };
        let name = public_name(&key, name);
        shown.insert(row.get("person")?, (row.get("handle")?, kind, name));
    }
    Ok(shown)
}
