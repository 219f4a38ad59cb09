//! PostgreSQL: one database for several daemons, with as many readers and writers as it has connections.
//!
//! Only one process writes at a time: each write first takes a lock of the whole database, and keeps it until
//! its end. So a write can read a row and rely on it, as with SQLite, and rows have numbers in the order of
//! their commits. Readers never wait. If a process stops during a transaction, the server ends the transaction,
//! so that others need not wait for it.

mod changes;
mod content;
mod leases;
mod migrations;
mod post;
mod sequences;
/// The queries, compiled for PostgreSQL.
#[path = "../sql/mod.rs"]
#[allow(clippy::duplicate_mod)] // the same files, compiled for another database
mod sql;
mod text;
mod url;
mod write;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use sqlx::{
    PgConnection as DbConnection, PgPool as DbPool, Postgres as Db, Transaction,
    postgres::{PgConnectOptions, PgPoolOptions, PgRow as DbRow},
};

use super::{Changes, Post, Store, StoreError, StoreMetrics};
use migrations::MIGRATIONS;
pub use url::PostgresUrl;
use write::PgWrite;

use PgStore as DbStore;
use PgWrite as DbWrite;

/// The oldest version that Evenkeel is tested with.
const OLDEST: i32 = 15;
/// How long a statistics page waits for a connection.
const PAGE_PATIENCE: Duration = Duration::from_secs(2);
/// The shortest time that a connection or a query may take.
const LEAST_PATIENCE: Duration = Duration::from_secs(1);
/// How long this process waits while another one migrates the database.
const MIGRATION_PATIENCE: Duration = Duration::from_secs(60);
/// The connections that read. One of them waits for changes, and one for letters.
const READERS: u32 = 5;
/// The connections of statistics pages.
const PAGES: u32 = 2;
/// The connections for statements that do not wait for the lock of all writers.
const APART: u32 = 2;
/// After how many milliseconds without a statement the server ends a transaction. The process that began it has
/// stopped, and others wait for it.
const IDLE_IN_TRANSACTION: &str = "10000";

/// An open PostgreSQL database, with its pools of connections.
#[derive(Clone, Debug)]
pub struct PgStore {
    writer: DbPool,
    readers: DbPool,
    pages: DbPool,
    /// For single statements that do not wait for the writers of all processes, such as those of leases.
    apart: DbPool,
    patience: Duration,
    metrics: Arc<StoreMetrics>,
}

impl PgStore {
    /// Does what [`open_at`](super::open_at) does, with PostgreSQL.
    ///
    /// # Errors
    /// Those of [`open_at`](super::open_at).
    pub async fn open(
        url: &PostgresUrl,
        create: bool,
        patience: Duration,
    ) -> Result<Self, StoreError> {
        let patience = patience.max(LEAST_PATIENCE);
        let fail = |error| StoreError::new(url, error);
        let pool = |connections, patience| {
            PgPoolOptions::new()
                .max_connections(connections)
                .acquire_timeout(patience)
        };
        let first = pool(1, patience).connect_with(options(url, MIGRATION_PATIENCE));
        let first = first.await.map_err(fail)?;
        let mut connection = first.acquire().await.map_err(fail)?;
        let fits = check(url, &mut connection, create).await;
        fits.map_err(|error| StoreError::at(url, error))?;
        drop(connection);
        let migrated = MIGRATIONS.run(&first).await;
        migrated.map_err(|error| StoreError::migrating(url, error))?;
        first.close().await;
        let options = options(url, patience);
        let read_only = options
            .clone()
            .options([("default_transaction_read_only", "on")]);
        Ok(Self {
            writer: pool(1, patience).connect_lazy_with(options.clone()),
            apart: pool(APART, patience).connect_lazy_with(options),
            readers: pool(READERS, patience).connect_lazy_with(read_only.clone()),
            pages: pool(PAGES, PAGE_PATIENCE).connect_lazy_with(read_only),
            patience,
            metrics: Arc::default(),
        })
    }

    /// Begins a write, which waits for the writers of all processes.
    async fn begin(&self) -> Result<PgWrite, StoreError> {
        PgWrite::begin(&self.writer, self.patience, &self.metrics).await
    }

    /// Commits a write, and wakes the tasks of all processes that wait for [`Store::changes`].
    async fn commit(&self, mut tx: PgWrite) -> Result<(), StoreError> {
        changes::announce(&mut tx).await?;
        tx.commit().await
    }
}

#[async_trait]
impl Store for PgStore {
    async fn changes(&self) -> Result<Box<dyn Changes>, StoreError> {
        Ok(Box::new(
            changes::Announcements::new(&self.readers, changes::CHANNEL).await?,
        ))
    }

    fn is_in_place(&self) -> bool {
        true
    }

    fn post(&self) -> Option<&dyn Post> {
        Some(self)
    }

    fn metrics(&self) -> Option<&StoreMetrics> {
        Some(&self.metrics)
    }

    async fn close(&self) {
        self.pages.close().await;
        self.readers.close().await;
        self.apart.close().await;
        self.writer.close().await;
    }
}

/// Begins to read: all queries see the database as it is at the first of them.
async fn snapshot(pool: &DbPool) -> Result<Transaction<'static, Db>, StoreError> {
    let pool = pool.clone();
    let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
    // A task of its own, which is not dropped before it is done. Otherwise a connection could return to the
    // pool with an open transaction, and show old data to the next reader.
    match tokio::spawn(async move { pool.begin_with(begin).await }).await {
        Ok(begun) => Ok(begun?),
        Err(_) => Err(sqlx::Error::WorkerCrashed.into()),
    }
}

/// The options of every connection.
fn options(url: &PostgresUrl, patience: Duration) -> PgConnectOptions {
    let lock_timeout = patience.as_millis().to_string();
    let settings = [
        ("lock_timeout", &*lock_timeout),
        ("idle_in_transaction_session_timeout", IDLE_IN_TRANSACTION),
        // The server notices within half a minute that this machine no longer answers.
        ("tcp_keepalives_idle", "10"),
        ("tcp_keepalives_interval", "5"),
        ("tcp_keepalives_count", "4"),
        ("timezone", "UTC"),
    ];
    url.options().clone().options(settings)
}

/// Refuses a server or a database that cannot be used; with `create`, an empty one can.
async fn check(
    url: &PostgresUrl,
    connection: &mut DbConnection,
    create: bool,
) -> Result<(), StoreError> {
    let unsuitable = |why: String| StoreError::Unsuitable {
        place: url.to_string(),
        why,
    };
    let query = sqlx::query_as(
        "SELECT current_setting('server_version_num'), current_setting('server_encoding')",
    );
    let (version, encoding): (String, String) = query.fetch_one(&mut *connection).await?;
    let version = version.parse::<i32>().unwrap_or(0) / 10_000;
    if version < OLDEST {
        let why = format!("the server is PostgreSQL {version}, not {OLDEST} or newer");
        return Err(unsuitable(why));
    }
    if encoding != "UTF8" {
        return Err(unsuitable(format!("its encoding is {encoding}, not UTF8")));
    }
    // The migrator makes its own table before it makes ours.
    let query = sqlx::query_as(
        "SELECT count(*) FILTER (WHERE relname = 'player_changes') > 0,
                count(*) FILTER (WHERE relname <> '_sqlx_migrations') > 0
         FROM pg_class WHERE relkind IN ('r', 'p', 'v', 'm', 'f')
           AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())",
    );
    let (ours, any): (bool, bool) = query.fetch_one(connection).await?;
    let place = url.to_string();
    match (ours, any) {
        (true, _) => Ok(()),
        (false, true) => Err(StoreError::Foreign { place }),
        (false, false) if create => Ok(()),
        (false, false) => Err(StoreError::Missing { place }),
    }
}
