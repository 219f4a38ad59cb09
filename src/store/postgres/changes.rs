//! A stream of commits: PostgreSQL sends a notification to all processes that listen.

use std::time::Duration;

use async_trait::async_trait;
use sqlx::{Executor, postgres::PgListener};
use tokio::time::{Instant, timeout};

use super::{DbConnection, DbPool};
use crate::store::{Changes, StoreError};

/// The channel of the notifications.
pub(super) const CHANNEL: &str = "evenkeel";
/// After this time without a notification, the server is asked for an answer. The operating system may never
/// report that a connection was cut.
const SILENCE: Duration = Duration::from_secs(10);
/// The longest time that this answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Notifies all listeners once the transaction is committed. Several notifications of one transaction are one.
pub(super) async fn announce(tx: &mut DbConnection) -> Result<(), StoreError> {
    sqlx::query("SELECT pg_notify($1, '')")
        .bind(CHANNEL)
        .execute(tx)
        .await?;
    Ok(())
}

/// The stream of commits of a PostgreSQL database; see [`Changes`].
pub(super) struct Announcements {
    listener: PgListener,
    /// Whether the first call of [`Changes::next`] has returned.
    begun: bool,
    /// When the last answer or notification of the server came.
    heard: Instant,
}

impl Announcements {
    /// The notifications of a channel.
    pub async fn new(pool: &DbPool, channel: &str) -> Result<Self, StoreError> {
        let mut listener = PgListener::connect_with(pool).await?;
        listener.listen(channel).await?;
        Ok(Self {
            listener,
            begun: false,
            heard: Instant::now(),
        })
    }

    /// Asks the server for an answer, which shows that the connection still works.
    async fn ask(&mut self) -> Result<(), StoreError> {
        let answered = timeout(PATIENCE, self.listener.execute("SELECT 1")).await;
        answered.unwrap_or(Err(sqlx::Error::PoolTimedOut))?;
        self.heard = Instant::now();
        Ok(())
    }
}

#[async_trait]
impl Changes for Announcements {
    async fn next(&mut self) -> Result<(), StoreError> {
        if !self.begun {
            self.begun = true;
            return Ok(());
        }
        loop {
            if self.heard.elapsed() >= SILENCE + PATIENCE {
                return Err(sqlx::Error::PoolTimedOut.into());
            }
            let silent_at = self.heard + SILENCE;
            match tokio::time::timeout_at(silent_at, self.listener.try_recv()).await {
                // Without a notification, the connection was lost and made again: commits may have been missed.
                Ok(received) => {
                    received?;
                    while self.listener.next_buffered().is_some() {}
                    self.heard = Instant::now();
                    return Ok(());
                }
                Err(_) => self.ask().await?,
            }
        }
    }
}
