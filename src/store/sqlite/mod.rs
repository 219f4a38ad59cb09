//! SQLite: one file, one writer, readers that never wait for it.
//!
//! Every write is one transaction on the only writing connection; a connection on which a write
//! failed is replaced. Readers see the last commit. Other processes may share the file (an `ingest`
//! beside the daemon): `PRAGMA data_version` shows that they have written.

mod changes;
mod denied;
mod file;
mod leases;
mod maintenance;
#[cfg(test)]
mod plans;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use file_id::{FileId, get_file_id};
use sqlx::{
    Connection as _, SqliteConnection, SqlitePool,
    migrate::MigrateError,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

use super::{
    Backend, Changes, FIRST_MIGRATION, Store, StoreError, StoreMetrics,
    db::{Pool, Write, moved_to},
    refuse_older,
    schema::SQLITE,
};
pub(super) use leases::{Held, take_lease};
pub use maintenance::{Forgotten, SqliteFile};

/// "EVKL", in the header of the file, so that another program's database is never migrated.
const APPLICATION_ID: i64 = 0x4556_4b4c;
/// How long a statistics page waits for a connection.
const PAGE_PATIENCE: Duration = Duration::from_secs(2);
/// How many rows a query of a page, or of the connection that writes, may be ahead of its reader: so that the two take turns
/// less often.
const PAGE_ROWS: usize = 1_024;
/// How much of the database the connection that writes keeps in memory at most, in KiB with a minus sign: matches of many
/// players change parts of indexes that lie far apart.
const WRITER_CACHE: &str = "-32768";
/// How many pages of 4 KiB are written beside the database before they are copied to it: a page that each match changes
/// is copied once.
const WAL_PAGES: &str = "4000";
/// How much of the database each connection for pages keeps in memory, in KiB with a minus sign: a page reads the same parts
/// with several queries.
const PAGE_CACHE: &str = "-8192";
/// The most statements that a connection keeps prepared: a group of games has up to seven for each of its tables.
const STATEMENTS: usize = 256;
/// The delay before a locked database is tried again.
const RETRY: Duration = Duration::from_millis(10);

/// What a [`Store`] needs of an SQLite file besides its connections.
#[derive(Debug)]
pub(super) struct File {
    path: PathBuf,
    /// A connection for [`Store::changes`], and others that only read.
    readers: SqlitePool,
    /// The leases that this process holds.
    locks: leases::Locks,
    /// The file that was opened.
    id: Option<FileId>,
    /// Counts the commits of this process.
    commits: watch::Sender<u64>,
}

/// Does what [`open`](super::open) does.
pub(super) async fn open(path: &Path, create: bool, busy: Duration) -> Result<Store, StoreError> {
    match create {
        true => file::refuse_read_only(path)?,
        false => denied::refuse_missing(path)?,
    }
    file::look_at(path, create)?;
    let deadline = Instant::now() + busy;
    loop {
        match try_open(path, create, busy).await {
            // Switching to WAL mode needs an exclusive lock, for which SQLite itself does not
            // wait.
            Err(error) if error.is_locked() && Instant::now() < deadline => sleep(RETRY).await,
            done => return done.map_err(|error| denied::explain(path, error)),
        }
    }
}

async fn try_open(path: &Path, create: bool, busy: Duration) -> Result<Store, StoreError> {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(create)
        .foreign_keys(true)
        // Overwrites deleted data, so that a forgotten player does not remain in free pages of
        // the file.
        .pragma("secure_delete", "ON")
        .statement_cache_capacity(STATEMENTS)
        .busy_timeout(busy);
    let fail = |error| file::cannot_open(path, error);
    let mut first = SqliteConnection::connect_with(&options)
        .await
        .map_err(fail)?;
    refuse_foreign(path, &mut first).await?;
    first.close().await.map_err(fail)?;
    // Switch to WAL mode only now that the file is known to be Evenkeel's.
    let options = options
        .journal_mode(SqliteJournalMode::Wal)
        // Sync at each commit, so that a match whose END was answered survives a power cut.
        .synchronous(SqliteSynchronous::Full);
    // A pool with one of these time limits has a task that may never end: it counts idle connections, and the
    // count wraps while one is taken that is just being given back.
    let pool = |connections| {
        let pool = SqlitePoolOptions::new().max_connections(connections);
        pool.idle_timeout(None).max_lifetime(None)
    };
    let writing = options
        .clone()
        .pragma("cache_size", WRITER_CACHE)
        .pragma("wal_autocheckpoint", WAL_PAGES)
        .row_buffer_size(PAGE_ROWS);
    let writer = pool(1).connect_with(writing).await.map_err(fail)?;
    migrate(path, &writer).await?;
    if create {
        // Report a database that cannot be written now, not at the first match. Beginning alone does not show it: where
        // nothing may be written, `BEGIN IMMEDIATE` only reads.
        let mut trial = writer.begin_with("BEGIN IMMEDIATE").await.map_err(fail)?;
        let nothing = sqlx::query("DELETE FROM matches WHERE FALSE");
        nothing.execute(&mut *trial).await.map_err(fail)?;
        trial.rollback().await.map_err(fail)?;
    }
    // One of the three connections is for `changes`.
    let readers = pool(3).connect_with(options.clone()).await.map_err(fail)?;
    let pages = pool(2).acquire_timeout(PAGE_PATIENCE).connect_lazy_with(
        options
            .pragma("query_only", "ON")
            .pragma("cache_size", PAGE_CACHE)
            .row_buffer_size(PAGE_ROWS),
    );
    let file = File {
        path: path.to_owned(),
        readers: readers.clone(),
        locks: leases::Locks::default(),
        id: get_file_id(path).ok(),
        commits: watch::Sender::new(0),
    };
    let pools = [writer, readers, pages].map(Pool::Sqlite);
    Ok(Store::new(Backend::Sqlite(file), pools))
}

impl File {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the path still leads to the file that was opened.
    pub fn is_in_place(&self) -> bool {
        get_file_id(&self.path).ok() == self.id
    }

    /// Copies what was committed from the write-ahead log to the file, as far as nobody reads what was before it: the last
    /// connection does so when it is closed, but one that was just being opened may end with the process.
    pub async fn complete(&self, writer: &Pool) {
        let Ok(mut connection) = writer.acquire().await else {
            return; // it is closed already
        };
        let copied = connection.execute_text("PRAGMA wal_checkpoint(PASSIVE)");
        if let Err(error) = copied.await {
            tracing::warn!(%error, "the write-ahead log is not copied to the database");
        }
    }

    /// A stream of the commits to this file.
    pub async fn changes(&self) -> Result<Box<dyn Changes>, StoreError> {
        let connection = self.readers.acquire().await?;
        let commits = self.commits.subscribe();
        Ok(Box::new(changes::Commits::new(connection, commits)))
    }

    /// Begins a write: waits until no other connection or process writes.
    pub async fn begin(
        &self,
        writer: &Pool,
        metrics: &Arc<StoreMetrics>,
    ) -> Result<Write, StoreError> {
        if !self.is_in_place() {
            return Err(StoreError::Removed); // nobody would find what is written
        }
        let began = Instant::now();
        let mut write = Write::new(writer.acquire().await?, began, metrics);
        let begin = concat!("BEGIN IMMEDIATE; ", moved_to!());
        match write.begin(begin, &self.path.display()).await {
            Ok(()) => Ok(write),
            Err(error) => {
                if error.is_locked() {
                    write.has_not_begun(); // the lock was not free in time
                }
                Err(error)
            }
        }
    }

    /// Commits a write, and wakes the tasks that wait for changes.
    pub async fn commit(&self, tx: Write) -> Result<(), StoreError> {
        tx.commit().await?;
        self.commits.send_modify(|commits| *commits += 1);
        Ok(())
    }
}

/// Brings the tables up to date. If two processes do so at once, one of them finds that the other
/// has just made the change that it was about to make. It then tries again, at most once per
/// migration.
async fn migrate(path: &Path, writer: &SqlitePool) -> Result<(), StoreError> {
    let first = sqlx::query_scalar(FIRST_MIGRATION).fetch_optional(writer);
    refuse_older(&path.display(), &SQLITE, first.await.ok().flatten())?;
    let mut tries = 1 + SQLITE.iter().count();
    loop {
        tries -= 1;
        match SQLITE.run(writer).await {
            // Another process has run the same one meanwhile.
            Err(MigrateError::ExecuteMigration(..) | MigrateError::Execute(_)) if tries > 0 => {}
            done => {
                let fail = |error| StoreError::migrating(&path.display(), &SQLITE, error);
                return done.map_err(fail);
            }
        }
    }
}

/// Marks an empty database as Evenkeel's, and refuses one with tables that is not.
async fn refuse_foreign(path: &Path, connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let fail = |error| file::cannot_open(path, error);
    if application_id(connection).await.map_err(fail)? == APPLICATION_ID {
        return Ok(());
    }
    // Another process may be marking it right now: look again, under the lock.
    let mut tx = connection
        .begin_with("BEGIN IMMEDIATE")
        .await
        .map_err(fail)?;
    let id = application_id(&mut tx).await.map_err(fail)?;
    let tables: i64 = sqlx::query_scalar("SELECT count(*) FROM sqlite_schema")
        .fetch_one(&mut *tx)
        .await
        .map_err(fail)?;
    match (id, tables) {
        (APPLICATION_ID, _) => Ok(()),
        (0, 0) => {
            sqlx::query("PRAGMA application_id = 0x45564b4c")
                .execute(&mut *tx)
                .await
                .map_err(fail)?;
            tx.commit().await.map_err(fail)
        }
        _ => Err(StoreError::Foreign {
            place: path.display().to_string(),
        }),
    }
}

async fn application_id(connection: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    let query = sqlx::query_scalar("PRAGMA application_id");
    query.fetch_one(connection).await
}
