//! What is special about transfers from and to PostgreSQL.

use super::{DbConnection, PgStore, text::text};
use crate::store::{
    StoreError,
    transfer::{Claim, Value},
};

/// The columns of a table with their types, by name.
pub(super) const COLUMNS: &str = "SELECT CAST(column_name AS TEXT), CAST(data_type AS TEXT)
     FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = $1
     ORDER BY CAST(column_name AS TEXT) COLLATE \"C\"";

/// Looks for a lease that has not ended. Nothing keeps a daemon from starting later, but it cannot write while
/// the database is locked.
pub(super) async fn claim(store: &PgStore) -> Result<Option<Claim>, StoreError> {
    let held = "SELECT EXISTS (SELECT 1 FROM leases WHERE ends_at > now_millis())";
    let held: bool = sqlx::query_scalar(held).fetch_one(&store.readers).await?;
    Ok((!held).then_some(Claim { _lease: None }))
}

/// Keeps the server from ending this transaction while the other database works, or a statement that reads or
/// writes a whole table.
pub(super) async fn hold(tx: &mut DbConnection) -> Result<(), StoreError> {
    tx.be_patient();
    for hold in [
        "SET LOCAL idle_in_transaction_session_timeout = 0",
        "SET LOCAL statement_timeout = 0",
    ] {
        sqlx::query(hold).execute(&mut *tx).await?;
    }
    Ok(())
}

/// PostgreSQL stores any text but the character NUL.
pub(super) fn fit(value: &mut Value) {
    if let Value::Text(own) = value
        && own.contains('\0')
    {
        *own = text(own).into_owned();
    }
}

/// The last number of a table.
pub(super) async fn last_number(
    tx: &mut DbConnection,
    table: &str,
    column: &str,
) -> Result<i64, StoreError> {
    let last = "SELECT coalesce(pg_sequence_last_value(CAST(pg_get_serial_sequence($1, $2) AS regclass)), 0)";
    let last = sqlx::query_scalar(last).bind(table).bind(column);
    Ok(last.fetch_one(tx).await?)
}

/// Makes a table count on from this number.
pub(super) async fn set_last_number(
    tx: &mut DbConnection,
    table: &str,
    column: &str,
    last: i64,
) -> Result<(), StoreError> {
    let set = "SELECT setval(CAST(pg_get_serial_sequence($1, $2) AS regclass), $3)";
    let set = sqlx::query(set).bind(table).bind(column).bind(last);
    set.execute(tx).await?;
    Ok(())
}
