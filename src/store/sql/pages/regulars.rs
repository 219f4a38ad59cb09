//! Reads who plays most lately, and how their weights have moved.

use super::{games::shown, standings::size};
use crate::{
    domain::{Kind, Timestamp},
    store::{Store, StoreError, db::*},
};

/// The most weights that are read of one player: the latest.
const WEIGHTS: i64 = 500;

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
    /// The weights after the latest matches under the ruleset, the first one first.
    pub weights: Vec<(Timestamp, f64)>,
}

impl Store {
    /// The players of a kind who were in most of the latest `matches` rated matches of a ruleset, at most `limit`.
    pub async fn regulars(
        &self,
        ruleset: &str,
        kind: Kind,
        matches: i64,
        limit: i64,
    ) -> Result<Vec<Regular>, StoreError> {
        let mut tx = self.pages.snapshot().await?;
        let query = tuple(
            "SELECT p.person, true, count(*), CAST(0 AS DOUBLE PRECISION)
             FROM (SELECT match_id FROM rulings WHERE ruleset = $1 AND unrated IS NULL
                   ORDER BY ended_at DESC LIMIT $2) r
             JOIN performances p ON p.match_id = r.match_id
             JOIN persons o ON o.person = p.person
             WHERE o.kind = $3 AND p.weight IS NOT NULL
             GROUP BY p.person ORDER BY count(*) DESC, p.person LIMIT $4",
        );
        let query = query.bind(ruleset).bind(matches).bind(kind.as_str());
        let counted: Vec<(i64, bool, i64, f64)> = query.bind(limit).fetch_all(&mut tx).await?;
        let shown = shown(&mut tx, &counted).await?;
        let mut list = Vec::with_capacity(counted.len());
        for (person, _, matches, _) in counted {
            // Those who are hidden have no page, and no line.
            let Some((handle, kind, name)) = shown.get(&person).cloned() else {
                continue;
            };
            let query = tuple(
                "SELECT p.ended_at, p.weight FROM performances p JOIN rulings r ON r.match_id = p.match_id
                 WHERE p.person = $1 AND r.ruleset = $2 AND p.weight IS NOT NULL
                 ORDER BY p.ended_at DESC LIMIT $3",
            );
            let query = query.bind(person).bind(ruleset).bind(WEIGHTS);
            let mut weights: Vec<(Timestamp, f64)> = query.fetch_all(&mut tx).await?;
            weights.reverse();
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

    /// What the players with a place under a ruleset are worth at least (the weight minus one deviation), in the order of
    /// their places: of all of them, or of `most` at equal distances.
    pub async fn worth_at_least(
        &self,
        ruleset: &str,
        kind: Kind,
        most: i64,
    ) -> Result<Vec<f64>, StoreError> {
        let mut tx = self.pages.snapshot().await?;
        let placed = size(&mut tx, ruleset, kind).await?.placed;
        let count = placed.min(most);
        if count == 0 {
            return Ok(Vec::new());
        }
        let position = |at: i64| 1 + at * (placed - 1) / (count - 1).max(1);
        let mut query = Sql::new(
            "SELECT w.weight - w.deviation FROM weight_places o CROSS JOIN weights w
             WHERE w.ruleset = o.ruleset AND w.kind = o.kind AND w.player = o.player AND o.ruleset = ",
        );
        query.push_bind(ruleset.to_owned());
        query.push(" AND o.kind = ").push_bind(kind.as_str());
        query.push(" AND o.position IN ");
        query.list((0..count).map(position));
        query.push(" ORDER BY o.position");
        query.build_scalar().fetch_all(&mut tx).await
    }
}
