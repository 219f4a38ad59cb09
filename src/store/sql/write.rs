//! The only kind of write: a transaction that has the lock of all writers. If it fails, its connection is closed
//! instead of being reused.

use std::{
    ops::{Deref, DerefMut},
    sync::Arc,
};

use sqlx::Executor;
use tokio::time::Instant;

use super::{Acquired, DbConnection};
use crate::store::{StoreError, StoreMetrics};

/// A write. If it is dropped before [`commit`](Self::commit) has succeeded, it closes its connection, which rolls
/// the write back.
///
/// When the disk is full or fails, SQLite may end a transaction by itself, which this program cannot see. On
/// PostgreSQL, a connection that was abandoned during a statement may still get the lock, and must never return to the
/// pool with it. A new connection has no open transaction, whatever happened to the old one.
pub(in super::super) struct DbWrite {
    connection: Acquired,
    finished: bool,
    began: Instant,
    metrics: Arc<StoreMetrics>,
}

impl DbWrite {
    /// A write that has waited for its connection since `began`. The caller begins the transaction.
    pub fn new(connection: Acquired, began: Instant, metrics: &Arc<StoreMetrics>) -> Self {
        Self {
            connection,
            finished: false,
            began,
            metrics: metrics.clone(),
        }
    }

    /// The transaction has not begun, so that the connection can be reused.
    #[allow(
        dead_code,
        reason = "on PostgreSQL, a transaction that waits for the lock has begun"
    )]
    pub fn has_not_begun(mut self) {
        self.finished = true;
        self.metrics.failed();
    }

    /// Makes the write permanent: it survives a power cut once this returns. If the connection is lost meanwhile, the
    /// write may be permanent or not.
    pub async fn commit(mut self) -> Result<(), StoreError> {
        self.execute_text("COMMIT").await?;
        self.finished = true;
        self.metrics.written(self.began.elapsed().as_secs_f64());
        Ok(())
    }

    /// Rolls the write back, so that the database does not change.
    pub async fn abandon(mut self) -> Result<(), StoreError> {
        self.execute_text("ROLLBACK").await?;
        self.finished = true;
        Ok(())
    }

    /// Executes a text without parameters.
    pub async fn execute_text(&mut self, text: &'static str) -> Result<(), sqlx::Error> {
        let connection: &mut DbConnection = &mut self.connection;
        connection.execute(text).await.map(drop)
    }
}

impl Deref for DbWrite {
    type Target = DbConnection;

    fn deref(&self) -> &DbConnection {
        &self.connection
    }
}

impl DerefMut for DbWrite {
    fn deref_mut(&mut self) -> &mut DbConnection {
        &mut self.connection
    }
}

impl Drop for DbWrite {
    fn drop(&mut self) {
        if !self.finished {
            self.metrics.failed();
            self.connection.close_on_drop();
        }
    }
}
