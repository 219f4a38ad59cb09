//! Begins writes: transactions on the writing connection.

use std::sync::Arc;

use sqlx::SqlitePool;
use tokio::time::Instant;

use super::sql::DbWrite;
use crate::store::{StoreError, StoreMetrics};

/// Waits until no other connection or process writes, and begins.
pub(super) async fn begin(
    writer: &SqlitePool,
    metrics: &Arc<StoreMetrics>,
) -> Result<DbWrite, StoreError> {
    let began = Instant::now();
    let mut write = DbWrite::new(writer.acquire().await?, began, metrics);
    match write.execute_text("BEGIN IMMEDIATE").await {
        Ok(()) => Ok(write),
        Err(error) => {
            let error = StoreError::from(error);
            if error.is_locked() {
                write.has_not_begun(); // the lock was not free in time
            }
            Err(error)
        }
    }
}
