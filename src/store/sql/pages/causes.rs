//! Reads what may have made matches one-sided.

use crate::store::{Store, StoreError, db::*};

columns! {
    /// A match with scores, and what may have made it one-sided.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct MatchCauses {
        /// The match.
        pub id: i64,
        /// The difference between the highest and the lowest score.
        pub gap: f64,
        /// The number of players.
        pub players: i64,
        /// Whether a player came after the first minute.
        pub late: bool,
        /// Whether a player left before the end.
        pub left: bool,
        /// Whether the teams had different numbers of players.
        pub uneven: bool,
        /// Whether a player had been in fewer than ten rated matches.
        pub newcomer: bool,
    }
}

impl Store {
    /// The latest rated matches of a ruleset between teams that have scores, the last one first, among the latest `limit`.
    pub async fn match_causes(
        &self,
        ruleset: &str,
        limit: i64,
    ) -> Result<Vec<MatchCauses>, StoreError> {
        let query = tuple(
            "SELECT q.id, q.gap, q.one + q.other AS players, q.one <> q.other AS uneven,
                    EXISTS (SELECT 1 FROM match_chances c
                            WHERE c.match_id = q.id AND c.cause IN ('join', 'place') AND c.at_ms > 60000) AS late,
                    EXISTS (SELECT 1 FROM participants p
                            WHERE p.match_id = q.id AND p.left_reason IS NOT NULL) AS left,
                    EXISTS (SELECT 1 FROM performances f
                            WHERE f.match_id = q.id
                              AND (SELECT count(*) FROM (SELECT 1 FROM performances b
                                   WHERE b.person = f.person AND b.ended_at < f.ended_at LIMIT 10) earlier) < 10) AS newcomer
             FROM (SELECT r.match_id AS id, m.outcome,
                          (SELECT max(score) - min(score) FROM match_teams t WHERE t.match_id = r.match_id) AS gap,
                          (SELECT count(*) FROM performances f WHERE f.match_id = r.match_id AND f.team = 0) AS one,
                          (SELECT count(*) FROM performances f WHERE f.match_id = r.match_id AND f.team = 1) AS other
                   FROM (SELECT match_id, ended_at FROM rulings WHERE ruleset = $1 AND unrated IS NULL
                         ORDER BY ended_at DESC LIMIT $2) r
                   JOIN matches m ON m.id = r.match_id
                   ORDER BY r.ended_at DESC) q
             WHERE q.gap IS NOT NULL AND (q.gap > 0 OR q.outcome = 'draw') AND q.one > 0 AND q.other > 0",
        );
        query.bind(ruleset).bind(limit).fetch_all(&self.pages).await
    }
}
