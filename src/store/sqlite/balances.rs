//! How close matches were, by week: read models of the balance page.

use sqlx::SqliteConnection;

use crate::store::{RulingRow, StoreError};

/// The week of a time in milliseconds since 1970, in SQL: from Monday, counted from 1969-12-29.
macro_rules! week {
    ($time:literal) => {
        concat!("(", $time, " / 86400000 + 3) / 7")
    };
}

/// The tables, and how each is made of the [rated matches](RATED).
const TABLES: [(&str, &str); 3] = [
    (
        "balance_weeks",
        "SELECT ruleset, week, map, count(*), count(gap), total(gap = 0), total(gap),
                total(CASE WHEN gap IS NOT NULL THEN minutes END), total(winner = 0), count(winner),
                count(chance * won), total((chance > 0.5) = won AND won <> 0.5),
                total((chance - won) * (chance - won))
         FROM rated GROUP BY ruleset, week, map",
    ),
    (
        "balance_gaps",
        "SELECT ruleset, week, CAST(round(gap) AS INTEGER), count(*)
         FROM rated WHERE gap IS NOT NULL GROUP BY ruleset, week, CAST(round(gap) AS INTEGER)",
    ),
    (
        "balance_chances",
        "SELECT ruleset, week, min(CAST((favoured - 0.5) * 20 AS INTEGER), 9) AS step, count(*),
                sum(favoured), sum(won_by_favourite)
         FROM (SELECT *, max(chance, 1 - chance) AS favoured,
                      CASE WHEN chance >= 0.5 THEN won ELSE 1 - won END AS won_by_favourite
               FROM rated)
         WHERE favoured IS NOT NULL AND won_by_favourite IS NOT NULL GROUP BY ruleset, week, step",
    ),
];

/// The rated matches that ended from ?1 to before ?2.
const RATED: &str = concat!(
    "WITH rated AS (
         SELECT r.ruleset, ",
    week!("m.ended_at"),
    " AS week, m.map, m.winner, r.chance,
                (m.ended_at - m.started_at) / 60000.0 AS minutes,
                (SELECT max(score) - min(score) FROM match_teams WHERE match_id = m.id) AS gap,
                CASE m.outcome WHEN 'won' THEN m.winner = 0 WHEN 'draw' THEN 0.5 END AS won
         FROM matches m JOIN rulings r ON r.match_id = m.id
         WHERE r.unrated IS NULL AND m.ended_at >= ?1 AND m.ended_at < ?2)"
);

const WEEK_MILLIS: i64 = 7 * 86_400_000;
/// From 1969-12-29, the Monday from which weeks are counted, to 1970-01-01.
const BEFORE_1970: i64 = 3 * 86_400_000;

/// Counts the weeks of these rulings again, or with `all` every week.
pub(super) async fn refresh(
    tx: &mut SqliteConnection,
    rulings: &[&RulingRow],
    all: bool,
) -> Result<(), StoreError> {
    let week = |ruling: &&RulingRow| (ruling.ended_at.0 + BEFORE_1970).div_euclid(WEEK_MILLIS);
    let weeks = rulings.iter().map(week);
    let (first, last) = match (all, weeks.clone().min(), weeks.max()) {
        (true, ..) => (-MOST_WEEKS, MOST_WEEKS),
        (false, Some(first), Some(last)) => (first, last),
        _ => return Ok(()),
    };
    let start = start_of_week;
    for (table, select) in TABLES {
        let delete = format!("DELETE FROM {table} WHERE week BETWEEN ? AND ?");
        let query = sqlx::query(sqlx::AssertSqlSafe(delete));
        query.bind(first).bind(last).execute(&mut *tx).await?;
        let insert = format!("INSERT OR REPLACE INTO {table} {RATED} {select}");
        let query = sqlx::query(sqlx::AssertSqlSafe(insert));
        let query = query.bind(start(first)).bind(start(last + 1));
        query.execute(&mut *tx).await?;
    }
    Ok(())
}

/// The instant at which a week begins, in milliseconds since 1970.
pub(super) fn start_of_week(week: i64) -> i64 {
    week.saturating_mul(WEEK_MILLIS).saturating_sub(BEFORE_1970)
}

/// More weeks than any time in a database is away from 1970, and few enough to count in milliseconds.
const MOST_WEEKS: i64 = 1_000_000;
