//! A stream of commits: PostgreSQL sends a notification to all processes that listen.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use sqlx::{Executor, PgPool, postgres::PgListener};
use tokio::{
    sync::{
        mpsc::{self, Sender, error::TrySendError},
        watch,
    },
    task::JoinHandle,
    time::{Instant, sleep, timeout, timeout_at},
};

use super::connection::reason;
use crate::store::{
    Changes, StoreError,
    db::{ConnectionPool, sql},
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

/// The shortest time between two notifications of one process.
const PAUSE: Duration = Duration::from_millis(20);

/// Notifies all listeners after commits. A transaction of its own does so, because the server lets no two transactions
/// that notify commit at the same time. One notification may be for several commits.
#[derive(Debug)]
pub(super) struct Announcer {
    /// The number of commits.
    commits: watch::Sender<u64>,
    /// How many of them are announced.
    announced: Arc<AtomicU64>,
    apart: ConnectionPool,
    task: JoinHandle<()>,
}

impl Announcer {
    /// Notifies on a connection of this pool.
    pub fn new(apart: ConnectionPool) -> Self {
        let commits = watch::Sender::new(0);
        let announced = Arc::new(AtomicU64::new(0));
        let task = announce_each(commits.subscribe(), announced.clone(), apart.clone());
        Self {
            task: tokio::spawn(task),
            commits,
            announced,
            apart,
        }
    }

    /// Notifies all listeners soon.
    pub fn announce(&self) {
        self.commits.send_modify(|commits| *commits += 1);
    }

    /// Notifies of the last commits.
    pub async fn close(&self) {
        self.task.abort();
        if *self.commits.borrow() > self.announced.load(Ordering::Acquire) {
            notify(&self.apart).await;
        }
    }
}

impl Drop for Announcer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn announce_each(
    mut commits: watch::Receiver<u64>,
    announced: Arc<AtomicU64>,
    apart: ConnectionPool,
) {
    while commits.changed().await.is_ok() {
        let count = *commits.borrow_and_update();
        notify(&apart).await;
        announced.store(count, Ordering::Release);
        sleep(PAUSE).await;
    }
}

/// Without this notification, the listeners look after a second.
async fn notify(apart: &ConnectionPool) {
    let notify = sql("SELECT pg_notify($1, '')").bind(CHANNEL);
    if let Err(error) = notify.execute(apart).await {
        tracing::debug!(%error, "a commit is not announced");
    }
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
