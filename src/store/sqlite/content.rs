//! What is special about transfers from and to SQLite.

use std::time::Duration;

use super::{DbConnection, SqliteStore};
use crate::store::{
    Leases, StoreError, Taken,
    transfer::{Claim, Value},
};

/// The columns of a table with their types, by name.
pub(super) const COLUMNS: &str = "SELECT name, type FROM pragma_table_info($1) ORDER BY name";
/// The name of the lease. All leases of a database are held by one process.
const LEASE: &str = "transfer";

/// Claims the database, so that no daemon can run its queues.
pub(super) async fn claim(store: &SqliteStore) -> Result<Option<Claim>, StoreError> {
    let holder = format!("transfer {}", std::process::id());
    Ok(
        match store.take_lease(LEASE, &holder, Duration::ZERO).await? {
            Taken::Yes(lease) => Some(Claim {
                _lease: Some(lease),
            }),
            Taken::No { .. } => None,
        },
    )
}

/// A write lasts until it ends: nothing needs to be done.
pub(super) async fn hold(_: &mut DbConnection) -> Result<(), StoreError> {
    Ok(())
}

/// SQLite stores the number -0 as 0, and what is not a number as NULL.
pub(super) fn fit(value: &mut Value) {
    if let Value::Real(bits) = value {
        match f64::from_bits(*bits) {
            number if number.is_nan() => *value = Value::Null,
            0.0 => *value = Value::Real(0),
            _ => {}
        }
    }
}

/// The last number of a table that counts; 0 if it does not, or has not yet.
pub(super) async fn last_number(
    tx: &mut DbConnection,
    table: &str,
    _: &str,
) -> Result<i64, StoreError> {
    let last = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = $1";
    Ok(sqlx::query_scalar(last).bind(table).fetch_one(tx).await?)
}

/// Makes a table count on from this number, if it counts.
pub(super) async fn set_last_number(
    tx: &mut DbConnection,
    table: &str,
    _: &str,
    last: i64,
) -> Result<(), StoreError> {
    let delete = sqlx::query("DELETE FROM sqlite_sequence WHERE name = $1");
    delete.bind(table).execute(&mut *tx).await?;
    let insert = "INSERT INTO sqlite_sequence (name, seq) SELECT name, $2 FROM sqlite_schema
         WHERE type = 'table' AND name = $1 AND sql LIKE '%AUTOINCREMENT%'";
    let insert = sqlx::query(insert).bind(table).bind(last);
    insert.execute(tx).await?;
    Ok(())
}
