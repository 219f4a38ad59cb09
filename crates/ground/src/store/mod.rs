//! Match records, derived tables, decisions, players, logs and tickets on disk. No other room contains SQL.
//!
//! [`Store`] is an open database, of SQLite or PostgreSQL. Each group of tables has one owner, in a folder with its
//! rows and queries: [`Matches`], [`Learned`], [`QueueTables`], [`Hooks`], [`Decisions`], [`Corrections`]. Only what
//! concerns a match or a player as a whole (recording, forgetting, hiding, merging) reaches into tables of another.
//! What belongs to none of them stands beside them: `behaviour`, all settings of an operator as lines in
//! [`operator_lines`], `leases`, and in `state` what is kept once for a whole database. Many rows are written in short transactions, so that whoever
//! else writes waits for none of them for long. The owners speak to both databases through the module `db`, so that
//! each query is written once; what only one of them has is in `sqlite` and [`postgres`].
//!
//! Matches are the ground truth: each is written whole or not at all, and only an operator changes
//! it afterwards. The room that folds the matches replaces the derived tables; this room does not
//! depend on how they are made. Database errors may contain SQL and paths: log them, and never send
//! them to a peer.

mod backups;
mod behaviour;
mod corrections;
mod db;
mod decisions;
mod error;
mod experiments;
mod hooks;
mod learned;
mod leases;
mod matches;
pub mod operator_lines;
pub mod postgres;
mod queues;
mod schema;
mod shown;
mod sqlite;
mod state;
mod transfer;

pub use backups::{BackedUp, BackupError, Backups, back_up, rescue};
pub use behaviour::{BehaviourReport, BehaviourRows};
pub use corrections::{Corrections, IdentityLink, OperatorOverrides};
pub use decisions::{DecisionRow, Decisions};
pub use error::StoreError;
pub use experiments::{ArmAsker, DrawnArm, ExperimentMatch, ExperimentRow, Experiments};
pub use hooks::{
    FormedReport, FormedSeat, HookEvent, HookKind, HookNote, HookReport, HookRow, HookWaits, Hooks,
    RecordedReport,
};
pub use learned::{
    Correction, DerivedFrom, DerivedRows, DivisionRow, Learned, NewWeights, Performance, Recount,
    RecountCause, RecountRow, RowSpool, RulingRow, WeightRow,
    persons::{Handles, PersonRow, is_forgotten},
    read::SystemsRow,
    rewrite::Meanwhile,
};
pub use matches::{
    Cursor, HalfRecorded, JoinHalves, Matches, Recorded, StoredMatch,
    lately::{Favoured, Regular},
    latest::{MatchFilter, MatchLine, MatchList, MatchSeat, PageMatch, PageSeat, PageStay},
    logs::{LogMatches, LogReplaced},
    of_person::{
        Companion, Companions, FoundPlayer, GameOfPerson, NameSeen, PointsInMatch, SharedGame,
    },
    reported::{ChangedPickup, PickupRow, Receipt, Reported, ReportedMatch, SignIn},
};
pub use operator_lines::{ContentPart, OperatorLine, rows::PartSource};
pub use queues::{
    DecidedRequest, FoundMatch, HostNoticeRow, HostedRow, InstanceRow, MAX_REQUEST, MAX_REQUESTS,
    NewHostNotice, NewRequest, OwnTicket, QueueEvenness, QueueHour, QueueRow, QueueTables,
    QueueWrite, Request, StoredTicket, TicketKey, TicketMatch, WaitingTicket, ticket_base,
};
pub use shown::{Player, as_plain, as_text, as_text_or_null, as_thousandths, time_of_text};
pub use sqlite::{Forgotten, SqliteFile};
pub use transfer::{TransferError, Transferred, take_back, transfer};

use std::{
    any::Any,
    fmt::{self, Display},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use futures_util::{FutureExt, future::BoxFuture};
use sqlx::migrate::Migrator;
use tokio::time::{Instant, sleep};

use crate::{
    files::FileMode,
    metrics::{Counter, Histogram, Registry, SECONDS},
    model::Timestamp,
    store::{
        db::{ConnectionPool, Dialect, Write},
        matches::record::EndedGames,
        postgres::{PoolSettings, PostgresUrl},
    },
};

/// An open database.
///
/// Every method fails if the database does: it is locked, full, damaged, away. `# Errors` names what else makes a
/// method fail. A write is one transaction: all of it is on disk, and survives a power cut, when the method returns, or
/// nothing is.
#[derive(Debug)]
pub struct Store {
    backend: Backend,
    /// One connection, for writes one after the other.
    writer: ConnectionPool,
    readers: ConnectionPool,
    /// For the statistics pages, so that visitors of pages never keep the daemon from reading.
    pages: ConnectionPool,
    metrics: Arc<StoreMetrics>,
    /// The games that end at the same time.
    games: EndedGames,
}

/// What only one of the databases has.
#[derive(Debug)]
enum Backend {
    Sqlite(sqlite::File),
    Postgres(postgres::Server),
}

impl Store {
    fn new(backend: Backend, [writer, readers, pages]: [ConnectionPool; 3]) -> Self {
        Self {
            backend,
            writer,
            readers,
            pages,
            metrics: Arc::default(),
            games: EndedGames::default(),
        }
    }

    /// A stream of the commits to this database, by this process and all others.
    pub async fn changes(&self) -> Result<Box<dyn Changes>, StoreError> {
        match &self.backend {
            Backend::Sqlite(file) => file.changes().await,
            Backend::Postgres(server) => server.changes().await,
        }
    }

    /// The time of the database's clock, which all its daemons share; `None` if that is the machine's own clock.
    pub async fn clock(&self) -> Result<Option<Timestamp>, StoreError> {
        match &self.backend {
            Backend::Sqlite(_) => Ok(None),
            Backend::Postgres(server) => server.clock().await.map(Some),
        }
    }

    /// The file of the database; `None` if it is on a server.
    pub fn file(&self) -> Option<&Path> {
        match &self.backend {
            Backend::Sqlite(file) => Some(file.path()),
            Backend::Postgres(_) => None,
        }
    }

    /// Whether the files of the open database are still at their paths. If one was removed or replaced, nothing is written
    /// any more.
    pub fn is_in_place(&self) -> bool {
        match &self.backend {
            Backend::Sqlite(file) => file.watch().check().is_ok(),
            Backend::Postgres(_) => true,
        }
    }

    /// The file of the database that was removed or replaced; `None` if all are in place.
    pub fn gone(&self) -> Option<&Path> {
        match &self.backend {
            Backend::Sqlite(file) => file.watch().gone(),
            Backend::Postgres(_) => None,
        }
    }

    /// Where [`rescue`] has copied the database; `None` if it has not.
    pub fn rescued(&self) -> Option<&Path> {
        match &self.backend {
            Backend::Sqlite(file) => file.rescued().get().map(PathBuf::as_path),
            Backend::Postgres(_) => None,
        }
    }

    /// Whether several daemons can share its queues.
    pub fn is_shared(&self) -> bool {
        self.dialect() == Dialect::Postgres
    }

    /// What is counted about the writes of this process.
    pub fn metrics(&self) -> Option<&StoreMetrics> {
        Some(&self.metrics)
    }

    /// Waits for running queries and closes the database. If it is not in place, [`rescue`] still reads it.
    pub async fn close(&self) {
        self.pages.close().await;
        self.readers.close().await;
        if let Backend::Postgres(server) = &self.backend {
            server.close().await;
        }
        self.writer.close().await;
        if let Backend::Sqlite(file) = &self.backend {
            file.close().await;
        }
    }

    /// Begins a write, which waits for the writers of all processes, but not for games that are recorded.
    fn begin(&self) -> BoxFuture<'_, Result<Write, StoreError>> {
        match &self.backend {
            Backend::Sqlite(file) => file.begin(&self.writer, &self.metrics).boxed(),
            Backend::Postgres(server) => server.begin(&self.writer, &self.metrics).boxed(),
        }
    }

    /// Begins a write during which no other process writes anything: it adds, changes or removes matches or players.
    fn begin_alone(&self) -> BoxFuture<'_, Result<Write, StoreError>> {
        match &self.backend {
            Backend::Sqlite(file) => file.begin(&self.writer, &self.metrics).boxed(),
            Backend::Postgres(server) => server.begin_alone(&self.writer, &self.metrics).boxed(),
        }
    }

    /// Begins the turn of a partition, which may add reports about behaviour.
    fn begin_turn(&self, adds_reports: bool) -> BoxFuture<'_, Result<Write, StoreError>> {
        match &self.backend {
            Backend::Sqlite(_) => self.begin(),
            Backend::Postgres(server) => server.begin_turn(adds_reports, &self.metrics).boxed(),
        }
    }

    /// Begins a write of rows that no other write depends on. On PostgreSQL, it waits for no other write.
    fn begin_apart(&self) -> BoxFuture<'_, Result<Write, StoreError>> {
        match &self.backend {
            Backend::Sqlite(_) => self.begin(),
            Backend::Postgres(server) => server.begin_apart(&self.metrics).boxed(),
        }
    }

    /// Commits a write, and wakes the tasks that wait for [`changes`](Self::changes). A write that changes no weights
    /// is committed by itself, and wakes nobody.
    fn commit(&self, tx: Write) -> BoxFuture<'_, Result<(), StoreError>> {
        match &self.backend {
            Backend::Sqlite(file) => file.commit(tx).boxed(),
            Backend::Postgres(server) => server.commit(tx).boxed(),
        }
    }

    fn dialect(&self) -> Dialect {
        match &self.backend {
            Backend::Sqlite(_) => Dialect::Sqlite,
            Backend::Postgres(_) => Dialect::Postgres,
        }
    }
}

/// A stream of commits to a database. Several consecutive commits may arrive as one.
#[async_trait]
pub trait Changes: Send {
    /// Waits for a commit since the last call. The first call returns at once, because of the
    /// commits before it. A commit of this process arrives at once, that of another process within
    /// a quarter of a second. On PostgreSQL, also returns after a second in which no commit was announced, because
    /// an announcement may be lost. Cancel safe: dropping the future loses no commit.
    async fn next(&mut self) -> Result<(), StoreError>;
}

/// Opens the database at `place`, creates it if `create` is set, and migrates it if needed. An SQLite file is
/// created; on a PostgreSQL server, the database must exist, and tables are created in it. This call and all
/// later ones wait for locks of other processes for at most `patience`.
///
/// # Errors
/// Fails if the database is missing, locked, damaged, read-only, of a newer version or of another
/// program, or cannot be opened.
pub async fn open_at(
    place: &DatabaseUrl,
    create: bool,
    patience: Duration,
) -> Result<Arc<Store>, StoreError> {
    open_with(place, create, patience, FileMode::default()).await
}

/// Opens the database at `place` as [`open_at`] does. New files get this mode.
///
/// # Errors
/// Those of [`open_at`].
pub async fn open_with(
    place: &DatabaseUrl,
    create: bool,
    patience: Duration,
    mode: FileMode,
) -> Result<Arc<Store>, StoreError> {
    let store = transfer::open(place, create, patience, mode).await?;
    let Some(to) = store.moved_to().await? else {
        return Ok(Arc::new(store));
    };
    store.close().await;
    let place = place.to_string();
    Err(StoreError::Moved { place, to })
}

/// Opens the SQLite database at `path`, as [`open_at`] does.
///
/// # Errors
/// Those of [`open_at`].
pub async fn open(path: &Path, create: bool, busy: Duration) -> Result<Arc<Store>, StoreError> {
    open_at(&DatabaseUrl::File(path.to_owned()), create, busy).await
}

/// Finds the SQLite database at `path` for a backup or a check. It is neither changed nor migrated.
///
/// # Errors
/// Fails if it is missing, damaged, of another program, or cannot be opened.
pub async fn open_file(path: &Path, busy: Duration) -> Result<SqliteFile, StoreError> {
    SqliteFile::open(path, busy).await
}

/// The checksum of the first migration of a database. Fails, or has no row, in a new one.
const FIRST_MIGRATION: &str = "SELECT checksum FROM _sqlx_migrations WHERE version = 1";

/// Refuses a database whose first migration is not the one of this version.
fn refuse_older(
    place: &impl Display,
    migrations: &Migrator,
    first: Option<Vec<u8>>,
) -> Result<(), StoreError> {
    let own = migrations.iter().next().map(|one| one.checksum.to_vec());
    match first.is_some() && first != own {
        true => Err(StoreError::Older {
            place: place.to_string(),
        }),
        false => Ok(()),
    }
}

/// Where a database is: it prints as the operator knows it, without a password.
#[derive(Clone, Debug)]
pub enum DatabaseUrl {
    /// An SQLite database in a file.
    File(PathBuf),
    /// A PostgreSQL database on a server, and how the server is used.
    Server(PostgresUrl, PoolSettings),
}

impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Server(url, _) => url.fmt(f),
        }
    }
}

/// What is counted about the writes of this process to a database.
#[derive(Debug)]
pub struct StoreMetrics {
    /// All of them.
    pub registry: Registry,
    writes: Histogram,
    failures: Counter,
}

impl Default for StoreMetrics {
    fn default() -> Self {
        let mut all = Registry::default();
        Self {
            writes: all.histogram(
                "evenkeel_database_write_seconds",
                "Time of a write to the database: with the wait for other writes, until it is on the disk.",
                SECONDS,
            ),
            failures: all.counter(
                "evenkeel_database_write_failures_total",
                "Writes to the database that failed: the disk is full or broken, or the database was locked.",
            ),
            registry: all,
        }
    }
}

impl StoreMetrics {
    /// Adds the duration of a write that is on the disk.
    fn written(&self, seconds: f64) {
        self.writes.observe(seconds);
    }

    /// Counts a write that failed.
    fn failed(&self) {
        self.failures.count();
    }

    /// How many writes have failed.
    pub fn failures(&self) -> u64 {
        self.failures.get()
    }
}

/// How long a transaction may take. Others may take twice as long, since no two sets of rows take equally long.
const SHORT: Duration = Duration::from_millis(20);
/// The first of several transactions writes this many rows; the next ones as many as take about [`SHORT`].
const SOME: usize = 64;

/// How many rows a transaction writes, so that it takes about [`SHORT`].
struct Pace {
    rows: usize,
    since: Instant,
}

impl Pace {
    fn new() -> Self {
        Self {
            rows: SOME,
            since: Instant::now(),
        }
    }

    /// The number of rows to write next, of so many.
    fn next(&mut self, left: usize) -> usize {
        self.since = Instant::now();
        self.rows.min(left)
    }

    /// Notes that this many rows were written.
    fn took(&mut self, rows: usize) {
        let took = self.since.elapsed().as_secs_f64().max(1e-4);
        let fit = (rows as f64 * SHORT.as_secs_f64() / took) as usize;
        self.rows = fit.clamp(self.rows / 2, 2 * self.rows).clamp(8, 4_096);
    }

    /// Waits for as long as the transaction took: another process does not get its turn between two that follow each other.
    async fn rest(&self) {
        sleep(self.since.elapsed()).await;
    }
}

/// The longest time for which a lease is taken. One that ends later was taken before the clock of the
/// database was set back, and counts as free.
pub const LONGEST_LEASE: Duration = Duration::from_secs(600);

/// A lease that this process has taken. Writes that only the holder may make show it to the database.
#[derive(Clone)]
pub struct Lease {
    /// What only its holder may do, such as `fold`.
    pub name: String,
    /// Grows with each new holder: a write with an old epoch fails.
    pub epoch: i64,
    /// For how long it is taken and renewed. `None` if it lasts as long as this value: no other process can
    /// take it before, and it need not be renewed.
    pub lasts: Option<Duration>,
    /// Keeps others from taking it.
    _lock: Option<Arc<dyn Any + Send + Sync>>,
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (epoch {})", self.name, self.epoch)
    }
}

/// The result of an attempt to take a lease.
#[derive(Clone, Debug)]
pub enum Taken {
    /// The caller has it now.
    Yes(Lease),
    /// Another holder has it now.
    No {
        /// The name of the holder.
        holder: String,
        /// The epoch of that holder.
        epoch: i64,
    },
}

/// Who holds a lease, or held it last, and with which settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastHolder {
    /// The name of the holder.
    pub holder: String,
    /// Its epoch.
    pub epoch: i64,
    /// What it has noted by [`Store::describe_lease`](Store::describe_lease); empty if nothing.
    pub settings: String,
    /// For how long the lease has been free; `None` while it is held.
    pub free_for: Option<Duration>,
    /// Whether the holder gave it back. Otherwise it has ended by itself.
    pub gave_it_back: bool,
}
