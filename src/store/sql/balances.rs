//! How close matches were: read models of the balance page, by week.
//!
//! Each match is added to the sums of its week, and one whose ruling is replaced is subtracted before. That gives the
//! same bits as counting all matches again, because all sums are exact in whatever order they are added up: they are
//! of whole numbers, or of multiples of a power of two.

use super::rows::ROWS;
use crate::{
    domain::{DAY, Timestamp},
    store::{RulingRow, StoreError, db::*},
};

/// A table that is counted from the [rated matches](RATED).
struct Counted {
    table: &'static str,
    /// The columns of its key, and what each of them is.
    keys: &'static [(&'static str, &'static str)],
    /// The columns that are added up, and how.
    sums: &'static [(&'static str, &'static str)],
    /// What is counted.
    from: &'static str,
}

const WEEK: (&str, &str) = ("week", "week");
const RULESET: (&str, &str) = ("ruleset", "ruleset");
const MAP: (&str, &str) = ("map", "map");
/// 13 weeks, counted from the one with the number 0; `/` rounds towards 0.
const BLOCK: (&str, &str) = ("block", "(week - (week % 13 + 13) % 13) / 13");

/// How close the matches of a group were.
const CLOSENESS: &[(&str, &str)] = &[
    ("rated", "count(*)"),
    ("matches", "count(spread)"),
    (
        "draws",
        "count(CASE WHEN outcome = 'draw' AND spread IS NOT NULL THEN 1 END)",
    ),
    ("gap", "coalesce(sum(gap), 0)"),
    (
        "minutes",
        "coalesce(sum(CASE WHEN spread IS NOT NULL THEN minutes END), 0)",
    ),
    ("first_won", "count(CASE WHEN winner = 0 THEN 1 END)"),
    ("decided", "count(winner)"),
    ("predicted", "count(chance * won)"),
    (
        "favoured",
        "count(CASE WHEN won <> 0.5 AND (chance >= 0.5) = (won > 0.5) THEN 1 END)",
    ),
    (
        "brier",
        "coalesce(sum(round((chance - won) * (chance - won) * 68719476736) / 68719476736), 0)",
    ),
    ("scored", "count(gap)"),
    (
        "predicted_won",
        "count(CASE WHEN won <> 0.5 THEN chance END)",
    ),
    (
        "untimed",
        "count(CASE WHEN untimed AND spread IS NOT NULL THEN 1 END)",
    ),
];

const TABLES: [Counted; 6] = [
    Counted {
        table: "balance_cells",
        keys: &[WEEK, RULESET, MAP],
        sums: CLOSENESS,
        from: "rated",
    },
    Counted {
        table: "balance_weeks",
        keys: &[RULESET, WEEK],
        sums: CLOSENESS,
        from: "rated",
    },
    Counted {
        table: "balance_maps",
        keys: &[RULESET, BLOCK, MAP],
        sums: CLOSENESS,
        from: "rated",
    },
    Counted {
        table: "balance_gaps",
        keys: &[
            RULESET,
            WEEK,
            ("gap", "CAST(round(CAST(gap AS NUMERIC)) AS BIGINT)"),
        ],
        sums: &[("matches", "count(*)")],
        from: "rated WHERE gap IS NOT NULL",
    },
    Counted {
        table: "balance_causes",
        keys: &[RULESET, WEEK, ("causes", "causes")],
        sums: &[
            ("matches", "count(*)"),
            ("gap", "sum(gap)"),
            ("squares", "sum(round(gap * gap * 1048576) / 1048576)"),
        ],
        from: "rated WHERE gap IS NOT NULL AND causes IS NOT NULL",
    },
    Counted {
        table: "balance_chances",
        keys: &[
            RULESET,
            WEEK,
            (
                "step",
                "CASE WHEN favoured < 0.55 THEN 0 WHEN favoured < 0.6 THEN 1 WHEN favoured < 0.65 THEN 2
                      WHEN favoured < 0.7 THEN 3 WHEN favoured < 0.75 THEN 4 WHEN favoured < 0.8 THEN 5
                      WHEN favoured < 0.85 THEN 6 WHEN favoured < 0.9 THEN 7 WHEN favoured < 0.95 THEN 8
                      ELSE 9 END",
            ),
        ],
        sums: &[
            ("matches", "count(*)"),
            (
                "chance",
                "sum(round(favoured * 68719476736) / 68719476736)",
            ),
            ("won", "sum(won_by_favourite)"),
        ],
        from: "(SELECT ruleset, week,
                      CASE WHEN chance >= 0.5 THEN chance ELSE 1 - chance END AS favoured,
                      CASE WHEN chance >= 0.5 THEN won ELSE 1 - won END AS won_by_favourite
               FROM rated) AS favourites
         WHERE favoured IS NOT NULL AND won_by_favourite IS NOT NULL",
    },
];

/// The rated matches, before the condition that chooses some. `spread` is the difference between the highest and the
/// lowest score, NULL without teams. `gap` is the same, NULL also where a team has won with the same score as all
/// others: then no scores were reported.
///
/// So that sums are exact, differences of scores and their squares are multiples of 2⁻²⁰, minutes of 2⁻³², and what comes from
/// chances of 2⁻³⁶. Their sums are exact up to 2³³, 2²¹ (100,000 matches of 20 minutes) and 2¹⁷ (500,000 matches).
const RATED: &str = "WITH timed AS (
         SELECT r.ruleset, (m.ended_at + 259200000) / 604800000
                           - CASE WHEN (m.ended_at + 259200000) % 604800000 < 0
                                  THEN 1 ELSE 0 END AS week,
                m.map, m.outcome, m.winner, r.chance, r.causes,
                round((m.ended_at - m.started_at) / CAST(60000 AS DOUBLE PRECISION) * 4294967296) / 4294967296 AS minutes,
                m.untimed,
                CASE WHEN m.scores IS NOT NULL THEN round(coalesce(m.gap, 0) * 1048576) / 1048576 END AS spread,
                CAST(CASE WHEN m.outcome = 'draw' THEN 0.5 WHEN m.outcome <> 'won' THEN NULL
                          WHEN m.winner = 0 THEN 1 ELSE 0 END AS DOUBLE PRECISION) AS won
         FROM rulings r JOIN matches m ON m.id = r.match_id
         WHERE r.unrated IS NULL";
const WITHOUT_SCORES: &str = "),
     rated AS (
         SELECT timed.*, CASE WHEN outcome <> 'won' OR spread > 0 THEN spread END AS gap FROM timed)";

const WEEK_MILLIS: i64 = 7 * DAY;
/// From 1969-12-29, the Monday from which weeks are counted, to 1970-01-01.
const BEFORE_1970: i64 = 3 * DAY;

/// Subtracts the matches of these rulings, as far as they are counted. Call it before the rulings are replaced.
pub(super) async fn subtract(tx: &mut Connection, rulings: &[RulingRow]) -> Result<(), StoreError> {
    let ids: Vec<i64> = rulings.iter().map(|ruling| ruling.match_id).collect();
    let mut counted = Vec::new();
    for some in ids.chunks(ROWS) {
        let mut query = Sql::new("SELECT match_id FROM rulings WHERE match_id IN ");
        query.list(some.iter().copied());
        let known: Vec<i64> = query.build_scalar().fetch_all(&mut *tx).await?;
        counted.extend(known);
    }
    if counted.is_empty() {
        return Ok(());
    }
    count(tx, &counted, "-").await?;
    for Counted { table, sums, .. } in TABLES {
        let (all, _) = sums[0];
        sql(format!("DELETE FROM {table} WHERE {all} = 0"))
            .execute(&mut *tx)
            .await?;
    }
    Ok(())
}

/// Adds the matches of these rulings. Call it after the rulings are written.
pub(super) async fn add(tx: &mut Connection, rulings: &[RulingRow]) -> Result<(), StoreError> {
    let ids: Vec<i64> = rulings.iter().map(|ruling| ruling.match_id).collect();
    count(tx, &ids, "").await
}

/// Counts all matches again.
pub(super) async fn recount(tx: &mut Connection) -> Result<(), StoreError> {
    for counted in TABLES {
        let delete = format!("DELETE FROM {}", counted.table);
        sql(delete).execute(&mut *tx).await?;
        let insert = format!(
            "{} {RATED} {WITHOUT_SCORES} {}",
            counted.insert(),
            counted.select("")
        );
        sql(insert).execute(&mut *tx).await?;
    }
    Ok(())
}

/// Adds the matches with these ids to the sums; with the sign `-`, subtracts them.
async fn count(tx: &mut Connection, ids: &[i64], sign: &str) -> Result<(), StoreError> {
    for some in ids.chunks(ROWS) {
        for counted in TABLES {
            let mut query = Sql::new(counted.insert());
            query.push(" ").push(RATED).push(" AND r.match_id IN ");
            query
                .list(some.iter().copied())
                .push(WITHOUT_SCORES)
                .push(" ");
            query
                .push(counted.select(sign))
                .push(counted.on_conflict(tx.dialect()));
            query.build().execute(&mut *tx).await?;
        }
    }
    Ok(())
}

impl Counted {
    fn insert(&self) -> String {
        let columns = self.keys.iter().chain(self.sums).map(|(column, _)| *column);
        let columns: Vec<&str> = columns.collect();
        format!("INSERT INTO {} ({})", self.table, columns.join(", "))
    }

    fn select(&self, sign: &str) -> String {
        let keys = self.keys.iter().map(|(_, key)| (*key).to_owned());
        let sums = self.sums.iter().map(|(_, sum)| format!("{sign}{sum}"));
        let all: Vec<String> = keys.chain(sums).collect();
        let by: Vec<String> = (1..=self.keys.len()).map(|at| at.to_string()).collect();
        format!(
            "SELECT {} FROM {} GROUP BY {}",
            all.join(", "),
            self.from,
            by.join(", ")
        )
    }

    /// What is done where the row of a group exists.
    fn on_conflict(&self, dialect: Dialect) -> String {
        let Self {
            table, keys, sums, ..
        } = self;
        let key = |(column, _): &(&'static str, _)| match (dialect, *column) {
            (Dialect::Postgres, "ruleset") => "md5(ruleset)",
            (_, column) => column,
        };
        let keys: Vec<&str> = keys.iter().map(key).collect();
        let sum =
            |(column, _): &(&str, _)| format!("{column} = {table}.{column} + excluded.{column}");
        let sums: Vec<String> = sums.iter().map(sum).collect();
        format!(
            " ON CONFLICT ({}) DO UPDATE SET {}",
            keys.join(", "),
            sums.join(", ")
        )
    }
}

/// The number of the week of an instant, as [`RATED`] counts them.
pub(super) fn week_of(at: Timestamp) -> i64 {
    at.0.saturating_add(BEFORE_1970).div_euclid(WEEK_MILLIS)
}

/// The instant at which a week begins, in milliseconds since 1970.
pub(super) fn start_of_week(week: i64) -> i64 {
    week.saturating_mul(WEEK_MILLIS).saturating_sub(BEFORE_1970)
}
