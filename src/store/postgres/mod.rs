//! PostgreSQL: one database for several daemons, with as many readers and writers as it has connections.
//!
//! Only one process writes at a time: each write first takes a lock of the whole database, and keeps it until
//! its end. So a write can read a row and rely on it, as with SQLite, and rows have numbers in the order of
//! their commits. Readers never wait. If a process stops during a transaction, the server ends the transaction,
//! so that others need not wait for it.

mod changes;
mod connection;
mod content;
mod leases;
mod migrations;
mod post;
mod sequences;
mod settings;
/// The queries, compiled for PostgreSQL.
#[path = "../sql/mod.rs"]
#[allow(clippy::duplicate_mod)] // the same files, compiled for another database
mod sql;
mod text;
mod url;
mod write;

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use parking_lot::Mutex;
use sqlx::{
    Connection, PgConnection, PgPool, Postgres as Db,
    postgres::{PgConnectOptions, PgPoolOptions, PgRow as DbRow},
};

use super::{
    Changes, Post, Store, StoreError, StoreMetrics, chunk::ChunkCache, together::GamesTogether,
    written::WrittenWeights,
};
use crate::domain::Timestamp;
use connection::{Acquired, DbConnection, DbPool};
use migrations::MIGRATIONS;
pub use settings::PoolSettings;
use sql::DbWrite;
pub use url::PostgresUrl;

use PgStore as DbStore;

/// The oldest version that Evenkeel is tested with.
const OLDEST: i32 = 15;
/// The longest time that a statistics page waits for a connection.
const PAGE_PATIENCE: Duration = Duration::from_secs(2);
/// The shortest time that a lock is waited for: the writers of other processes take turns.
const LEAST_PATIENCE: Duration = Duration::from_secs(1);
/// How long this process waits while another one migrates the database.
const MIGRATION_PATIENCE: Duration = Duration::from_secs(60);
/// The connections for statements that do not wait for the lock of all writers.
const APART: u32 = 2;
/// How much later than the server this process gives up a statement.
const LATENCY: Duration = Duration::from_secs(5);
/// The most connections that wait for changes.
const LISTENERS: u32 = 4;
/// After how many milliseconds without a statement the server ends a transaction. The process that began it has
/// stopped, and others wait for it.
const IDLE_IN_TRANSACTION: &str = "10000";

/// An open PostgreSQL database, with its pools of connections.
#[derive(Clone, Debug)]
pub struct PgStore {
    writer: DbPool,
    readers: DbPool,
    /// For the statistics pages, so that visitors of pages never keep the daemon from reading.
    pages: DbPool,
    /// For single statements that do not wait for the writers of all processes, such as those of leases.
    apart: DbPool,
    listeners: PgPool,
    /// How long a lock is waited for.
    patience: Duration,
    metrics: Arc<StoreMetrics>,
    /// The weights that this process wrote last.
    weights: Arc<Mutex<Option<WrittenWeights>>>,
    /// The games that end at the same time.
    games: Arc<GamesTogether>,
    /// The chunks of archived matches that this process read last.
    chunks: ChunkCache,
}

impl PgStore {
    /// Does what [`open_at`](super::open_at) does, with PostgreSQL.
    ///
    /// # Errors
    /// Those of [`open_at`](super::open_at).
    pub async fn open(
        url: &PostgresUrl,
        settings: PoolSettings,
        create: bool,
        patience: Duration,
    ) -> Result<Self, StoreError> {
        let patience = patience.max(LEAST_PATIENCE);
        let PoolSettings { connect, .. } = settings;
        migrate(url, create, connect).await?;
        let options =
            options(url, patience).options([millis("statement_timeout", settings.statement)]);
        let read_only = options
            .clone()
            .options([("default_transaction_read_only", "on")]);
        let pool =
            |options, size, wait| DbPool::new(options, size, wait, settings.statement + LATENCY);
        let listeners = PgPoolOptions::new()
            .max_connections(LISTENERS)
            .idle_timeout(None)
            .max_lifetime(None)
            .acquire_timeout(connect);
        Ok(Self {
            writer: pool(options.clone(), 1, connect),
            apart: pool(options, APART, connect),
            readers: pool(read_only.clone(), settings.readers, connect),
            pages: pool(
                read_only.clone(),
                settings.pages,
                connect.min(PAGE_PATIENCE),
            ),
            listeners: listeners.connect_lazy_with(read_only),
            patience,
            metrics: Arc::default(),
            weights: Arc::default(),
            games: Arc::default(),
            chunks: ChunkCache::default(),
        })
    }

    /// Begins a write, which waits for the writers of all processes.
    async fn begin(&self) -> Result<DbWrite, StoreError> {
        write::begin(&self.writer, self.patience, &self.metrics).await
    }

    /// Commits a write, and wakes the tasks of all processes that wait for [`Store::changes`].
    async fn commit(&self, mut tx: DbWrite) -> Result<(), StoreError> {
        changes::announce(&mut tx).await?;
        tx.commit().await
    }
}

#[async_trait]
impl Store for PgStore {
    async fn changes(&self) -> Result<Box<dyn Changes>, StoreError> {
        Ok(Box::new(
            changes::Announcements::new(&self.listeners, changes::CHANNEL).await?,
        ))
    }

    async fn clock(&self) -> Result<Option<Timestamp>, StoreError> {
        let now = sqlx::query_scalar("SELECT now_millis()");
        let now: i64 = now.fetch_one(&self.apart).await?;
        Ok(Some(Timestamp(now)))
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
        self.listeners.close().await;
        self.pages.close().await;
        self.readers.close().await;
        self.apart.close().await;
        self.writer.close().await;
    }
}

/// Begins to read: all queries see the database as it is at the first of them.
async fn snapshot(pool: &DbPool) -> Result<Acquired, StoreError> {
    Ok(pool
        .begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        .await?)
}

/// Checks that the database can be used, and brings its tables up to date.
async fn migrate(url: &PostgresUrl, create: bool, connect: Duration) -> Result<(), StoreError> {
    let options = options(url, MIGRATION_PATIENCE);
    let connected = connection::connect(&options, connect).await;
    let mut connection = connected.map_err(|error| StoreError::new(url, error))?;
    let fits = check(url, &mut connection, create).await;
    fits.map_err(|error| StoreError::at(url, error))?;
    // The server ends it in any case.
    let _ = connection.close().await;
    let pool = PgPoolOptions::new()
        .max_connections(1)
        .idle_timeout(None)
        .max_lifetime(None)
        .acquire_timeout(connect);
    let pool = pool.connect_lazy_with(options);
    let migrated = MIGRATIONS.run(&pool).await;
    migrated.map_err(|error| StoreError::migrating(url, &MIGRATIONS, error))?;
    pool.close().await;
    Ok(())
}

/// The options of every connection.
fn options(url: &PostgresUrl, patience: Duration) -> PgConnectOptions {
    let settings = [
        ("idle_in_transaction_session_timeout", IDLE_IN_TRANSACTION),
        // The server notices within half a minute that this machine no longer answers.
        ("tcp_keepalives_idle", "10"),
        ("tcp_keepalives_interval", "5"),
        ("tcp_keepalives_count", "4"),
        ("timezone", "UTC"),
    ];
    let options = url.options().clone().options(settings);
    options.options([millis("lock_timeout", patience)])
}

/// A setting of the server that is a time.
fn millis(name: &'static str, time: Duration) -> (&'static str, String) {
    (name, time.as_millis().to_string())
}

/// Refuses a server or a database that cannot be used; with `create`, an empty one can.
async fn check(
    url: &PostgresUrl,
    connection: &mut PgConnection,
    create: bool,
) -> Result<(), StoreError> {
    let unsuitable = |why: String| StoreError::Unsuitable {
        place: url.to_string(),
        why,
    };
    let query = sqlx::query_as(
        "SELECT current_setting('server_version_num'), current_setting('server_encoding'), pg_is_in_recovery()",
    );
    let (version, encoding, only_reads): (String, String, bool) =
        query.fetch_one(&mut *connection).await?;
    let version = version.parse::<i32>().unwrap_or(0) / 10_000;
    if version < OLDEST {
        let why = format!("the server is PostgreSQL {version}, not {OLDEST} or newer");
        return Err(unsuitable(why));
    }
    if encoding != "UTF8" {
        return Err(unsuitable(format!("its encoding is {encoding}, not UTF8")));
    }
    if only_reads {
        return Err(StoreError::Recovering);
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
        (false, false) => Err(StoreError::Empty { place }),
    }
}
