//! Reads how close matches were.

use sqlx::Row;

use super::super::{DbPool, DbRow, balances::start_of_week};

use crate::{
    domain::Timestamp,
    store::{ChanceStep, Closeness, MapOfBalance, RulesetLine, StoreError, WeekOfBalance},
};

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

/// The rulesets, with their players and all their matches.
pub(super) async fn rulesets(pool: &DbPool) -> Result<Vec<RulesetLine>, StoreError> {
    let query = sqlx::query(sums!(
        "ruleset,
         (SELECT max(place) FROM weights w WHERE w.ruleset = b.ruleset AND kind = 'human') AS humans,
         (SELECT max(place) FROM weights w WHERE w.ruleset = b.ruleset AND kind = 'bot') AS bots,
         (SELECT max(ended_at) FROM rulings r WHERE r.ruleset = b.ruleset) AS last",
        "balance_weeks b GROUP BY ruleset ORDER BY rated DESC, ruleset LIMIT 100"
    ));
    let line = |row: &DbRow| {
        let last: Option<i64> = row.try_get("last")?;
        Ok(RulesetLine {
            ruleset: row.try_get("ruleset")?,
            humans: row.try_get::<Option<i64>, _>("humans")?.unwrap_or(0),
            bots: row.try_get::<Option<i64>, _>("bots")?.unwrap_or(0),
            last: last.map(Timestamp),
            closeness: closeness(row)?,
        })
    };
    query.fetch_all(pool).await?.iter().map(line).collect()
}

/// The weeks of a ruleset, the first one first.
pub(super) async fn weeks(pool: &DbPool, ruleset: &str) -> Result<Vec<WeekOfBalance>, StoreError> {
    let query = sqlx::query(sums!(
        "week",
        "balance_weeks WHERE ruleset = $1 GROUP BY week ORDER BY week"
    ));
    let week = |row: &DbRow| {
        Ok(WeekOfBalance {
            begins: Timestamp(start_of_week(row.try_get("week")?)),
            closeness: closeness(row)?,
        })
    };
    let rows = query.bind(ruleset).fetch_all(pool).await?;
    rows.iter().map(week).collect()
}

/// The maps of a ruleset, those with most matches first.
pub(super) async fn maps(
    pool: &DbPool,
    ruleset: &str,
    limit: i64,
) -> Result<Vec<MapOfBalance>, StoreError> {
    let query = sqlx::query(sums!(
        "map",
        "balance_maps WHERE ruleset = $1 AND matches > 0 GROUP BY map ORDER BY matches DESC, map LIMIT $2"
    ));
    let map = |row: &DbRow| {
        Ok(MapOfBalance {
            map: row.try_get("map")?,
            closeness: closeness(row)?,
        })
    };
    let rows = query.bind(ruleset).bind(limit).fetch_all(pool).await?;
    rows.iter().map(map).collect()
}

/// The differences of scores of a ruleset, ascending.
pub(super) async fn gaps(pool: &DbPool, ruleset: &str) -> Result<Vec<(i64, i64)>, StoreError> {
    let query = sqlx::query_as(
        "SELECT gap, CAST(sum(matches) AS BIGINT) FROM balance_gaps WHERE ruleset = $1 GROUP BY gap ORDER BY gap",
    );
    Ok(query.bind(ruleset).fetch_all(pool).await?)
}

/// The predictions of a ruleset, by steps of the favourite's chance.
pub(super) async fn chances(pool: &DbPool, ruleset: &str) -> Result<Vec<ChanceStep>, StoreError> {
    let query = sqlx::query_as(
        "SELECT CAST(sum(matches) AS BIGINT), sum(chance) / CAST(sum(matches) AS BIGINT),
                sum(won) / CAST(sum(matches) AS BIGINT)
         FROM balance_chances WHERE ruleset = $1 GROUP BY step ORDER BY step",
    );
    let rows: Vec<(i64, f64, f64)> = query.bind(ruleset).fetch_all(pool).await?;
    let step = |(matches, chance, won)| ChanceStep {
        matches,
        chance,
        won,
    };
    Ok(rows.into_iter().map(step).collect())
}

fn closeness(row: &DbRow) -> Result<Closeness, StoreError> {
    Ok(Closeness {
        rated: row.try_get("rated")?,
        matches: row.try_get("matches")?,
        draws: row.try_get("draws")?,
        gap: row.try_get("gap")?,
        minutes: row.try_get("minutes")?,
        untimed: row.try_get("untimed")?,
        first_won: row.try_get("first_won")?,
        decided: row.try_get("decided")?,
        predicted: row.try_get("predicted")?,
        favoured: row.try_get("favoured")?,
        brier: row.try_get("brier")?,
        scored: row.try_get("scored")?,
        predicted_won: row.try_get("predicted_won")?,
    })
}
