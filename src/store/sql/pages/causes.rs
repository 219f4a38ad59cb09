//! Reads what may have made matches one-sided.

use super::super::balances::{start_of_week, week_of};
use crate::{
    domain::{Causes, Timestamp},
    store::{Store, StoreError, db::*},
};

/// The matches with scores of one week that have the same causes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GapsByCauses {
    /// What they have in common.
    pub causes: Causes,
    /// Number of matches.
    pub matches: i64,
    /// Sum of the differences between the highest and the lowest score.
    pub gap: f64,
    /// Sum of the squares of these differences.
    pub squares: f64,
}

impl Store {
    /// How far apart the scores of a ruleset's rated matches with scores were, by what the matches have in common, from
    /// the week of `since` on.
    pub async fn gaps_by_causes(
        &self,
        ruleset: &str,
        since: Timestamp,
    ) -> Result<Vec<GapsByCauses>, StoreError> {
        let query = sql(
            "SELECT causes, CAST(sum(matches) AS BIGINT) AS matches, sum(gap) AS gap, sum(squares) AS squares
             FROM balance_causes WHERE ruleset = $1 AND week >= $2 GROUP BY causes ORDER BY causes",
        );
        let line = |row: &Row| {
            let bits: i64 = row.get("causes")?;
            let bits =
                u8::try_from(bits).map_err(|_| StoreError::BadValue(format!("causes {bits}")))?;
            Ok(GapsByCauses {
                causes: Causes::from_bits(bits),
                matches: row.get("matches")?,
                gap: row.get("gap")?,
                squares: row.get("squares")?,
            })
        };
        let query = query.bind(ruleset).bind(week_of(since));
        let rows = query.fetch_all(&self.pages).await?;
        rows.iter().map(line).collect()
    }

    /// The numbers of players in the latest rated matches of a ruleset, the latest `limit`.
    pub async fn match_sizes(&self, ruleset: &str, limit: i64) -> Result<Vec<i64>, StoreError> {
        let query = scalar(
            "SELECT count(*) FROM performances f
             WHERE f.team IS NOT NULL
               AND f.match_id IN (SELECT match_id FROM rulings WHERE ruleset = $1 AND unrated IS NULL
                                  ORDER BY ended_at DESC LIMIT $2)
             GROUP BY f.match_id",
        );
        query.bind(ruleset).bind(limit).fetch_all(&self.pages).await
    }
}

/// The instant at which the week of another one begins.
pub fn begin_of_week(at: Timestamp) -> Timestamp {
    Timestamp(start_of_week(week_of(at)))
}
