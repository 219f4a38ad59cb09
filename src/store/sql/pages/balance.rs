//! Reads how close matches were.

use super::super::balances::start_of_week;
use crate::{
    domain::Timestamp,
    store::{Store, StoreError, db::*},
};

columns! {
    /// A ruleset with rated matches.
    #[derive(Clone, Debug, PartialEq)]
    pub struct RulesetLine {
        /// The key of the ruleset.
        pub ruleset: String,
        /// When its last match ended; `None` without any.
        pub last: Option<Timestamp>,
        /// How close all its matches were.
        pub closeness: Closeness,
    }
}

columns! {
    /// How close some matches were, as sums.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    pub struct Closeness {
        /// Number of rated matches.
        pub rated: i64,
        /// Number of rated matches with teams; the other fields count only these.
        pub matches: i64,
        /// Number of matches that were draws.
        pub draws: i64,
        /// Number of matches with scores: not those that a team has won with the same score as all others.
        pub scored: i64,
        /// Sum of the differences between the highest and the lowest score.
        pub gap: f64,
        /// Sum of the lengths of play, in minutes.
        pub minutes: f64,
        /// Number of matches whose length is not known.
        pub untimed: i64,
        /// Number of matches that team 0 won.
        pub first_won: i64,
        /// Number of matches that a team won.
        pub decided: i64,
        /// Number of matches with a prediction and a result.
        pub predicted: i64,
        /// How many of these a team won.
        pub predicted_won: i64,
        /// In how many of these the team with the higher chance won.
        pub favoured: i64,
        /// Sum of the squared differences between chance and result; a draw is half a win.
        pub brier: f64,
    }
}

impl Closeness {
    /// The mean difference between the highest and the lowest score; `None` if no scores were reported. Then only the
    /// draws, if there are any, seem to have scores.
    pub fn mean_gap(&self) -> Option<f64> {
        let has_scores = self.gap > 0.0 || self.scored == self.matches;
        mean(self.gap, self.scored).filter(|_| has_scores)
    }

    /// The share of draws.
    pub fn draw_share(&self) -> Option<f64> {
        mean(self.draws as f64, self.matches)
    }

    /// The share of matches that team 0 won, of those that a team won.
    pub fn first_share(&self) -> Option<f64> {
        mean(self.first_won as f64, self.decided)
    }

    /// The share of predicted matches that the favourite won, of those that a team won.
    pub fn favourite_share(&self) -> Option<f64> {
        mean(self.favoured as f64, self.predicted_won)
    }

    /// The mean squared difference between chance and result.
    pub fn mean_brier(&self) -> Option<f64> {
        mean(self.brier, self.predicted)
    }

    /// The mean length of play, in minutes.
    pub fn mean_minutes(&self) -> Option<f64> {
        mean(self.minutes, self.matches - self.untimed)
    }
}

impl std::iter::Sum for Closeness {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |sum, of| Self {
            rated: sum.rated + of.rated,
            matches: sum.matches + of.matches,
            draws: sum.draws + of.draws,
            scored: sum.scored + of.scored,
            gap: sum.gap + of.gap,
            minutes: sum.minutes + of.minutes,
            untimed: sum.untimed + of.untimed,
            first_won: sum.first_won + of.first_won,
            decided: sum.decided + of.decided,
            predicted: sum.predicted + of.predicted,
            predicted_won: sum.predicted_won + of.predicted_won,
            favoured: sum.favoured + of.favoured,
            brier: sum.brier + of.brier,
        })
    }
}

/// A mean, or `None` without anything to take it over.
fn mean(sum: f64, count: i64) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}

/// One week of a ruleset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeekOfBalance {
    /// The Monday on which it begins.
    pub begins: Timestamp,
    /// How close its matches were.
    pub closeness: Closeness,
}

columns! {
    /// One map of a ruleset.
    #[derive(Clone, Debug, PartialEq)]
    pub struct MapOfBalance {
        /// The name of the map.
        pub map: String,
        /// How close the matches on it were.
        pub closeness: Closeness,
    }
}

columns! {
    /// One ruleset of a map.
    #[derive(Clone, Debug, PartialEq)]
    pub struct RulesetOfMap {
        /// The key of the ruleset.
        pub ruleset: String,
        /// How close its matches on the map were.
        pub closeness: Closeness,
    }
}

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
    /// Predictions of similar chances, from the side of the favourite.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct ChanceStep {
        /// Number of matches with such a prediction.
        pub matches: i64,
        /// Mean predicted chance of the favourite.
        pub chance: f64,
        /// The share of matches that the favourite won; a draw is half a win.
        pub won: f64,
    }
}

/// The sums of a [`Closeness`] over some rows of a table.
macro_rules! sums {
    ($before:literal, $from:literal) => {
        concat!(
            "SELECT ",
            $before,
            ", CAST(sum(rated) AS BIGINT) AS rated, CAST(sum(matches) AS BIGINT) AS matches,
               CAST(sum(draws) AS BIGINT) AS draws, sum(gap) AS gap, sum(minutes) AS minutes,
               CAST(sum(first_won) AS BIGINT) AS first_won, CAST(sum(decided) AS BIGINT) AS decided,
               CAST(sum(predicted) AS BIGINT) AS predicted, CAST(sum(favoured) AS BIGINT) AS favoured,
               sum(brier) AS brier, CAST(sum(scored) AS BIGINT) AS scored,
               CAST(sum(predicted_won) AS BIGINT) AS predicted_won,
               CAST(sum(untimed) AS BIGINT) AS untimed
             FROM ",
            $from
        )
    };
}

impl Store {
    /// All rulesets with rated matches, those with most matches first, at most 100.
    pub async fn ruleset_lines(&self) -> Result<Vec<RulesetLine>, StoreError> {
        let query = tuple(sums!(
            "ruleset,
             (SELECT max(ended_at) FROM rulings r WHERE r.ruleset = b.ruleset) AS last",
            "balance_weeks b GROUP BY ruleset ORDER BY rated DESC, ruleset LIMIT 100"
        ));
        query.fetch_all(&self.pages).await
    }

    /// The weeks of a ruleset, the first one first.
    pub async fn balance_weeks(&self, ruleset: &str) -> Result<Vec<WeekOfBalance>, StoreError> {
        let query = sql(sums!(
            "week",
            "balance_weeks WHERE ruleset = $1 GROUP BY week ORDER BY week"
        ));
        let week = |row: &Row| {
            Ok(WeekOfBalance {
                begins: Timestamp(start_of_week(row.get("week")?)),
                closeness: Closeness::from_row(row)?,
            })
        };
        let rows = query.bind(ruleset).fetch_all(&self.pages).await?;
        rows.iter().map(week).collect()
    }

    /// The maps of a ruleset, those with most matches first, at most `limit`.
    pub async fn balance_maps(
        &self,
        ruleset: &str,
        limit: i64,
    ) -> Result<Vec<MapOfBalance>, StoreError> {
        // The sums of these maps alone: adding up all columns of all maps takes four times as long.
        let query = tuple(sums!(
            "map",
            "balance_maps WHERE ruleset = $1 AND matches > 0
               AND map IN (SELECT map FROM balance_maps WHERE ruleset = $1 AND matches > 0
                           GROUP BY map ORDER BY sum(matches) DESC, map LIMIT $2)
             GROUP BY map ORDER BY matches DESC, map"
        ));
        query.bind(ruleset).bind(limit).fetch_all(&self.pages).await
    }

    /// How close the matches on a map were, by ruleset, those with most matches first.
    pub async fn balance_of_map(&self, map: &str) -> Result<Vec<RulesetOfMap>, StoreError> {
        let query = tuple(sums!(
            "ruleset",
            "balance_maps WHERE map = $1 AND matches > 0 GROUP BY ruleset ORDER BY matches DESC, ruleset LIMIT 50"
        ));
        query.bind(map).fetch_all(&self.pages).await
    }

    /// The differences of scores of a ruleset, and the number of matches with each, ascending.
    pub async fn balance_gaps(&self, ruleset: &str) -> Result<Vec<(i64, i64)>, StoreError> {
        let query = tuple(
            "SELECT gap, CAST(sum(matches) AS BIGINT) FROM balance_gaps WHERE ruleset = $1 GROUP BY gap ORDER BY gap",
        );
        query.bind(ruleset).fetch_all(&self.pages).await
    }

    /// How often favourites won in the latest rated matches of a ruleset, at most `limit`: those whose teams Evenkeel has
    /// picked, and others.
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

    /// The predictions of a ruleset in steps of 5 %, ascending.
    pub async fn balance_chances(&self, ruleset: &str) -> Result<Vec<ChanceStep>, StoreError> {
        let query = tuple(
            "SELECT CAST(sum(matches) AS BIGINT) AS matches, sum(chance) / CAST(sum(matches) AS BIGINT) AS chance,
                    sum(won) / CAST(sum(matches) AS BIGINT) AS won
             FROM balance_chances WHERE ruleset = $1 GROUP BY step ORDER BY step",
        );
        query.bind(ruleset).fetch_all(&self.pages).await
    }
}
