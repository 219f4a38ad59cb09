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

mod files;
mod maintenance;
#[cfg(test)]
mod tests;

pub(super) use files::{Watch, beside};
pub use maintenance::{Forgotten, SqliteFile};

use std::{
    collections::BTreeMap,
    fs::{self, OpenOptions, TryLockError},
    io::{self, Write as _},
    mem,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock, Weak},
    time::Duration,
};

use async_trait::async_trait;
use parking_lot::Mutex;
use sqlx::{
    Connection as _, Sqlite, SqliteConnection, SqlitePool,
    migrate::MigrateError,
    pool::PoolConnection,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use tokio::{
    sync::{self, watch as channel},
    time::{Instant, sleep, timeout},
};

use crate::{
    files::{FileMode, folder_of, is_full},
    store::{
        Backend, Changes, FIRST_MIGRATION, Lease, Store, StoreError, StoreMetrics,
        db::{ConnectionPool, PooledConnection, Write, moved_to, scalar},
        refuse_older,
        schema::SQLITE,
        sqlite::{File as Database, files::Room},
    },
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
    /// The mode of new files.
    mode: FileMode,
    /// The files that were opened.
    watch: Arc<Watch>,
    /// The room for the index of the write-ahead log; `None` where SQLite takes it itself.
    room: Option<Room>,
    /// A connection that is open as long as the others: its files stay the same ones. `None` once it is closed.
    anchor: sync::Mutex<Option<SqliteConnection>>,
    /// The copy of a database of which a file was taken away.
    rescued: OnceLock<PathBuf>,
    /// Counts the commits of this process.
    commits: channel::Sender<u64>,
}

/// Does what [`open`](super::open) does.
pub(super) async fn open(
    path: &Path,
    create: bool,
    busy: Duration,
    mode: FileMode,
) -> Result<Store, StoreError> {
    match create {
        true => refuse_read_only(path)?,
        false => refuse_missing(path)?,
    }
    look_at(path, create)?;
    if create {
        begin_file(path, mode)?;
    }
    files::look(path).map_err(|error| StoreError::at(&path.display(), error))?;
    let deadline = Instant::now() + busy;
    loop {
        match try_open(path, create, busy, mode).await {
            // Switching to WAL mode needs an exclusive lock, for which SQLite itself does not
            // wait.
            Err(error) if error.is_locked() && Instant::now() < deadline => sleep(RETRY).await,
            done => return done.map_err(|error| explain(path, error)),
        }
    }
}

async fn try_open(
    path: &Path,
    create: bool,
    busy: Duration,
    mode: FileMode,
) -> Result<Store, StoreError> {
    let options = connect_options(path, busy).create_if_missing(create);
    let fail = |error| cannot_open(path, error);
    let mut anchor = SqliteConnection::connect_with(&options)
        .await
        .map_err(fail)?;
    refuse_foreign(path, &mut anchor).await?;
    // Switch to WAL mode only now that the file is known to be Evenkeel's. Reading then opens the files of that mode.
    let wal = sqlx::query("PRAGMA journal_mode = WAL");
    wal.execute(&mut anchor).await.map_err(fail)?;
    application_id(&mut anchor).await.map_err(fail)?;
    let room = Room::take(path).map_err(|error| StoreError::at(&path.display(), error))?;
    let watch = Arc::new(Watch::begin(path));
    let options = options
        // The file is there. If somebody removes it now, a later connection must not make a new one: it would take over the
        // old file's index of the write-ahead log, and whoever reads that index next ends with SIGBUS.
        .create_if_missing(false)
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
        try_to_write(&writer).await.map_err(fail)?;
    }
    // One of the three connections is for `changes`.
    let readers = pool(3).connect_with(options.clone()).await.map_err(fail)?;
    let pages = pool(2).acquire_timeout(PAGE_PATIENCE).connect_lazy_with(
        options
            .pragma("query_only", "ON")
            .pragma("cache_size", PAGE_CACHE)
            .row_buffer_size(PAGE_ROWS),
    );
    let pools =
        [writer, readers.clone(), pages].map(|pool| ConnectionPool::Sqlite(pool, watch.clone()));
    let file = File {
        path: path.to_owned(),
        readers,
        locks: Locks::default(),
        mode,
        watch,
        room,
        anchor: sync::Mutex::new(Some(anchor)),
        rescued: OnceLock::new(),
        commits: channel::Sender::new(0),
    };
    Ok(Store::new(Backend::Sqlite(file), pools))
}

fn connect_options(path: &Path, busy: Duration) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .foreign_keys(true)
        // Overwrites deleted data, so that a forgotten player does not remain in free pages of
        // the file.
        .pragma("secure_delete", "ON")
        .statement_cache_capacity(STATEMENTS)
        .busy_timeout(busy)
}

/// Reports a database that cannot be written now, not at the first match. Beginning alone does not show it: where nothing
/// may be written, `BEGIN IMMEDIATE` only reads.
async fn try_to_write(writer: &SqlitePool) -> Result<(), sqlx::Error> {
    let mut trial = writer.begin_with("BEGIN IMMEDIATE").await?;
    let nothing = sqlx::query("DELETE FROM matches WHERE FALSE");
    nothing.execute(&mut *trial).await?;
    trial.rollback().await
}

impl File {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Which files were opened, and whether they are still there.
    pub fn watch(&self) -> &Watch {
        &self.watch
    }

    /// The mode of new files.
    pub fn mode(&self) -> FileMode {
        self.mode
    }

    /// Where [`copy_to`](Self::copy_to) has last copied the database.
    pub fn rescued(&self) -> &OnceLock<PathBuf> {
        &self.rescued
    }

    /// Writes all that was committed to a new file, also if the files of the database are not in place.
    pub async fn copy_to(&self, to: &Path) -> Result<(), StoreError> {
        match &mut *self.anchor.lock().await {
            Some(anchor) => maintenance::copy(anchor, to).await,
            None => Err(StoreError::from(sqlx::Error::PoolClosed)),
        }
    }

    /// Closes the last connection, which copies what was committed from the write-ahead log to the file. If a file was
    /// taken away, that would spoil what is there: the connection then stays open, and ends with the process.
    pub async fn close(&self) {
        let mut anchor = self.anchor.lock().await;
        if self.watch.check().is_err() {
            return;
        }
        if let Some(mut open) = anchor.take() {
            self.watch.end();
            // One that was just being opened may be the last one, and end with the process.
            let copied = sqlx::query("PRAGMA wal_checkpoint(PASSIVE)").execute(&mut open);
            if let Err(error) = copied.await {
                tracing::warn!(%error, "the write-ahead log is not copied to the database");
            }
            if let Err(error) = open.close().await {
                tracing::warn!(%error, "the database is not closed properly");
            }
        }
    }

    /// A stream of the commits to this file.
    pub async fn changes(&self) -> Result<Box<dyn Changes>, StoreError> {
        self.watch.check()?;
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
        self.watch.check()?; // nobody would find what is written
        self.room.as_ref().map_or(Ok(()), Room::extend)?;
        let began = Instant::now();
        let mut write = Write::new(writer.acquire().await?, began, metrics);
        write.watch = Some(self.watch.clone());
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

impl Drop for File {
    /// Leaves the last connection open if a file was taken away, as [`close`](File::close) does.
    fn drop(&mut self) {
        if self.watch.gone().is_some() {
            mem::forget(self.anchor.get_mut().take());
        }
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
            Ok(()) => return Ok(()),
            Err(error) => {
                let runs = matches!(
                    error,
                    MigrateError::ExecuteMigration(..) | MigrateError::Execute(_)
                );
                let error = StoreError::migrating(&path.display(), &SQLITE, error);
                // Another process may have run the same one meanwhile; what may pass by itself is another cause, and
                // the library would find the connection in a state that it does not know of.
                if tries == 0 || !runs || error.is_passing() {
                    return Err(error);
                }
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
    let left = ["-wal", SUFFIX].map(|suffix| beside(path, suffix));
    match left.into_iter().find(|name| name.exists()) {
        Some(beside) => Err(StoreError::Emptied {
            place: path.display().to_string(),
            beside: beside.display().to_string(),
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

/// Creates the file of a new database: SQLite gives those beside it the same mode.
fn begin_file(path: &Path, mode: FileMode) -> Result<(), StoreError> {
    match mode.create(OpenOptions::new().write(true), path) {
        Err(error) if is_full(&error) => {
            let full = StoreError::Full(sqlx::Error::Io(error));
            Err(StoreError::at(&path.display(), full))
        }
        // SQLite says what else is wrong.
        _ => Ok(()),
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
    let found = rustix::fs::statvfs(path).or_else(|_| rustix::fs::statvfs(folder_of(path)));
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
    if !matches!(
        error.bare(),
        StoreError::CannotOpen(_) | StoreError::Disk(_)
    ) {
        return error;
    }
    if let Err(full) = has_room(path) {
        return StoreError::at(&path.display(), full);
    }
    if !matches!(error.bare(), StoreError::CannotOpen(_)) {
        return error;
    }
    match why(path) {
        Some(why) => StoreError::at(&path.display(), StoreError::Denied(why)),
        None if is_read_only(path) => StoreError::at(&path.display(), StoreError::ReadOnlyDisk),
        None => error,
    }
}

/// Looks whether a file can be made beside the database.
///
/// # Errors
/// The disk is full. Other faults are none here.
fn has_room(path: &Path) -> Result<(), StoreError> {
    let made = tempfile::tempfile_in(folder_of(path));
    match made.and_then(|mut file| file.write_all(&[1; 4_096])) {
        Err(error) if is_full(&error) => Err(StoreError::Full(sqlx::Error::Io(error))),
        _ => Ok(()),
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
            let folder = folder_of(path);
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
    fn take(&self, database: &Path, mode: FileMode, name: &str) -> io::Result<Option<Arc<Held>>> {
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
            None => match lock(database, mode)? {
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
fn lock(database: &Path, mode: FileMode) -> io::Result<Option<Locked>> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let file = mode.open(&options, &beside(database, SUFFIX))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Locked(file))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

impl Database {
    /// Locks a lease, until the returned value is dropped. `None` if this process or another one holds it already.
    pub fn lock_lease(&self, name: &str) -> Result<Option<Arc<Held>>, StoreError> {
        let held = self.locks.take(&self.path, self.mode, name);
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
    own: channel::Receiver<u64>,
    /// The version of the file at the last poll; `None` before the first one.
    version: Option<i64>,
}

impl Commits {
    pub fn new(connection: PoolConnection<Sqlite>, own: channel::Receiver<u64>) -> Self {
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
