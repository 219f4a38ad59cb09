//! Reads how long the matches of a ruleset last.

use crate::store::{Store, StoreError, db::*};

/// How many matches count, the latest ones: enough for a stable length, few enough to follow a changed limit.
const MATCHES: i64 = 100;

impl Store {
    /// The lengths of the latest rated matches of a ruleset whose lengths are known, in milliseconds.
    pub async fn latest_lengths(&self, ruleset: &str) -> Result<Vec<u64>, StoreError> {
        let query = scalar(
            "SELECT q.ended_at - q.started_at FROM
                 (SELECT m.started_at, m.ended_at, m.untimed FROM rulings r JOIN matches m ON m.id = r.match_id
                  WHERE r.ruleset = $1 AND r.unrated IS NULL ORDER BY r.ended_at DESC LIMIT $2) q
             WHERE NOT q.untimed",
        );
        let rows: Vec<i64> = query
            .bind(ruleset)
            .bind(MATCHES)
            .fetch_all(&self.pages)
            .await?;
        let length = |&millis: &i64| u64::try_from(millis).ok();
        Ok(rows.iter().filter_map(length).collect())
    }
}
