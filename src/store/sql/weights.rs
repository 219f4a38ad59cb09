//! Writes the table of weights: as a whole, or only what differs from what this process wrote last.

use super::{
    persons,
    rows::{ROWS, Target, insert},
};
use crate::{
    domain::plain_name,
    store::{
        StoreError, WeightRow,
        db::*,
        weights_diff::{GroupChanges, WrittenWeights, changes},
    },
};

/// Brings the table to these rows; `known` is its content, if that is known. Returns the place of each row.
pub(super) async fn write(
    tx: &mut Connection,
    known: Option<&WrittenWeights>,
    rows: &[WeightRow],
) -> Result<Vec<Option<u32>>, StoreError> {
    let Some(changes) = known.and_then(|known| changes(known, rows, places)) else {
        sql("DELETE FROM weights").execute(&mut *tx).await?;
        let places = places(rows);
        insert_weights(tx, rows.iter().zip(places.iter().copied())).await?;
        return Ok(places);
    };
    for group in &changes.groups {
        move_others(tx, rows, group).await?;
        update(tx, rows, group).await?;
        replace(tx, rows, group, &changes.places).await?;
    }
    Ok(changes.places)
}

/// Moves rows up or down by some places, in one statement, which sees only the old places.
async fn move_others(
    tx: &mut Connection,
    rows: &[WeightRow],
    group: &GroupChanges,
) -> Result<(), StoreError> {
    let Some(one) = group.any().filter(|_| !group.moved.is_empty()) else {
        return Ok(());
    };
    let mut query = Sql::new("UPDATE weights SET place = place + r.column3 FROM (");
    let moved = group.moved.iter();
    query.rows(moved.map(|(range, by)| values![range.start, range.end - 1, *by]));
    query.push(") AS r WHERE weights.place BETWEEN r.column1 AND r.column2");
    of_group(&mut query, &rows[one]);
    query.build().once().execute(tx).await?;
    Ok(())
}

/// Adds the condition that rows are of the same ruleset and kind as this one.
fn of_group(query: &mut Sql, one: &WeightRow) {
    query
        .push(" AND weights.ruleset = ")
        .push_bind(&one.ruleset);
    query.push(" AND weights.kind = ");
    query.push_bind(one.key.kind);
}

/// Writes the rows of a group that differ, except for their places.
async fn update(
    tx: &mut Connection,
    rows: &[WeightRow],
    group: &GroupChanges,
) -> Result<(), StoreError> {
    for chunk in group.updated.chunks(ROWS) {
        let mut query = Sql::new(
            "UPDATE weights SET weight = r.column2, deviation = r.column3, games = r.column4,
                 last_seen = r.column5, division = r.column6, progress = r.column7, side_0 = r.column8,
                 side_1 = r.column9, commander = r.column10, scale = r.column11 FROM (",
        );
        query.rows(chunk.iter().map(|&at| {
            let mut row = values![&rows[at].key.id];
            row.extend(numbers(&rows[at]));
            row
        }));
        query.push(") AS r WHERE weights.player = r.column1");
        of_group(&mut query, &rows[chunk[0]]);
        query.build().once().execute(&mut *tx).await?;
    }
    Ok(())
}

/// Writes the rows of a group that are new or have another name.
async fn replace(
    tx: &mut Connection,
    rows: &[WeightRow],
    group: &GroupChanges,
    places: &[Option<u32>],
) -> Result<(), StoreError> {
    let delete = "DELETE FROM weights WHERE ruleset = $1 AND kind = $2 AND player = $3";
    for &at in &group.renamed {
        let WeightRow { ruleset, key, .. } = &rows[at];
        let query = sql(delete).bind(ruleset);
        let query = query.bind(key.kind.as_str()).bind(&key.id);
        query.execute(&mut *tx).await?;
    }
    let written = group.renamed.iter().chain(&group.new);
    insert_weights(tx, written.map(|&at| (&rows[at], places[at]))).await
}

/// The numbers of a weight, without its place.
fn numbers(w: &WeightRow) -> [Value; 10] {
    let sides = w.roles.sides;
    [
        w.weight.into(),
        w.deviation.into(),
        w.games.into(),
        w.last_seen.into(),
        w.rank.map(|rank| rank.division).into(),
        w.rank.map(|rank| rank.progress).into(),
        sides.map(|[zero, _]| zero).into(),
        sides.map(|[_, one]| one).into(),
        w.roles.commander.into(),
        w.scale.into(),
    ]
}

async fn insert_weights<'a>(
    tx: &mut Connection,
    rows: impl Iterator<Item = (&'a WeightRow, Option<u32>)> + Send,
) -> Result<(), StoreError> {
    let target = Target::new(
        "weights",
        "ruleset, kind, player, name, weight, deviation, games, last_seen, division, progress, side_0, side_1, commander, scale, place, plain",
    );
    let rows = rows.map(|(w, place)| {
        let mut row = values![&w.ruleset, w.key.kind, &w.key.id, &w.name];
        row.extend(numbers(w));
        let public = persons::public_name(&w.key, w.name.clone());
        row.extend(values![place, plain_name(&public).to_lowercase()]);
        row
    });
    insert(tx, target, "", rows).await
}

/// The place of each weight among those of its ruleset and kind, from 1; `None` for players who were
/// forgotten.
fn places(rows: &[WeightRow]) -> Vec<Option<u32>> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.retain(|&at| !persons::is_forgotten(&rows[at].key, &rows[at].name));
    order.sort_by(|&a, &b| {
        let (a, b) = (&rows[a], &rows[b]);
        let groups = (&a.ruleset, a.key.kind).cmp(&(&b.ruleset, b.key.kind));
        let weights = || b.weight.total_cmp(&a.weight);
        groups
            .then_with(weights)
            .then_with(|| a.key.id.cmp(&b.key.id))
    });
    let mut places = vec![None; rows.len()];
    for group in order.chunk_by(|&a, &b| {
        (&rows[a].ruleset, rows[a].key.kind) == (&rows[b].ruleset, rows[b].key.kind)
    }) {
        for (place, &at) in (1..).zip(group) {
            places[at] = Some(place);
        }
    }
    places
}
