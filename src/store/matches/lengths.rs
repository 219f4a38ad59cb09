//! Reads how long the matches of a ruleset last.

use super::Matches;
use crate::{
    domain::Timestamp,
    store::{StoreError, db::*},
};

/// How many matches count, the latest ones: enough for a stable length, few enough to follow a changed limit.
const MATCHES: i64 = 100;

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
            .bind(MATCHES)
            .fetch_all(&self.0.pages)
            .await?;
        let length = |(start, end): &(Timestamp, Timestamp)| u64::try_from(end.0 - start.0).ok();
        Ok(rows.iter().filter_map(length).collect())
    }
}
