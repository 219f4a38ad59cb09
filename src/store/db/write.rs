//! The only kind of write: a transaction that holds a lock of the database. If a write fails, its connection is
//! closed and not used again.

use std::{
    fmt::Display,
    ops::{Deref, DerefMut},
    sync::Arc,
};

use tokio::time::Instant;

use super::{Connection, query::Executor};
use crate::store::{StoreError, StoreMetrics};

/// Reads where the database was moved to: the last statement of those that begin a write.
macro_rules! moved_to {
    () => {
        "SELECT text AS moved_to FROM state WHERE name = 'moved'"
    };
}
pub(in crate::store) use moved_to;

/// A transaction that writes. If it is dropped before [`commit`](Self::commit) or [`abandon`](Self::abandon) has
/// succeeded, it closes its connection, and the database rolls it back.
///
/// When the disk is full or fails, SQLite may end a transaction by itself, and this program cannot see that. On
/// PostgreSQL, a connection that was left during a statement may still get the lock, and must not return to the pool
/// with it. A new connection never has an open transaction.
pub(in crate::store) struct Write {
    connection: Connection,
    finished: bool,
    began: Instant,
    metrics: Arc<StoreMetrics>,
}

impl Write {
    /// Makes a write on a connection for which the caller has waited since `began`. The caller begins the transaction.
    pub fn new(connection: Connection, began: Instant, metrics: &Arc<StoreMetrics>) -> Self {
        Self {
            connection,
            finished: false,
            began,
            metrics: metrics.clone(),
        }
    }

    /// Begins the transaction with `statements`, of which the last one is [`moved_to`]. Rolls it back and fails
    /// if the database was moved to another one, perhaps since this process has opened it: nobody would find what is
    /// written.
    pub async fn begin(
        &mut self,
        statements: &'static str,
        place: &(dyn Display + Sync),
    ) -> Result<(), StoreError> {
        let rows = self.execute_text(statements).await?;
        let Some(to) = rows.iter().find_map(|row| row.get("moved_to").ok()) else {
            return Ok(());
        };
        self.execute_text("ROLLBACK").await?;
        self.finished = true;
        let place = place.to_string();
        Err(StoreError::Moved { place, to })
    }

    /// Counts the write as failed, and keeps the connection: its transaction has not begun.
    pub fn has_not_begun(mut self) {
        self.finished = true;
        self.metrics.failed();
    }

    /// Makes the write permanent: once this has succeeded, the write survives a power cut. If this fails because the
    /// connection is lost, the write may be permanent or not. Wakes none of the tasks that wait for changes of
    /// weights: those are committed by the [store](crate::store::Store).
    pub async fn commit(mut self) -> Result<(), StoreError> {
        self.execute_text("COMMIT").await?;
        self.finished = true;
        self.metrics.written(self.began.elapsed().as_secs_f64());
        Ok(())
    }

    /// Rolls the write back: the database does not change.
    pub async fn abandon(mut self) -> Result<(), StoreError> {
        self.execute_text("ROLLBACK").await?;
        self.finished = true;
        Ok(())
    }
}

impl Deref for Write {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl DerefMut for Write {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}

impl<'a> From<&'a mut Write> for Executor<'a> {
    fn from(write: &'a mut Write) -> Self {
        Self::Connection(write)
    }
}

impl Drop for Write {
    fn drop(&mut self) {
        if !self.finished {
            self.metrics.failed();
            self.connection.close_on_drop();
        }
    }
}
