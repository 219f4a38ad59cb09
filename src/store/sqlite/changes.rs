//! A stream of commits. A counter shows those of this process; polling the file shows those of
//! others.

use std::time::Duration;

use async_trait::async_trait;
use sqlx::{Sqlite, pool::PoolConnection};
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};

use crate::store::{Changes, StoreError};

/// How often the file is polled for commits of other processes.
const POLL: Duration = Duration::from_millis(250);

/// The stream of commits of an SQLite database; see [`Changes`].
pub(super) struct Commits {
    connection: PoolConnection<Sqlite>,
    own: watch::Receiver<u64>,
    /// The version of the file at the last poll; `None` before the first one.
    version: Option<i64>,
}

impl Commits {
    pub fn new(connection: PoolConnection<Sqlite>, own: watch::Receiver<u64>) -> Self {
        Self {
            connection,
            own,
            version: None,
        }
    }

    /// SQLite's `data_version`, which changes with each commit of another connection.
    async fn version(&mut self) -> Result<i64, StoreError> {
        let query = sqlx::query_scalar("PRAGMA data_version");
        Ok(query.fetch_one(&mut *self.connection).await?)
    }
}

#[async_trait]
impl Changes for Commits {
    async fn next(&mut self) -> Result<(), StoreError> {
        loop {
            // Mark before polling: a commit in between causes one more wake-up.
            self.own.mark_unchanged();
            let version = Some(self.version().await?);
            if self.version != version {
                self.version = version;
                return Ok(());
            }
            if let Ok(Err(_)) = timeout(POLL, self.own.changed()).await {
                sleep(POLL).await; // this process has closed the store; other processes may still write
            }
        }
    }
}
