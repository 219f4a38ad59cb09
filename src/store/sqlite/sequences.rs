//! The numbers that SQLite gives to new rows.

use super::DbConnection;
use crate::store::StoreError;

/// Reserves the next `count` ids of matches, and returns the last one.
pub(super) async fn reserve_matches(tx: &mut DbConnection, count: i64) -> Result<i64, StoreError> {
    // SQLite adds the row with the first match.
    let first = "INSERT INTO sqlite_sequence (name, seq) SELECT 'matches', 0
         WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'matches')";
    sqlx::query(first).execute(&mut *tx).await?;
    let next = "UPDATE sqlite_sequence SET seq = seq + $1 WHERE name = 'matches' RETURNING seq";
    Ok(sqlx::query_scalar(next).bind(count).fetch_one(tx).await?)
}

/// The number of the last event of webhooks, also if it has been removed; 0 if there was none.
pub(super) async fn last_event(tx: &mut DbConnection) -> Result<i64, StoreError> {
    let last = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'webhook_events'";
    Ok(sqlx::query_scalar(last).fetch_one(tx).await?)
}
