//! The only room that knows SQL: match records in and out of SQLite, and the tables derived from them.
//!
//! Ground truth is written one match a transaction and never changed. The derived tables are
//! replaced by whoever folds the matches; this room does not know how that is done. What a database
//! says is kept in the error for the log and never meant for a peer. Entry point: [`Store::open`].

mod derived;
mod error;
mod ground;

use std::{path::Path, time::Duration};

use sqlx::{
    Connection, SqliteConnection, SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};

pub use derived::{Derived, DerivedFrom, Performance, RulingRow, WeightRow};
pub use error::StoreError;
pub use ground::{Cursor, Recorded};

static MIGRATIONS: sqlx::migrate::Migrator = sqlx::migrate!();

/// "EVKL", in the database's header, so that somebody else's database is never migrated.
const APPLICATION_ID: i64 = 0x4556_4b4c;

/// An open database.
#[derive(Clone, Debug)]
pub struct Store {
    /// SQLite has one writer at a time; here it is one connection.
    writer: SqlitePool,
    /// Readers see the last commit and never wait for the writer.
    readers: SqlitePool,
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
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(create)
            .foreign_keys(true)
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
        MIGRATIONS
            .run(&writer)
            .await
            .map_err(|error| StoreError::migrating(path, error))?;
        let readers = pool(2).connect_with(options).await.map_err(fail)?;
        Ok(Self { writer, readers })
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

/// A database with tables that isn't ours is left alone.
async fn refuse_foreign(path: &Path, connection: &mut SqliteConnection) -> Result<(), StoreError> {
    let fail = |error| StoreError::new(path, error);
    let id: i64 = sqlx::query_scalar("PRAGMA application_id")
        .fetch_one(&mut *connection)
        .await
        .map_err(fail)?;
    let tables: i64 = sqlx::query_scalar("SELECT count(*) FROM sqlite_schema")
        .fetch_one(&mut *connection)
        .await
        .map_err(fail)?;
    match id {
        APPLICATION_ID => Ok(()),
        0 if tables == 0 => {
            sqlx::query("PRAGMA application_id = 0x45564b4c")
                .execute(connection)
                .await
                .map_err(fail)?;
            Ok(())
        }
        _ => Err(StoreError::Foreign {
            path: path.to_owned(),
        }),
    }
}
