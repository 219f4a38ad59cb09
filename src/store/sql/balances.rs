//! How close matches were: read models of the balance page, by week.
//!
//! When a match of a week is added, all rows of that week are counted again from its matches. Adding only the
//! new match could give other bits, because sums of floating-point numbers depend on their order.

use crate::{
    domain::DAY,
    store::{RulingRow, StoreError, db::*},
};

/// The tables that are counted from the [rated matches](RATED), and how.
const TABLES: [(&str, &str); 3] = [
    (
        "balance_cells",
        "SELECT week, ruleset, map, count(*), count(spread),
                count(CASE WHEN outcome = 'draw' AND spread IS NOT NULL THEN 1 END),
                coalesce(sum(gap), 0), coalesce(sum(CASE WHEN spread IS NOT NULL THEN minutes END), 0),
                count(CASE WHEN winner = 0 THEN 1 END), count(winner), count(chance * won),
                count(CASE WHEN won <> 0.5 AND (chance >= 0.5) = (won > 0.5) THEN 1 END),
                coalesce(sum((chance - won) * (chance - won)), 0),
                count(gap), count(CASE WHEN won <> 0.5 THEN chance END),
                count(CASE WHEN untimed AND spread IS NOT NULL THEN 1 END)
         FROM rated GROUP BY week, ruleset, map",
    ),
    (
        "balance_gaps",
        "SELECT ruleset, week, CAST(round(CAST(gap AS NUMERIC)) AS BIGINT) AS rounded, count(*)
         FROM rated WHERE gap IS NOT NULL GROUP BY ruleset, week, rounded",
    ),
    (
        "balance_chances",
        "SELECT ruleset, week,
                CASE WHEN favoured < 0.55 THEN 0 WHEN favoured < 0.6 THEN 1 WHEN favoured < 0.65 THEN 2
                     WHEN favoured < 0.7 THEN 3 WHEN favoured < 0.75 THEN 4 WHEN favoured < 0.8 THEN 5
                     WHEN favoured < 0.85 THEN 6 WHEN favoured < 0.9 THEN 7 WHEN favoured < 0.95 THEN 8
                     ELSE 9 END AS step,
                count(*), sum(favoured), sum(won_by_favourite)
         FROM (SELECT ruleset, week,
                      CASE WHEN chance >= 0.5 THEN chance ELSE 1 - chance END AS favoured,
                      CASE WHEN chance >= 0.5 THEN won ELSE 1 - won END AS won_by_favourite
               FROM rated) AS favourites
         WHERE favoured IS NOT NULL AND won_by_favourite IS NOT NULL GROUP BY ruleset, week, step",
    ),
];

/// The rated matches that ended from $1 to before $2. The order of the join is fixed, because an index finds
/// the matches of a week. `spread` is the difference between the highest and the lowest score, NULL without teams.
/// `gap` is the same, NULL also where a team has won with the same score as all others: then no scores were reported.
const RATED: &str = "WITH timed AS (
         SELECT r.ruleset, (m.ended_at + 259200000) / 604800000
                           - CASE WHEN (m.ended_at + 259200000) % 604800000 < 0
                                  THEN 1 ELSE 0 END AS week,
                m.map, m.outcome, m.winner, r.chance,
                (m.ended_at - m.started_at) / CAST(60000 AS DOUBLE PRECISION) AS minutes, m.untimed,
                (SELECT max(score) - min(score) FROM match_teams WHERE match_id = m.id) AS spread,
                CAST(CASE WHEN m.outcome = 'draw' THEN 0.5 WHEN m.outcome <> 'won' THEN NULL
                          WHEN m.winner = 0 THEN 1 ELSE 0 END AS DOUBLE PRECISION) AS won
         FROM matches m CROSS JOIN rulings r
         WHERE r.match_id = m.id AND r.unrated IS NULL AND m.ended_at >= $1 AND m.ended_at < $2),
     rated AS (
         SELECT timed.*, CASE WHEN outcome <> 'won' OR spread > 0 THEN spread END AS gap FROM timed)";

/// The tables that sum up `balance_cells`: the name, the column of its periods, the length of a period in
/// weeks, and the column by which a period is divided further.
const SUMS: [(&str, &str, i64, &str); 2] = [
    ("balance_weeks", "week", 1, ""),
    ("balance_maps", "block", 13, ", map"),
];

const WEEK_MILLIS: i64 = 7 * DAY;
/// From 1969-12-29, the Monday from which weeks are counted, to 1970-01-01.
const BEFORE_1970: i64 = 3 * DAY;
/// The last week whose milliseconds can be counted.
const LAST_WEEK: i64 = 15_000_000_000;

/// Counts the weeks of these rulings again, or with `all` every week.
pub(super) async fn refresh(
    tx: &mut Connection,
    rulings: &[&RulingRow],
    all: bool,
) -> Result<(), StoreError> {
    let week = |ruling: &&RulingRow| {
        (ruling.ended_at.0.saturating_add(BEFORE_1970)).div_euclid(WEEK_MILLIS)
    };
    let weeks = rulings.iter().map(week);
    let (first, last) = match (all, weeks.clone().min(), weeks.max()) {
        (true, ..) => (-LAST_WEEK, LAST_WEEK),
        (false, Some(first), Some(last)) => (first, last),
        _ => return Ok(()),
    };
    for (table, column, length, _) in SUMS {
        delete(tx, table, column, length, (first, last)).await?;
    }
    // The cells come last: they show in which rulesets the other tables have rows.
    for (table, _) in TABLES.iter().rev() {
        delete(tx, table, "week", 1, (first, last)).await?;
    }
    for (table, select) in TABLES {
        let insert = format!("INSERT INTO {table} {RATED} {select}");
        let query = sql(insert);
        let query = query.bind(start_of_week(first));
        let query = query.bind(start_of_week(last.saturating_add(1)));
        query.execute(&mut *tx).await?;
    }
    for (table, _, length, by) in SUMS {
        let (from, to) = (first.div_euclid(length), last.div_euclid(length));
        // Weeks are counted from the first period, so that they are not negative and a division rounds down.
        let insert = format!(
            "INSERT INTO {table}
             SELECT ruleset, (week - $1) / {length} + $2{by}, sum(rated), sum(matches), sum(draws), sum(gap),
                    sum(minutes), sum(first_won), sum(decided), sum(predicted), sum(favoured), sum(brier),
                    sum(scored), sum(predicted_won), sum(untimed)
             FROM balance_cells WHERE week BETWEEN $1 AND $3 GROUP BY 1, 2{by}"
        );
        let query = sql(insert);
        let query = query.bind(from * length).bind(from);
        let query = query.bind((to + 1) * length - 1);
        query.execute(&mut *tx).await?;
    }
    Ok(())
}

/// Deletes the rows of the periods that contain these weeks; a period has `length` weeks.
async fn delete(
    tx: &mut Connection,
    table: &str,
    column: &str,
    length: i64,
    (first, last): (i64, i64),
) -> Result<(), StoreError> {
    let (from, to) = (first.div_euclid(length), last.div_euclid(length));
    // With the rulesets, an index finds these rows in tables whose key begins with the ruleset.
    let delete = format!(
        "DELETE FROM {table} WHERE {column} BETWEEN $1 AND $2 AND ruleset IN
             (SELECT ruleset FROM balance_cells WHERE week BETWEEN $3 AND $4)"
    );
    let query = sql(delete).bind(from).bind(to);
    let query = query.bind(from * length).bind((to + 1) * length - 1);
    query.execute(tx).await?;
    Ok(())
}

/// The instant at which a week begins, in milliseconds since 1970.
pub(super) fn start_of_week(week: i64) -> i64 {
    week.saturating_mul(WEEK_MILLIS).saturating_sub(BEFORE_1970)
}
