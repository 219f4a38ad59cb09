//! Writes the table of weights: as a whole, or only what differs from what this process wrote last.

use sqlx::{QueryBuilder, query_builder::Separated};

use super::{
    Db, DbConnection,
    insert::{ROWS, insert},
    persons,
};
use crate::{
    domain::plain_name,
    store::{
        StoreError, WeightRow,
        written::{GroupChanges, WrittenWeights, changes},
    },
};

/// Brings the table to these rows; `known` is its content, if that is known. Returns the place of each row.
pub(super) async fn write(
    tx: &mut DbConnection,
    known: Option<&WrittenWeights>,
    rows: &[WeightRow],
) -> Result<Vec<Option<u32>>, StoreError> {
    let Some(changes) = known.and_then(|known| changes(known, rows, places)) else {
        sqlx::query("DELETE FROM weights").execute(&mut *tx).await?;
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
    tx: &mut DbConnection,
    rows: &[WeightRow],
    group: &GroupChanges,
) -> Result<(), StoreError> {
    let Some(one) = group.any().filter(|_| !group.moved.is_empty()) else {
        return Ok(());
    };
    let mut query = QueryBuilder::<Db>::new("UPDATE weights SET place = place + r.column3 FROM (");
    query.push_values(&group.moved, |mut row, (range, by)| {
        row.push_bind(i64::from(range.start));
        row.push_bind(i64::from(range.end) - 1);
        row.push_bind(*by);
    });
    query.push(") AS r WHERE weights.place BETWEEN r.column1 AND r.column2");
    of_group(&mut query, &rows[one]);
    query.build().persistent(false).execute(tx).await?;
    Ok(())
}

/// Adds the condition that rows are of the same ruleset and kind as this one.
fn of_group(query: &mut QueryBuilder<Db>, one: &WeightRow) {
    query
        .push(" AND weights.ruleset = ")
        .push_bind(&one.ruleset);
    query.push(" AND weights.kind = ");
    query.push_bind(one.key.kind.as_str());
}

/// Writes the rows of a group that differ, except for their places.
async fn update(
    tx: &mut DbConnection,
    rows: &[WeightRow],
    group: &GroupChanges,
) -> Result<(), StoreError> {
    for chunk in group.updated.chunks(ROWS) {
        let mut query = QueryBuilder::<Db>::new(
            "UPDATE weights SET weight = r.column2, deviation = r.column3, games = r.column4,
                 last_seen = r.column5, division = r.column6, progress = r.column7, side_0 = r.column8,
                 side_1 = r.column9, commander = r.column10, scale = r.column11 FROM (",
        );
        query.push_values(chunk, |mut row, &at| {
            row.push_bind(&rows[at].key.id);
            bind_numbers(&mut row, &rows[at]);
        });
        query.push(") AS r WHERE weights.player = r.column1");
        of_group(&mut query, &rows[chunk[0]]);
        query.build().persistent(false).execute(&mut *tx).await?;
    }
    Ok(())
}

/// Writes the rows of a group that are new or have another name.
async fn replace(
    tx: &mut DbConnection,
    rows: &[WeightRow],
    group: &GroupChanges,
    places: &[Option<u32>],
) -> Result<(), StoreError> {
    let delete = "DELETE FROM weights WHERE ruleset = $1 AND kind = $2 AND player = $3";
    for &at in &group.renamed {
        let WeightRow { ruleset, key, .. } = &rows[at];
        let query = sqlx::query(delete).bind(ruleset);
        let query = query.bind(key.kind.as_str()).bind(&key.id);
        query.execute(&mut *tx).await?;
    }
    let written = group.renamed.iter().chain(&group.new);
    insert_weights(tx, written.map(|&at| (&rows[at], places[at]))).await
}

/// Binds the numbers of a weight, without its place.
fn bind_numbers(row: &mut Separated<'_, Db, &'static str>, w: &WeightRow) {
    row.push_bind(w.weight).push_bind(w.deviation);
    row.push_bind(i64::from(w.games)).push_bind(w.last_seen.0);
    row.push_bind(w.rank.map(|rank| i64::from(rank.division)))
        .push_bind(w.rank.map(|rank| rank.progress));
    let sides = w.roles.sides;
    row.push_bind(sides.map(|[zero, _]| zero))
        .push_bind(sides.map(|[_, one]| one))
        .push_bind(w.roles.commander)
        .push_bind(i64::from(w.scale));
}

async fn insert_weights(
    tx: &mut DbConnection,
    rows: impl Iterator<Item = (&WeightRow, Option<u32>)>,
) -> Result<(), StoreError> {
    let columns = "INSERT INTO weights (ruleset, kind, player, name, weight, deviation, games, last_seen, division, progress, side_0, side_1, commander, scale, place, plain)";
    let rows: Vec<_> = rows.collect();
    insert(tx, columns, "", &rows, |mut row, (w, place)| {
        row.push_bind(w.ruleset.clone())
            .push_bind(w.key.kind.as_str());
        row.push_bind(w.key.id.clone()).push_bind(w.name.clone());
        bind_numbers(&mut row, w);
        row.push_bind(place.map(i64::from));
        let public = persons::public_name(&w.key, w.name.clone());
        row.push_bind(plain_name(&public).to_lowercase());
    })
    .await
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
