//! Reads what the latest matches of a ruleset say: how long they last, how often favourites won, and who plays most.

use super::{Matches, of_person::shown};
use crate::{
    model::{Kind, Timestamp},
    store::{StoreError, db::*},
};

/// Of how many of a player's latest matches, under all rulesets, the weights are read, at most.
const LATEST: i64 = 1_000;
/// Of more matches than this, about as many are read: to read all takes long.
const WEIGHTS: i64 = 90;

/// How many matches count, the latest ones: enough for a stable length, few enough to follow a changed limit.
const LENGTHS: i64 = 100;

columns! {
    /// How often favourites won, in matches whose teams Evenkeel has picked or in others.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Favoured {
        /// Whether Evenkeel has picked their teams.
        pub picked: bool,
        /// Number of matches with a forecast that a team won.
        pub decided: i64,
        /// In how many of these the favourite won.
        pub won: i64,
    }
}

/// A player who was in many of the latest matches of a ruleset.
#[derive(Clone, Debug, PartialEq)]
pub struct Regular {
    /// The handle.
    pub handle: String,
    /// The kind of the player.
    pub kind: Kind,
    /// The name in the player's latest match.
    pub name: String,
    /// In how many of the matches the player was.
    pub matches: i64,
    /// The weights after some of the latest matches under the ruleset, the first one first.
    pub weights: Vec<(Timestamp, f64)>,
}

impl Matches<'_> {
    /// The lengths of the latest rated matches of a ruleset whose lengths are known, in milliseconds.
    pub async fn latest_lengths(self, ruleset: &str) -> Result<Vec<u64>, StoreError> {
        let query = tuple(
            "SELECT q.started_at, q.ended_at FROM
                 (SELECT m.started_at, m.ended_at, m.untimed FROM rulings r JOIN matches m ON m.id = r.match_id
                  WHERE r.ruleset = $1 AND r.unrated IS NULL ORDER BY r.ended_at DESC LIMIT $2) q
             WHERE NOT q.untimed",
        );
        let rows: Vec<(Timestamp, Timestamp)> = query
            .bind(ruleset)
            .bind(LENGTHS)
            .fetch_all(&self.0.pages)
            .await?;
        let length = |(start, end): &(Timestamp, Timestamp)| u64::try_from(end.0 - start.0).ok();
        Ok(rows.iter().filter_map(length).collect())
    }

    /// How often favourites won in the latest rated matches of a ruleset, at most `limit`: those whose teams Evenkeel has
    /// picked, and others. A chance as picked can come after its match was learned: if its log was read first.
    pub async fn favoured(self, ruleset: &str, limit: i64) -> Result<Vec<Favoured>, StoreError> {
        let query = tuple(
            "SELECT kp.match_id IS NOT NULL AS picked, count(*) AS decided,
                    CAST(sum(CASE WHEN (r.chance >= 0.5) = (m.winner = 0) THEN 1 ELSE 0 END) AS BIGINT) AS won
             FROM (SELECT match_id, chance, ruleset FROM rulings
                   WHERE ruleset = $1 AND unrated IS NULL ORDER BY ended_at DESC LIMIT $2) r
             JOIN matches m ON m.id = r.match_id
             LEFT JOIN match_chances kp ON kp.match_id = m.id AND kp.step = 0
                  AND (kp.ruleset IS NULL OR kp.ruleset = r.ruleset)
             WHERE r.chance IS NOT NULL AND m.winner IS NOT NULL
             GROUP BY kp.match_id IS NOT NULL",
        );
        query
            .bind(ruleset)
            .bind(limit)
            .fetch_all(&self.0.pages)
            .await
    }

    /// The players of a kind who were in most of the latest `matches` rated matches of a ruleset, at most `limit`.
    pub async fn regulars(
        self,
        ruleset: &str,
        kind: Kind,
        matches: i64,
        limit: i64,
    ) -> Result<Vec<Regular>, StoreError> {
        let mut tx = self.0.pages.snapshot().await?;
        let query = tuple(
            "SELECT g.person, g.matches
             FROM (SELECT p.person, count(*) AS matches
                   FROM (SELECT match_id FROM rulings WHERE ruleset = $1 AND unrated IS NULL
                         ORDER BY ended_at DESC LIMIT $2) r
                   JOIN performances p ON p.match_id = r.match_id
                   WHERE p.weight IS NOT NULL GROUP BY p.person) g
             JOIN persons o ON o.person = g.person
             WHERE o.kind = $3 ORDER BY g.matches DESC, g.person LIMIT $4",
        );
        let query = query.bind(ruleset).bind(matches).bind(kind.as_str());
        let counted: Vec<(i64, i64)> = query.bind(limit).fetch_all(&mut tx).await?;
        let persons: Vec<i64> = counted.iter().map(|counted| counted.0).collect();
        let shown = shown(&mut tx, Some(ruleset), &persons).await?;
        let mut list = Vec::with_capacity(counted.len());
        for (person, matches) in counted {
            // Those who are hidden have no page, and no line.
            let Some((handle, kind, name)) = shown.get(&person).cloned() else {
                continue;
            };
            let weights = weights_over_time(&mut tx, person, ruleset).await?;
            list.push(Regular {
                handle,
                kind,
                name,
                matches,
                weights,
            });
        }
        Ok(list)
    }
}

/// The weights of a person under a ruleset after some of the latest matches, the last one among them, the first one first.
async fn weights_over_time(
    tx: &mut PooledConnection,
    person: i64,
    ruleset: &str,
) -> Result<Vec<(Timestamp, f64)>, StoreError> {
    let played = scalar(
        "SELECT count(*) FROM (SELECT 1 FROM performances WHERE person = $1 LIMIT $2) AS played",
    );
    let played: i64 = played.bind(person).bind(LATEST).fetch_one(&mut *tx).await?;
    let query = tuple(SOME_WEIGHTS).bind(person).bind(ruleset);
    let query = query.bind(LATEST).bind((played / WEIGHTS).max(1));
    query.fetch_all(tx).await
}

/// The weights of the person $1 under the ruleset $2 after one of $4 of the latest $3 matches, chosen by the seconds of their
/// end, and after the last one. An index has all that is read of the other matches.
const SOME_WEIGHTS: &str = "SELECT r.ended_at, p.weight
    FROM (SELECT match_id, seat, ended_ms FROM performances WHERE person = $1
          ORDER BY ended_ms DESC, match_id DESC LIMIT $3) s
    CROSS JOIN performances p CROSS JOIN rulings r
    WHERE s.ended_ms / 1000 % 997 % $4 = 0 AND p.match_id = s.match_id AND p.seat = s.seat
      AND r.match_id = s.match_id AND r.ruleset = $2 AND p.weight IS NOT NULL
    UNION
    SELECT l.ended_at, l.weight FROM (
        SELECT r.ended_at, p.weight FROM performances p CROSS JOIN rulings r
        WHERE p.person = $1 AND r.match_id = p.match_id AND r.ruleset = $2 AND p.weight IS NOT NULL
        ORDER BY p.ended_ms DESC LIMIT 1) l
    ORDER BY 1";
