//! Finds the matches of two players.

use super::{Matches, of_person::of_team};
use crate::store::{StoreError, db::*};

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
