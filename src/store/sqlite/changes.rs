//! Commits as a stream: this process's by a counter, others' by polling the file.

use std::time::Duration;

use async_trait::async_trait;
use sqlx::{Sqlite, pool::PoolConnection};
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};

use crate::store::{Changes, StoreError};

/// How often the commits of other processes are looked for.
const POLL: Duration = Duration::from_millis(250);

/// See [`Changes`].
pub(super) struct Commits {
    connection: PoolConnection<Sqlite>,
    own: watch::Receiver<u64>,
    /// The version of the file when it was last looked at; `None` before the first time.
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

    /// SQLite's `data_version`: it changes with every commit of another connection.
    async fn version(&mut self) -> Result<i64, StoreError> {
        let query = sqlx::query_scalar("PRAGMA data_version");
        Ok(query.fetch_one(&mut *self.connection).await?)
    }
}

#[async_trait]
impl Changes for Commits {
    async fn next(&mut self) -> Result<(), StoreError> {
        loop {
            // Before the look: a commit after it wakes this up once more.
            self.own.mark_unchanged();
            let version = Some(self.version().await?);
            if self.version != version {
                self.version = version;
                return Ok(());
            }
            if let Ok(Err(_)) = timeout(POLL, self.own.changed()).await {
                sleep(POLL).await; // nobody in this process can write any more
            }
        }
    }
}
