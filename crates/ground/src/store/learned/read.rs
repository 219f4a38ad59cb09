//! Reads rulings, weights and the last comparison of systems, and writes weights with the divisions of rulesets.

use serde::{Deserialize, Serialize};

use crate::{
    model::{
        Kind, PlayerKey, Ruleset, Timestamp,
        names::{folded, own_name, plain_name},
        weight::Rank,
    },
    store::{
        DerivedFrom, DivisionRow, NewWeights, StoreError, WeightRow,
        corrections::changed,
        db::{
            query::{ROWS, Target, insert, with_given},
            *,
        },
        learned::{self, Learned},
        state,
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
        learned::derived_from()
            .fetch_optional(&self.0.readers)
            .await
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
impl FromColumn<'_> for Option<Rank> {
    fn read(row: &Row, _: At<'_>) -> Result<Self, StoreError> {
        let division: Option<u8> = row.get("division")?;
        let progress: Option<f64> = row.get("progress")?;
        let rank = division.zip(progress);
        Ok(rank.map(|(division, progress)| Rank { division, progress }))
    }
}

/// A comparison of rating systems, as it is stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemsRow {
    /// The key of the settings with which it was made.
    pub settings: String,
    /// The number of matches that there were.
    pub matches: i64,
    /// When the comparison was made.
    pub computed_at: Timestamp,
    /// The comparison, as JSON.
    pub report: String,
}

/// The state that has the last comparison, as JSON.
const SYSTEMS: &str = "systems";

impl Learned<'_> {
    /// The last comparison of rating systems, if there is one.
    pub async fn systems_report(self) -> Result<Option<SystemsRow>, StoreError> {
        let mut connection = self.0.pages.acquire().await?;
        let stored = state::text(&mut connection, SYSTEMS).await?;
        let read = |row: String| {
            serde_json::from_str(&row).map_err(|_| StoreError::BadValue(SYSTEMS.to_owned()))
        };
        stored.map(read).transpose()
    }

    /// Replaces the last comparison of rating systems.
    pub async fn store_systems_report(self, row: &SystemsRow) -> Result<(), StoreError> {
        let mut tx = self.0.begin().await?;
        let text = serde_json::to_string(row);
        let text = text.map_err(|error| StoreError::BadValue(error.to_string()))?;
        state::set(&mut tx, SYSTEMS, None, Some(&text)).await?;
        tx.commit().await
    }
}

const WEIGHTS: Target = Target::new(
    "weights",
    "ruleset, game_type, mutators, kind, player, name, plain, weight, deviation, division, games, wins, last_seen, pinned",
)
.replacing("player, kind, ruleset");

/// Writes new weights, and what they need of the configured divisions.
pub(in crate::store) async fn write_weights(
    tx: &mut PooledConnection,
    new: &NewWeights,
    divisions: &[DivisionRow],
) -> Result<(), StoreError> {
    insert(tx, WEIGHTS, "", new.rows.iter().map(values)).await?;
    remove_weights(tx, &new.gone).await?;
    rename(tx, &new.names).await?;
    divide(tx, &new.spans, divisions).await
}

fn values(row: &WeightRow) -> Vec<SqlValue> {
    let ruleset = Ruleset::parse(&row.ruleset);
    let mutators: Vec<&str> = ruleset.mutators().collect();
    values![
        &row.ruleset,
        ruleset.game_type(),
        mutators.join(" "),
        row.key.kind,
        &row.key.id,
        &row.name,
        plain(&row.key, &row.name),
        row.weight,
        row.deviation,
        row.rank.map(|rank| rank.division),
        row.games,
        row.wins,
        row.last_seen,
        row.is_pinned
    ]
}

/// The name that a search finds.
fn plain(key: &PlayerKey, name: &str) -> String {
    let name = own_name(key, name.to_owned());
    name.map_or_else(String::new, |name| folded(&plain_name(&name)))
}

/// Removes weights.
pub(in crate::store) async fn remove_weights(
    tx: &mut PooledConnection,
    gone: &[(String, PlayerKey)],
) -> Result<(), StoreError> {
    let rows = gone
        .iter()
        .map(|(ruleset, key)| values![ruleset, key.kind, &key.id]);
    let delete = "DELETE FROM weights WHERE EXISTS (SELECT 1 FROM {given}
         WHERE weights.ruleset = given.in_ruleset AND weights.kind = given.of_kind AND weights.player = given.who)";
    with_given(tx, "in_ruleset text, of_kind text, who text", delete, rows).await?;
    Ok(())
}

async fn rename(
    tx: &mut PooledConnection,
    names: &[(PlayerKey, String)],
) -> Result<(), StoreError> {
    let rows = names
        .iter()
        .map(|(key, name)| values![key.kind, &key.id, name, plain(key, name)]);
    let update = "UPDATE weights SET name = given.new_name, plain = given.new_plain FROM {given}
         WHERE weights.player = given.who AND weights.kind = given.of_kind";
    let columns = "of_kind text, who text, new_name text, new_plain text";
    with_given(tx, columns, update, rows).await?;
    Ok(())
}

/// Writes the divisions of rulesets, each with the weights at which its progress is 0 and 1.
async fn divide(
    tx: &mut PooledConnection,
    spans: &[(String, Vec<(f64, f64)>)],
    divisions: &[DivisionRow],
) -> Result<(), StoreError> {
    for (ruleset, _) in spans {
        let delete = sql("DELETE FROM divisions WHERE ruleset = $1");
        delete.bind(ruleset).execute(&mut *tx).await?;
    }
    let rows = spans.iter().flat_map(|(ruleset, spans)| {
        let numbered = (0_i64..).zip(divisions);
        let divisions = numbered.zip(spans);
        divisions.map(move |((number, division), (low, high))| {
            values![
                ruleset,
                number,
                &division.name,
                *low,
                *high,
                division.decay_after_days,
                division.decay_days
            ]
        })
    });
    let target = Target::new(
        "divisions",
        "ruleset, division, name, low, high, decay_after_days, decay_days",
    );
    insert(tx, target, "", rows).await
}
