//! SQLite: one file, one writer, readers that never wait for it.
//!
//! Every write is one transaction on the only writing connection; a connection on which a write failed is replaced.
//! Readers see the last commit. Other processes may share the file (an `ingest` beside the daemon):
//! `PRAGMA data_version` shows that they have written. A counter shows the commits of this process.
//!
//! All leases of a database are held by one process, which has locked a file beside it. The operating system gives
//! the lock back when the process ends, however it ends: the next one need not wait for the time of a lease, and
//! nothing has to be renewed. The epoch in the table is checked all the same.
//!
//! Before SQLite opens a file, this module looks at it, and names the fault that SQLite cannot tell.

mod maintenance;
#[cfg(test)]
mod plans;

pub use maintenance::{Forgotten, SqliteFile};

use std::{
    collections::BTreeMap,
    fs::{self, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Weak},
    time::Duration,
};

use async_trait::async_trait;
use file_id::{FileId, get_file_id};
use parking_lot::Mutex;
use sqlx::{
    Connection as _, Sqlite, SqliteConnection, SqlitePool,
    migrate::MigrateError,
    pool::PoolConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use tokio::{
    sync::watch,
    time::{Instant, sleep, timeout},
};

use self::File as Database;
use super::{
    Backend, Changes, FIRST_MIGRATION, Lease, Store, StoreError, StoreMetrics,
    db::{ConnectionPool, PooledConnection, Write, moved_to, scalar},
    refuse_older,
    schema::SQLITE,
};

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
    locks: Locks,
    /// The file that was opened.
    id: Option<FileId>,
    /// Counts the commits of this process.
    commits: watch::Sender<u64>,
}

/// Does what [`open`](super::open) does.
pub(super) async fn open(path: &Path, create: bool, busy: Duration) -> Result<Store, StoreError> {
    match create {
        true => refuse_read_only(path)?,
        false => refuse_missing(path)?,
    }
    look_at(path, create)?;
    let deadline = Instant::now() + busy;
    loop {
        match try_open(path, create, busy).await {
            // Switching to WAL mode needs an exclusive lock, for which SQLite itself does not
            // wait.
            Err(error) if error.is_locked() && Instant::now() < deadline => sleep(RETRY).await,
            done => return done.map_err(|error| explain(path, error)),
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
    let fail = |error| cannot_open(path, error);
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
        locks: Locks::default(),
        id: get_file_id(path).ok(),
        commits: watch::Sender::new(0),
    };
    let pools = [writer, readers, pages].map(ConnectionPool::Sqlite);
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
    pub async fn complete(&self, writer: &ConnectionPool) {
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
        Ok(Box::new(Commits::new(connection, commits)))
    }

    /// Begins a write: waits until no other connection or process writes.
    pub async fn begin(
        &self,
        writer: &ConnectionPool,
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
    let fail = |error| cannot_open(path, error);
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

/// Looks whether the file has lost its content. A file without bytes is a new database for SQLite.
///
/// Only who may `create` a database begins a new one in it. An operator must not find out from empty tables that a file was cut off. But a container or a script may create
/// the file before the first start, so that this alone is no error: only a file beside it, which daemons leave there,
/// shows that it was a database.
///
/// # Errors
/// It has no bytes, and was a database or must be one.
fn look_at(path: &Path, create: bool) -> Result<(), StoreError> {
    let is_empty = fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() == 0);
    if !is_empty {
        return Ok(());
    }
    let beside = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        Path::new(&name).display().to_string()
    };
    let left = ["-wal", SUFFIX].map(beside);
    match left.into_iter().find(|name| Path::new(name).exists()) {
        Some(beside) => Err(StoreError::Emptied {
            place: path.display().to_string(),
            beside,
        }),
        None if !create => Err(StoreError::Missing {
            place: path.display().to_string(),
        }),
        None => {
            let path = path.display();
            tracing::warn!(%path, "the database file has 0 bytes: a new database begins in it. If it had matches, stop, and restore a backup");
            Ok(())
        }
    }
}

/// Refuses a disk that may not be written. Where a daemon was cut off, its write-ahead log lies beside the file, and SQLite
/// opens the two for reading alone, without an error.
fn refuse_read_only(path: &Path) -> Result<(), StoreError> {
    match is_read_only(path) {
        true => Err(StoreError::at(&path.display(), StoreError::ReadOnlyDisk)),
        false => Ok(()),
    }
}

/// The error with the path of the database, and with its cause if the disk is read-only.
fn cannot_open(path: &Path, error: sqlx::Error) -> StoreError {
    let error = match StoreError::from(error) {
        StoreError::CannotOpen(_) | StoreError::ReadOnly(_) if is_read_only(path) => {
            StoreError::ReadOnlyDisk
        }
        error => error,
    };
    StoreError::at(&path.display(), error)
}

/// Whether the file, or the folder in which it would be created, is on a disk that may not be written.
#[cfg(unix)]
fn is_read_only(path: &Path) -> bool {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let found = rustix::fs::statvfs(path).or_else(|_| rustix::fs::statvfs(folder));
    found.is_ok_and(|found| found.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY))
}

/// Here, the file system does not say so.
#[cfg(not(unix))]
fn is_read_only(_: &Path) -> bool {
    false
}

/// Fails if there is no file, or if this process may not look at it.
fn refuse_missing(path: &Path) -> Result<(), StoreError> {
    match path.try_exists() {
        Ok(true) => Ok(()),
        Ok(false) => Err(StoreError::Missing {
            place: path.display().to_string(),
        }),
        Err(error) => {
            let why = why(path).unwrap_or_else(|| error.to_string());
            Err(StoreError::at(&path.display(), StoreError::Denied(why)))
        }
    }
}

/// Makes the error of a file that cannot be opened say why, if the file system knows it.
fn explain(path: &Path, error: StoreError) -> StoreError {
    if !matches!(error.bare(), StoreError::CannotOpen(_)) {
        return error;
    }
    match why(path) {
        Some(why) => StoreError::at(&path.display(), StoreError::Denied(why)),
        None if is_read_only(path) => StoreError::at(&path.display(), StoreError::ReadOnlyDisk),
        None => error,
    }
}

/// What keeps this process from opening the file.
fn why(path: &Path) -> Option<String> {
    if path.is_dir() {
        return Some("it is a folder, not a file".to_owned());
    }
    match fs::File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Some(format!("permission denied{}", owner_of(path)))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let folder = path.parent().filter(|one| !one.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new("."));
            let shown = folder.display();
            match folder.try_exists() {
                Ok(false) => Some(format!("the folder {shown} does not exist")),
                _ => Some(format!(
                    "no file can be made in the folder {shown}{}",
                    owner_of(folder)
                )),
            }
        }
        _ => None,
    }
}

/// Whose a file is, or the innermost folder above it that can be looked at.
#[cfg(unix)]
fn owner_of(path: &Path) -> String {
    use std::os::unix::fs::MetadataExt;

    let mut seen = path.ancestors().filter(|one| !one.as_os_str().is_empty());
    let found = seen.find_map(|one| Some((one, one.metadata().ok()?.uid())));
    let Some((one, uid)) = found else {
        return String::new();
    };
    let what = match one == path {
        true => "it".to_owned(),
        false => one.display().to_string(),
    };
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then_some(name)
    });
    match name {
        Some(name) => format!("; {what} belongs to the user {name}"),
        None => format!("; {what} belongs to the user with the number {uid}"),
    }
}

#[cfg(not(unix))]
fn owner_of(_path: &Path) -> String {
    String::new()
}

/// What the name of the locked file ends with, after that of the database.
const SUFFIX: &str = "-lease";

/// What keeps others from taking a lease, in this process and in others.
#[derive(Debug)]
pub(super) struct Held {
    _file: Arc<Locked>,
}

/// The locked file.
#[derive(Debug)]
struct Locked(std::fs::File);

impl Drop for Locked {
    /// To close the file is not enough: a program that this process is just starting has the file open, too.
    fn drop(&mut self) {
        if let Err(error) = self.0.unlock() {
            tracing::warn!(%error, "the lock of the leases is given back only when its file is closed");
        }
    }
}

/// The leases that this process holds.
#[derive(Debug, Default)]
struct Locks(Mutex<Own>);

#[derive(Debug, Default)]
struct Own {
    file: Weak<Locked>,
    names: BTreeMap<String, Weak<Held>>,
}

impl Locks {
    /// Takes a lease, and holds it until the returned value is dropped. `None` if this process or another one
    /// holds it already.
    fn take(&self, database: &Path, name: &str) -> io::Result<Option<Arc<Held>>> {
        let mut own = self.0.lock();
        if own
            .names
            .get(name)
            .is_some_and(|one| one.strong_count() > 0)
        {
            return Ok(None);
        }
        let locked = match own.file.upgrade() {
            Some(locked) => locked,
            None => match lock(database)? {
                Some(locked) => Arc::new(locked),
                None => return Ok(None),
            },
        };
        own.file = Arc::downgrade(&locked);
        let taken = Arc::new(Held { _file: locked });
        own.names.insert(name.to_owned(), Arc::downgrade(&taken));
        Ok(Some(taken))
    }
}

/// Locks the file beside the database; `None` if another process has locked it.
fn lock(database: &Path) -> io::Result<Option<Locked>> {
    let mut path = database.as_os_str().to_owned();
    path.push(SUFFIX);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let file = options.open(PathBuf::from(path))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Locked(file))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

impl Database {
    /// Locks a lease, until the returned value is dropped. `None` if this process or another one holds it already.
    pub fn lock_lease(&self, name: &str) -> Result<Option<Arc<Held>>, StoreError> {
        let held = self.locks.take(&self.path, name);
        Ok(held.map_err(sqlx::Error::Io)?)
    }
}

/// Notes the holder of a lease that this process has locked.
pub(super) async fn take_lease(
    tx: &mut PooledConnection,
    name: &str,
    holder: &str,
    lock: Arc<Held>,
) -> Result<Lease, StoreError> {
    let query = scalar(
        "INSERT INTO leases (name, holder, epoch) VALUES ($1, $2, 1)
         ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, epoch = leases.epoch + 1
         RETURNING epoch",
    );
    Ok(Lease {
        name: name.to_owned(),
        epoch: query.bind(name).bind(holder).fetch_one(tx).await?,
        lasts: None,
        _lock: Some(lock),
    })
}

/// How often the file is polled for commits of other processes.
const POLL: Duration = Duration::from_millis(250);

/// The stream of commits of an SQLite database; see [`Changes`].
struct Commits {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_system_knows_why() {
        let folder = tempfile::TempDir::new().unwrap();
        assert!(why(folder.path()).unwrap().contains("is a folder"));
        let missing = folder.path().join("none/evenkeel.db");
        assert!(why(&missing).unwrap().ends_with("none does not exist"));
        let file = folder.path().join("evenkeel.db");
        fs::write(&file, "").unwrap();
        assert_eq!(why(&file), None);
    }
}
