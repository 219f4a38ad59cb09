//! The only room that knows SQL: match records in and out of SQLite, and the tables derived from them.
//!
//! Ground truth is written one match a transaction and never changed. The derived tables are
//! replaced by whoever folds the matches; this room does not know how that is done. What a database
//! says is kept in the error for the log and never meant for a peer. Entry point: [`Store::open`].

mod decisions;
mod derived;
mod error;
mod ground;
mod halves;
mod logs;
mod players;

use std::{
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::Duration,
};

use sqlx::{
    Connection, SqliteConnection, SqlitePool,
    migrate::MigrateError,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

use tokio::time::{Instant, sleep};

pub use decisions::{DecisionRow, Note};
pub use derived::{Derived, DerivedFrom, Performance, RulingRow, WeightRow};
pub use error::StoreError;
pub use ground::{Cursor, Recorded, Stored};
pub use halves::Half;
pub use logs::{Log, Replaced};
pub use players::{NameSeen, Said};

static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!();

/// "EVKL", in the database's header, so that somebody else's database is never migrated.
const APPLICATION_ID: i64 = 0x4556_4b4c;

/// How soon a locked database is tried again.
const RETRY: Duration = Duration::from_millis(10);

/// An open database.
#[derive(Clone, Debug)]
pub struct Store {
    /// SQLite has one writer at a time; here it is one connection.
    writer: SqlitePool,
    /// Readers see the last commit and never wait for the writer.
    readers: SqlitePool,
    path: PathBuf,
    /// Which file that was when it was opened.
    file: Option<u64>,
}

impl Store {
    /// Opens the database at `path`, creating it if it may, and migrating it as needed. A locked one
    /// is waited for, now and later, as long as `busy`.
    ///
    /// # Errors
    /// Missing, locked, corrupt, read-only, of a newer version, of another program, or not to be
    /// opened at all.
    pub async fn open(path: &Path, create: bool, busy: Duration) -> Result<Self, StoreError> {
        if !create && !path.exists() {
            return Err(StoreError::Missing {
                path: path.to_owned(),
            });
        }
        let patience = Instant::now() + busy;
        loop {
            match Self::try_open(path, create, busy).await {
                // Becoming a WAL database needs it alone, and SQLite does not wait for that itself.
                Err(error) if error.is_locked() && Instant::now() < patience => sleep(RETRY).await,
                done => return done,
            }
        }
    }

    async fn try_open(path: &Path, create: bool, busy: Duration) -> Result<Self, StoreError> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(create)
            .foreign_keys(true)
            // Who is forgotten leaves nothing in free pages of the file.
            .pragma("secure_delete", "ON")
            .busy_timeout(busy);
        let fail = |error| StoreError::new(path, error);
        let mut first = SqliteConnection::connect_with(&options)
            .await
            .map_err(fail)?;
        refuse_foreign(path, &mut first).await?;
        first.close().await.map_err(fail)?;
        // Only now that the file is known to be ours does it become a WAL database.
        let options = options
            .journal_mode(SqliteJournalMode::Wal)
            // A match that was acknowledged survives a power cut, too.
            .synchronous(SqliteSynchronous::Full);
        let pool = |connections| SqlitePoolOptions::new().max_connections(connections);
        let writer = pool(1).connect_with(options.clone()).await.map_err(fail)?;
        migrate(path, &writer).await?;
        if create {
            // Who wants to write learns now, and not at the first match, that it cannot be.
            let trial = writer.begin_with("BEGIN IMMEDIATE").await.map_err(fail)?;
            trial.rollback().await.map_err(fail)?;
        }
        // One of them is the watcher's.
        let readers = pool(3).connect_with(options).await.map_err(fail)?;
        Ok(Self {
            writer,
            readers,
            path: path.to_owned(),
            file: file_id(path),
        })
    }

    /// A number that changes whenever somebody else has changed the database; only comparable
    /// between calls on one [`Watcher`].
    ///
    /// # Errors
    /// The database's.
    pub async fn watcher(&self) -> Result<Watcher, StoreError> {
        let connection = self.readers.acquire().await?;
        Ok(Watcher { connection })
    }

    /// Whether the file that is open is still the one at its path. If not, somebody has removed or
    /// replaced it, and whatever is written now is lost.
    pub fn is_in_place(&self) -> bool {
        file_id(&self.path) == self.file
    }

    /// Waits for what is under way and closes the database.
    pub async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}

/// Notices commits of other connections and processes.
#[derive(Debug)]
pub struct Watcher {
    connection: sqlx::pool::PoolConnection<sqlx::Sqlite>,
}

impl Watcher {
    /// SQLite's `data_version`: it changes with every commit of another connection.
    ///
    /// # Errors
    /// The database's.
    pub async fn version(&mut self) -> Result<i64, StoreError> {
        let query = sqlx::query_scalar("PRAGMA data_version");
        Ok(query.fetch_one(&mut *self.connection).await?)
    }
}

/// What tells a file from another of the same name.
fn file_id(path: &Path) -> Option<u64> {
    path.metadata().ok().map(|meta| meta.ino())
}

/// Brings the tables up to date. Two processes that open a new database at once both try; the one
/// that comes second finds the first one's tables, and only has to look again.
async fn migrate(path: &Path, writer: &SqlitePool) -> Result<(), StoreError> {
    let mut tries = 3;
    loop {
        tries -= 1;
        match MIGRATIONS.run(writer).await {
            Err(MigrateError::ExecuteMigration(..)) if tries > 0 => {}
            done => return done.map_err(|error| StoreError::migrating(path, error)),
        }
    }
}

/// A database with tables that isn't ours is left alone; an empty one becomes ours.
async fn refuse_foreign(path: &Path, connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let fail = |error| StoreError::new(path, error);
    if application_id(connection).await.map_err(fail)? == APPLICATION_ID {
        return Ok(());
    }
    // Another process may be making it ours right now: look again, alone.
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
            path: path.to_owned(),
        }),
    }
}

async fn application_id(connection: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    let query = sqlx::query_scalar("PRAGMA application_id");
    query.fetch_one(connection).await
}
