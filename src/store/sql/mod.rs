//! The queries that belong to no owner of tables, and what several owners share; also the search for rows whose owner
//! is missing, in the tables that have no foreign keys.

pub(super) mod behaviour;
pub(super) mod operator_lines;
pub(super) mod pickups;
pub(super) mod rows;
pub(super) mod sign_ins;
pub(super) mod state;

use crate::store::{Store, StoreError, db::*};

/// Each table, and the rows that it belongs to: their table, and the columns of both.
const BELONGS: [(&str, &str, &str, &str); 4] = [
    ("match_chances", "match_id", "matches", "id"),
    ("match_players", "match_id", "matches", "id"),
    (
        "performances",
        "match_id, seat",
        "match_players",
        "match_id, seat",
    ),
    ("decisions", "match_id", "matches", "id"),
];

/// What is said of rows that belong to missing ones.
pub(super) fn missing_rows(rows: i64, table: &str, parent: &str) -> String {
    format!("{rows} rows of the table {table} belong to rows of {parent} that are missing")
}

impl Store {
    /// One sentence for each table with rows that belong to missing ones.
    pub async fn orphans(&self) -> Result<Vec<String>, StoreError> {
        let mut faults = Vec::new();
        for (table, own, parent, key) in BELONGS {
            let first = own.split(',').next().unwrap_or(own);
            let count = scalar(format!(
                "SELECT count(*) FROM {table} WHERE {first} IS NOT NULL AND ({own}) NOT IN (SELECT {key} FROM {parent})"
            ));
            let rows: i64 = count.fetch_one(&self.readers).await?;
            if rows > 0 {
                faults.push(missing_rows(rows, table, parent));
            }
        }
        Ok(faults)
    }
}
