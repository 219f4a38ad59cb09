//! Reads how often favourites won.

use super::Matches;
use crate::store::{StoreError, db::*};

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

impl Matches<'_> {
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
}
