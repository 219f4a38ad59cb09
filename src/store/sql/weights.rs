//! Writes weights and what strengths are computed from.
//!
//! The view `weights` computes the strengths by role, with the bits that the daemon has.

use super::{
    persons,
    rows::{Target, insert, with_given},
};
use crate::{
    domain::plain_name,
    store::{NewWeights, PartRow, SharesRow, StoreError, db::*},
};

const PARTS: Target = Target::new(
    "weight_parts",
    "ruleset, kind, player, name, plain, weight, deviation, doubt, games, last_seen, division, progress, own, side_0,
     side_1, commander, newness, experience, record",
);

/// What becomes of a row that exists.
macro_rules! renamed {
    ($key:literal) => {
        concat!(
            " ON CONFLICT (",
            $key,
            ") DO UPDATE SET name = excluded.name, plain = excluded.plain, weight = excluded.weight,
                  deviation = excluded.deviation, doubt = excluded.doubt, games = excluded.games, last_seen = excluded.last_seen, division = excluded.division,
                  progress = excluded.progress, own = excluded.own, side_0 = excluded.side_0,
                  side_1 = excluded.side_1, commander = excluded.commander, newness = excluded.newness,
                  experience = excluded.experience, record = excluded.record"
        )
    };
}

/// Writes new weights.
pub(super) async fn write(tx: &mut Connection, new: &NewWeights) -> Result<(), StoreError> {
    if new.since.is_none() {
        for delete in [
            "DELETE FROM weight_parts",
            "DELETE FROM weight_shares",
            "DELETE FROM division_spans",
        ] {
            sql(delete).execute(&mut *tx).await?;
        }
    }
    let renamed = match tx.dialect() {
        Dialect::Sqlite => renamed!("ruleset, kind, player"),
        Dialect::Postgres => renamed!("player, kind, md5(ruleset)"),
    };
    let named = new.named.iter().map(|row| {
        let public = persons::public_name(&row.key, row.name.clone());
        let plain = plain_name(&public).to_lowercase();
        let mut values = values![&row.ruleset, row.key.kind, &row.key.id, &row.name, plain];
        values.extend(numbers(row));
        values
    });
    insert(tx, PARTS, renamed, named).await?;
    change(tx, &new.changed).await?;
    share(tx, &new.shares).await?;
    Ok(())
}

/// The numbers of a weight.
fn numbers(row: &PartRow) -> [Value; 14] {
    let sides = row.sides;
    let factors = row.factors;
    [
        row.weight.into(),
        row.deviation.into(),
        row.doubt.into(),
        row.games.into(),
        row.last_seen.into(),
        row.division.into(),
        row.progress.into(),
        row.own.into(),
        sides.map(|[zero, _]| zero).into(),
        sides.map(|[_, one]| one).into(),
        row.commander.into(),
        factors.map(|[newness, ..]| newness).into(),
        factors.map(|[_, experience, _]| experience).into(),
        factors.map(|[.., record]| record).into(),
    ]
}

/// Writes weights whose players have a row with the same name. No index contains these columns.
async fn change(tx: &mut Connection, rows: &[PartRow]) -> Result<(), StoreError> {
    let rows = rows.iter().map(|row| {
        let mut values = values![&row.ruleset, row.key.kind, &row.key.id];
        values.extend(numbers(row));
        values
    });
    with_given(
        tx,
        "in_ruleset text, of_kind text, who text, weight double precision, deviation double precision,
         doubt double precision, games bigint, last_seen bigint, division bigint, progress double precision, own double precision, side_0 double precision,
         side_1 double precision, commander double precision, newness double precision, experience double precision,
         record double precision",
        "UPDATE weight_parts SET weight = given.weight, deviation = given.deviation, doubt = given.doubt, games = given.games, last_seen = given.last_seen,
             division = given.division, progress = given.progress, own = given.own, side_0 = given.side_0,
             side_1 = given.side_1, commander = given.commander, newness = given.newness,
             experience = given.experience, record = given.record
         FROM {given}
         WHERE weight_parts.ruleset = given.in_ruleset AND weight_parts.kind = given.of_kind
           AND weight_parts.player = given.who",
        rows,
    )
    .await?;
    Ok(())
}

/// Writes what the weights of rulesets have in common.
async fn share(tx: &mut Connection, shares: &[SharesRow]) -> Result<(), StoreError> {
    for row in shares {
        for delete in [
            "DELETE FROM weight_shares WHERE ruleset = $1",
            "DELETE FROM division_spans WHERE ruleset = $1",
        ] {
            sql(delete).bind(&row.ruleset).execute(&mut *tx).await?;
        }
    }
    let rows = shares.iter().map(|row| {
        let [newness, experience, record] = row.effects;
        let scale = row.scale;
        values![
            &row.ruleset,
            newness,
            experience,
            record,
            scale.map(|scale| scale.average),
            scale.map(|scale| scale.newcomer),
            scale.map(|scale| scale.unit),
            row.points
        ]
    });
    let target = Target::new(
        "weight_shares",
        "ruleset, newness, experience, record, average, newcomer, unit, points",
    );
    insert(tx, target, "", rows).await?;
    let spans = shares.iter().flat_map(|row| {
        let spans = (0_i64..).zip(&row.divisions);
        spans.map(|(division, (low, high))| values![&row.ruleset, division, *low, *high])
    });
    let target = Target::new("division_spans", "ruleset, division, low, high");
    insert(tx, target, "", spans).await
}
