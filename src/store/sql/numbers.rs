//! The numbers that a database gives to new rows. It never uses one again, even if its row is gone.

use crate::store::{StoreError, db::*};

/// The highest number that was given to a row of a table, also if the row was removed; 0 if there was none.
pub(in crate::store) async fn last_number(
    tx: &mut Connection,
    table: &str,
    column: &str,
) -> Result<i64, StoreError> {
    let highest = scalar(format!("SELECT coalesce(max({column}), 0) FROM {table}"));
    let highest: i64 = highest.fetch_one(&mut *tx).await?;
    let counted = match tx.dialect() {
        Dialect::Sqlite => {
            scalar("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = $1").bind(table)
        }
        Dialect::Postgres => scalar(
            "SELECT coalesce(pg_sequence_last_value(CAST(pg_get_serial_sequence($1, $2) AS regclass)), 0)",
        )
        .bind(table)
        .bind(column),
    };
    Ok(highest.max(counted.fetch_one(tx).await?))
}
