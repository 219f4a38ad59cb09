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

/// Makes the next row of a table get a number that is higher than this one, if the table counts.
pub(in crate::store) async fn set_last_number(
    tx: &mut Connection,
    table: &str,
    column: &str,
    last: i64,
) -> Result<(), StoreError> {
    if last < 1 {
        return Ok(());
    }
    let set = match tx.dialect() {
        Dialect::Sqlite => {
            let delete = sql("DELETE FROM sqlite_sequence WHERE name = $1").bind(table);
            delete.execute(&mut *tx).await?;
            let insert =
                "INSERT INTO sqlite_sequence (name, seq) SELECT name, $2 FROM sqlite_schema
                 WHERE type = 'table' AND name = $1 AND sql LIKE '%AUTOINCREMENT%'";
            sql(insert).bind(table).bind(last)
        }
        Dialect::Postgres => {
            let set = "SELECT setval(CAST(pg_get_serial_sequence($1, $2) AS regclass), $3)";
            sql(set).bind(table).bind(column).bind(last)
        }
    };
    set.execute(tx).await.map(drop)
}
