//! A stream of commits: PostgreSQL sends a notification to all processes that listen.

use std::time::Duration;

use async_trait::async_trait;
use sqlx::{Executor, PgPool, postgres::PgListener};
use tokio::{
    sync::mpsc::{self, Sender, error::TrySendError},
    task::JoinHandle,
    time::{Instant, timeout, timeout_at},
};

use super::connection::reason;
use crate::store::{
    Changes, StoreError,
    db::{Connection, sql},
};

/// The channel of the notifications.
pub(super) const CHANNEL: &str = "evenkeel";
/// After this time without a notification, the server is asked for an answer. The operating system may never
/// report that a connection was cut.
const SILENCE: Duration = Duration::from_secs(10);
/// The longest time that this answer may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// After this time without a notification, a change is reported all the same: a notification may be lost, for example
/// by a pooler between this process and the server.
const LOOK: Duration = Duration::from_secs(1);

/// Notifies all listeners once the transaction is committed. Several notifications of one transaction are one.
pub(super) async fn announce(tx: &mut Connection) -> Result<(), StoreError> {
    let notify = sql("SELECT pg_notify($1, '')").bind(CHANNEL);
    notify.execute(tx).await.map(drop)
}

/// The stream of commits of a PostgreSQL database; see [`Changes`]. It ends when its connection does: the next stream
/// begins with what has happened in between.
pub(super) struct Announcements {
    /// What the task has heard since the last call, or why it has ended.
    heard: mpsc::Receiver<Result<(), StoreError>>,
    /// Has the connection, so that no statement on it is dropped before it is done.
    task: JoinHandle<()>,
    /// Whether the first call of [`Changes::next`] has returned.
    begun: bool,
    /// When the last call returned.
    looked: Instant,
}

impl Announcements {
    /// The notifications of a channel.
    pub async fn new(pool: &PgPool, channel: &str) -> Result<Self, StoreError> {
        let mut listener = match PgListener::connect_with(pool).await {
            Ok(listener) => listener,
            Err(error) => return Err(reason(pool, error).await.into()),
        };
        listener.eager_reconnect(false);
        let listening = timeout(PATIENCE, listener.listen(channel)).await;
        listening.unwrap_or(Err(sqlx::Error::PoolTimedOut))?;
        let (sender, heard) = mpsc::channel(1);
        let task = tokio::spawn(async move {
            if let Err(error) = listen(listener, &sender).await {
                let _ = sender.send(Err(error)).await;
            }
        });
        Ok(Self {
            heard,
            task,
            begun: false,
            looked: Instant::now(),
        })
    }
}

/// Reports notifications. Ends without an error once the stream is dropped.
async fn listen(
    mut listener: PgListener,
    heard: &Sender<Result<(), StoreError>>,
) -> Result<(), StoreError> {
    loop {
        match timeout(SILENCE, listener.try_recv()).await {
            Ok(received) => {
                if received?.is_none() {
                    return Err(sqlx::Error::from(std::io::Error::from(
                        std::io::ErrorKind::ConnectionAborted,
                    ))
                    .into());
                }
                while listener.next_buffered().is_some() {}
                if let Err(TrySendError::Closed(_)) = heard.try_send(Ok(())) {
                    return Ok(());
                }
            }
            Err(_) => {
                let alive = timeout(PATIENCE, listener.execute("SELECT 1")).await;
                alive.unwrap_or(Err(sqlx::Error::PoolTimedOut))?;
            }
        }
    }
}

impl Drop for Announcements {
    fn drop(&mut self) {
        self.task.abort();
    }
}

#[async_trait]
impl Changes for Announcements {
    async fn next(&mut self) -> Result<(), StoreError> {
        if !self.begun {
            self.begun = true;
            return Ok(());
        }
        let heard = timeout_at(self.looked + LOOK, self.heard.recv()).await;
        self.looked = Instant::now();
        match heard {
            Ok(heard) => heard.unwrap_or(Err(sqlx::Error::PoolClosed.into())),
            Err(_) => Ok(()),
        }
    }
}
