//! The numbers that PostgreSQL gives to new rows.

use super::DbConnection;
use crate::store::StoreError;

/// Reserves the next `count` ids of matches, and returns the last one. The writer's lock keeps others from
/// taking ids in between.
pub(super) async fn reserve_matches(tx: &mut DbConnection, count: i64) -> Result<i64, StoreError> {
    let next = "SELECT setval(pg_get_serial_sequence('matches', 'id'),
                              nextval(pg_get_serial_sequence('matches', 'id')) + $1 - 1)";
    Ok(sqlx::query_scalar(next).bind(count).fetch_one(tx).await?)
}

/// The number of the last event of webhooks, also if it has been removed; 0 if there was none.
pub(super) async fn last_event(tx: &mut DbConnection) -> Result<i64, StoreError> {
    let last =
        "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM webhook_events_number_seq";
    Ok(sqlx::query_scalar(last).fetch_one(tx).await?)
}
