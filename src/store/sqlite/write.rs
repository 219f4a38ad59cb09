//! The one kind of write: a transaction on the writing connection, which a failed write does not give back.

use std::ops::{Deref, DerefMut};

use sqlx::{Sqlite, SqliteConnection, SqlitePool, pool::PoolConnection};

use crate::store::StoreError;

/// A write under way. Dropped before [`commit`](Self::commit) has succeeded, it closes its connection, which
/// rolls it back.
///
/// SQLite ends a transaction by itself when the disk is full or fails, and whether it has done so is not
/// known here. A new connection is in no transaction, whatever happened to the old one.
pub(super) struct WriteTransaction {
    connection: PoolConnection<Sqlite>,
    finished: bool,
}

impl WriteTransaction {
    /// Waits for the writers of this process and of others, and begins.
    pub(super) async fn begin(writer: &SqlitePool) -> Result<Self, StoreError> {
        let mut write = Self {
            connection: writer.acquire().await?,
            finished: false,
        };
        let begun = sqlx::query("BEGIN IMMEDIATE").execute(&mut *write).await;
        match begun.map_err(StoreError::from) {
            Ok(_) => Ok(write),
            Err(error) => {
                // A transaction that only waited in vain for a lock has not begun.
                write.finished = error.is_locked();
                Err(error)
            }
        }
    }

    /// Makes the write permanent: it survives a power cut once this returns.
    pub(super) async fn commit(mut self) -> Result<(), StoreError> {
        sqlx::query("COMMIT").execute(&mut *self).await?;
        self.finished = true;
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
            self.connection.close_on_drop();
        }
    }
}
