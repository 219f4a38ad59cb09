//! Writes weights, and the divisions of rulesets.

use super::names;
use crate::{
    model::{PlayerKey, Ruleset, plain_name},
    store::{
        DivisionRow, NewWeights, StoreError, WeightRow,
        db::*,
        sql::rows::{Target, insert, with_given},
    },
};

const WEIGHTS: Target = Target::new(
    "weights",
    "ruleset, game_type, mutators, kind, player, name, plain, weight, deviation, division, games, wins, last_seen, pinned",
)
.replacing("player, kind, ruleset");

/// Writes new weights, and what they need of the configured divisions.
pub(in crate::store) async fn write(
    tx: &mut Connection,
    new: &NewWeights,
    divisions: &[DivisionRow],
) -> Result<(), StoreError> {
    insert(tx, WEIGHTS, "", new.rows.iter().map(values)).await?;
    remove(tx, &new.gone).await?;
    rename(tx, &new.names).await?;
    divide(tx, &new.spans, divisions).await
}

fn values(row: &WeightRow) -> Vec<Value> {
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
    plain_name(&names::public_name(key, name.to_owned())).to_lowercase()
}

/// Removes weights.
pub(in crate::store) async fn remove(
    tx: &mut Connection,
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

async fn rename(tx: &mut Connection, names: &[(PlayerKey, String)]) -> Result<(), StoreError> {
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
    tx: &mut Connection,
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
