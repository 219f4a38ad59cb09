//! The only kind of write: a transaction that has the lock of all writers. If it fails, its connection is closed
//! instead of being reused.

use std::{
    ops::{Deref, DerefMut},
    sync::Arc,
    time::Duration,
};

use sqlx::Executor;
use tokio::time::{Instant, timeout};

use super::{Acquired, DbConnection, DbPool};
use crate::store::{StoreError, StoreMetrics};

/// Begins, and waits for the lock, in one message to the server. The number is "EVKL" in ASCII: the lock must
/// have the same number in all daemons, and no other program should take locks in this database.
const BEGIN: &str = "BEGIN; SELECT pg_advisory_xact_lock(1163283276)";

/// A write that has begun. If it is dropped before [`commit`](Self::commit) has succeeded, it closes its
/// connection, which rolls the write back. A connection that was abandoned during a statement may
/// still get the lock. It must never return to the pool with the lock.
pub(super) struct PgWrite {
    connection: Acquired,
    finished: bool,
    began: Instant,
    metrics: Arc<StoreMetrics>,
}

impl PgWrite {
    /// Waits until no other connection or process writes, and begins. Waits for the lock for as long as the
    /// server allows, which is `patience`, and for the server twice as long as that.
    pub(super) async fn begin(
        writer: &DbPool,
        patience: Duration,
        metrics: &Arc<StoreMetrics>,
    ) -> Result<Self, StoreError> {
        let began = Instant::now();
        let mut write = Self {
            connection: writer.acquire().await?,
            finished: false,
            began,
            metrics: metrics.clone(),
        };
        let begun = timeout(2 * patience, write.connection.execute(BEGIN)).await;
        begun.unwrap_or(Err(sqlx::Error::PoolTimedOut))?;
        Ok(write)
    }

    /// Makes the write permanent: it survives a power cut once this returns. If the connection is lost
    /// meanwhile, the write may be permanent or not.
    pub(super) async fn commit(mut self) -> Result<(), StoreError> {
        self.connection.execute("COMMIT").await?;
        self.finished = true;
        self.metrics.written(self.began.elapsed().as_secs_f64());
        Ok(())
    }

    /// Rolls the write back, so that the database does not change.
    pub(super) async fn abandon(mut self) -> Result<(), StoreError> {
        self.connection.execute("ROLLBACK").await?;
        self.finished = true;
        Ok(())
    }
}

impl Deref for PgWrite {
    type Target = DbConnection;

    fn deref(&self) -> &DbConnection {
        &self.connection
    }
}

impl DerefMut for PgWrite {
    fn deref_mut(&mut self) -> &mut DbConnection {
        &mut self.connection
    }
}

impl Drop for PgWrite {
    fn drop(&mut self) {
        if !self.finished {
            self.metrics.failed();
            self.connection.close_on_drop();
        }
    }
}
