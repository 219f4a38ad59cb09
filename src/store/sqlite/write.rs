//! The only kind of write: a transaction on the writing connection. If it fails, the connection is
//! closed instead of being reused.

use std::{
    ops::{Deref, DerefMut},
    sync::Arc,
};

use sqlx::{Sqlite, SqliteConnection, SqlitePool, pool::PoolConnection};
use tokio::time::Instant;

use crate::store::{StoreError, StoreMetrics};

/// A write that has begun. If it is dropped before [`commit`](Self::commit) has succeeded, it
/// closes its connection, which rolls the write back.
///
/// When the disk is full or fails, SQLite may end a transaction by itself, which this program
/// cannot see. A new connection has no open transaction, whatever happened to the old one.
pub(super) struct WriteTransaction {
    connection: PoolConnection<Sqlite>,
    finished: bool,
    began: Instant,
    metrics: Arc<StoreMetrics>,
}

impl WriteTransaction {
    /// Waits until no other connection or process writes, and begins.
    pub(super) async fn begin(
        writer: &SqlitePool,
        metrics: &Arc<StoreMetrics>,
    ) -> Result<Self, StoreError> {
        let began = Instant::now();
        let mut write = Self {
            connection: writer.acquire().await?,
            finished: false,
            began,
            metrics: metrics.clone(),
        };
        let begun = sqlx::query("BEGIN IMMEDIATE").execute(&mut *write).await;
        match begun.map_err(StoreError::from) {
            Ok(_) => Ok(write),
            Err(error) => {
                // If the lock was not free in time, the transaction has not begun, and the
                // connection can be reused.
                if error.is_locked() {
                    write.finished = true;
                    write.metrics.failed();
                }
                Err(error)
            }
        }
    }

    /// Rolls the write back, so that the database does not change.
    pub(super) async fn abandon(mut self) -> Result<(), StoreError> {
        sqlx::query("ROLLBACK").execute(&mut *self).await?;
        self.finished = true;
        Ok(())
    }

    /// Makes the write permanent: it survives a power cut once this returns.
    pub(super) async fn commit(mut self) -> Result<(), StoreError> {
        sqlx::query("COMMIT").execute(&mut *self).await?;
        self.finished = true;
        self.metrics.written(self.began.elapsed().as_secs_f64());
        Ok(())
    }
}

impl Deref for WriteTransaction {
    type Target = SqliteConnection;

    fn deref(&self) -> &SqliteConnection {
        &self.connection
    }
}

impl DerefMut for WriteTransaction {
    fn deref_mut(&mut self) -> &mut SqliteConnection {
        &mut self.connection
    }
}

impl Drop for WriteTransaction {
    fn drop(&mut self) {
        if !self.finished {
            self.metrics.failed();
            self.connection.close_on_drop();
        }
    }
}
