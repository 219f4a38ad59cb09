//! Data derived from the matches: rulings and weights.

use super::Learned;
use crate::{
    model::{Kind, PlayerKey, Rank},
    store::{
        DerivedFrom, DivisionRow, StoreError, WeightRow,
        corrections::players::changed,
        db::*,
        sql::{rows::ROWS, state},
    },
};

/// Weights with the progress in their divisions.
macro_rules! weights {
    ($where:literal) => {
        concat!(
            "SELECT w.*, w.pinned AS is_pinned, CASE WHEN d.high > d.low AND w.weight > d.low THEN
                     CASE WHEN w.weight < d.high THEN (w.weight - d.low) / (d.high - d.low) ELSE 1.0 END
                 ELSE 0.0 END AS progress
             FROM weights w LEFT JOIN divisions d ON d.ruleset = w.ruleset AND d.division = w.division ",
            $where
        )
    };
}

impl Learned<'_> {
    /// The input that the derived tables were made from; `None` if they have never been written.
    pub async fn derived_from(self) -> Result<Option<DerivedFrom>, StoreError> {
        state::learned().fetch_optional(&self.0.readers).await
    }

    /// The number of matches from which the derived tables were made, of rated ones, and of weights.
    pub async fn derived_counts(self) -> Result<(i64, i64, i64), StoreError> {
        let query = tuple(
            "SELECT coalesce((SELECT number FROM state WHERE name = 'learned'), 0),
                    (SELECT count(*) FROM rulings WHERE unrated IS NULL), (SELECT count(*) FROM weights)",
        );
        query.fetch_one(&self.0.readers).await
    }

    /// Lets the daemon that writes the derived tables derive them again.
    pub async fn ask_for_rebuild(self) -> Result<(), StoreError> {
        let mut tx = self.0.begin().await?;
        changed(&mut tx).await?;
        self.0.commit(tx).await
    }

    /// The keys of all rulesets that have weights, sorted.
    pub async fn rulesets(self) -> Result<Vec<String>, StoreError> {
        let query = scalar("SELECT DISTINCT ruleset FROM weights ORDER BY ruleset");
        query.fetch_all(&self.0.readers).await
    }

    /// The weights of one ruleset and kind, highest first.
    pub async fn weights(self, ruleset: &str, kind: Kind) -> Result<Vec<WeightRow>, StoreError> {
        let query = tuple(weights!(
            "WHERE w.ruleset = $1 AND w.kind = $2 ORDER BY w.weight DESC, w.player"
        ))
        .bind(ruleset)
        .bind(kind.as_str());
        query.fetch_all(&self.0.readers).await
    }

    /// The weights of one player, ordered by ruleset.
    pub async fn weights_of(self, player: &PlayerKey) -> Result<Vec<WeightRow>, StoreError> {
        let query = tuple(weights!(
            "WHERE w.player = $1 AND w.kind = $2 ORDER BY w.ruleset"
        ))
        .bind(&player.id)
        .bind(player.kind.as_str());
        query.fetch_all(&self.0.readers).await
    }

    /// The divisions with which the derived tables were made, the lowest first.
    pub async fn divisions(self) -> Result<Vec<DivisionRow>, StoreError> {
        let query = tuple(
            "SELECT DISTINCT division, name, decay_after_days, decay_days FROM divisions ORDER BY division",
        );
        query.fetch_all(&self.0.readers).await
    }

    /// For each of these matches, in no particular order: the code of the reason why it is not
    /// rated, or `None` if it is rated.
    pub async fn rulings(self, ids: &[i64]) -> Result<Vec<Option<String>>, StoreError> {
        let mut rulings = Vec::with_capacity(ids.len());
        let mut connection = self.0.readers.acquire().await?;
        for some in ids.chunks(ROWS) {
            let mut query = Sql::new("SELECT unrated FROM rulings WHERE match_id IN ");
            query.list(some.iter().copied());
            let found: Vec<Option<String>> =
                query.build_scalar().fetch_all(&mut connection).await?;
            rulings.extend(found);
        }
        Ok(rulings)
    }
}

/// A rank is in two columns: `division` and `progress`.
impl Column<'_> for Option<Rank> {
    fn read(row: &Row, _: At<'_>) -> Result<Self, StoreError> {
        let division: Option<u8> = row.get("division")?;
        let progress: Option<f64> = row.get("progress")?;
        let rank = division.zip(progress);
        Ok(rank.map(|(division, progress)| Rank { division, progress }))
    }
}
