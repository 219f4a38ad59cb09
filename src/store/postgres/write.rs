//! Begins writes: transactions that have the lock of all writers.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, timeout};

use super::{DbPool, sql::DbWrite};
use crate::store::{StoreError, StoreMetrics};

/// Begins, and waits for the lock, in one message to the server. The number is "EVKL" in ASCII: the lock must
/// have the same number in all daemons, and no other program should take locks in this database.
const BEGIN: &str = "BEGIN; SELECT pg_advisory_xact_lock(1163283276)";

/// Waits until no other connection or process writes, and begins. Waits for the lock for as long as the
/// server allows, which is `patience`, and for the server twice as long as that.
pub(super) async fn begin(
    writer: &DbPool,
    patience: Duration,
    metrics: &Arc<StoreMetrics>,
) -> Result<DbWrite, StoreError> {
    let began = Instant::now();
    let mut write = DbWrite::new(writer.acquire().await?, began, metrics);
    let begun = timeout(2 * patience, write.execute_text(BEGIN)).await;
    begun.unwrap_or(Err(sqlx::Error::PoolTimedOut))?;
    Ok(write)
}
