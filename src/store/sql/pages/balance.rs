//! Reads how many players rulesets have, and how often favourites won.

use crate::store::{Store, StoreError, db::*};

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

columns! {
    /// How many players have a weight in a ruleset.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    pub struct PlayersOfRuleset {
        /// The key of the ruleset.
        pub ruleset: String,
        /// Number of humans with a weight.
        pub humans: i64,
        /// Number of bots with a weight.
        pub bots: i64,
    }
}

impl Store {
    /// How many players these rulesets have, in no particular order. Those without weights are missing.
    pub async fn players_of_rulesets(
        &self,
        rulesets: &[&str],
    ) -> Result<Vec<PlayersOfRuleset>, StoreError> {
        if rulesets.is_empty() {
            return Ok(Vec::new());
        }
        let mut query = Sql::new(
            "SELECT ruleset,
                    coalesce((SELECT max(position) FROM weight_places w WHERE w.ruleset = s.ruleset AND kind = 'human'), 0) AS humans,
                    coalesce((SELECT max(position) FROM weight_places w WHERE w.ruleset = s.ruleset AND kind = 'bot'), 0) AS bots
             FROM weight_shares s WHERE ruleset IN ",
        );
        query.list(rulesets.iter().copied());
        query.build_tuple().fetch_all(&self.pages).await
    }

    /// How often favourites won in the latest rated matches of a ruleset, at most `limit`: those whose teams Evenkeel has
    /// picked, and others. A chance as picked can come after its match was learned: if its log was read first.
    pub async fn favoured(&self, ruleset: &str, limit: i64) -> Result<Vec<Favoured>, StoreError> {
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
        query.bind(ruleset).bind(limit).fetch_all(&self.pages).await
    }
}
