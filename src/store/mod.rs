//! Match records, derived tables, decisions, players, logs and tickets on disk. No other room contains SQL.
//!
//! [`Store`] is an open database, of SQLite or PostgreSQL. Each group of tables has one owner, in a folder with its rows
//! and queries: [`Matches`], [`Learned`], [`Queues`], [`Hooks`], [`Decisions`], [`Corrections`]. Only
//! what concerns a match or a player as a whole (recording, forgetting, hiding, merging) reaches into tables of another. What
//! belongs to none of them (behaviour, sign-ins, pick-ups, all settings of an operator as lines) and what several share is in
//! `sql`; leases are in `leases`. They speak to both databases through the module `db`,
//! so that each query is written once; what only one of them has is in `sqlite` and [`postgres`].
//!
//! Matches are the ground truth: each is written whole or not at all, and only an operator changes
//! it afterwards. The room that folds the matches replaces the derived tables; this room does not
//! depend on how they are made. Database errors may contain SQL and paths: log them, and never send
//! them to a peer.

mod backups;
mod codes;
mod corrections;
mod database_url;
mod db;
mod decisions;
mod error;
mod hooks;
mod learned;
mod lease;
mod leases;
mod matches;
mod metrics;
pub mod operator_lines;
mod pace;
pub mod postgres;
mod queues;
mod schema;
mod sql;
mod sqlite;
mod transfer;

use std::{fmt::Display, path::Path, sync::Arc, time::Duration};

use async_trait::async_trait;
use futures_util::{FutureExt, future::BoxFuture};
use sqlx::migrate::Migrator;

use crate::model::Timestamp;
use db::{Dialect, Pool, Write};
use matches::group_commit::EndedGames;

pub use backups::{BackedUp, BackupError, Backups, back_up};
pub use corrections::{Corrections, links::Link, overrides::OperatorOverrides};
pub use database_url::DatabaseUrl;
pub use decisions::{DecisionRow, Decisions};
pub use error::StoreError;
pub use hooks::{
    FormedReport, FormedSeat, HookEvent, HookKind, HookNote, HookReport, HookRow, HookWaits, Hooks,
    RecordedReport,
};
pub use learned::{
    Learned,
    names::{is_forgotten, public_name},
    persons::{Handles, PersonRow},
    recounts::{Correction, Recount, RecountCause, RecountRow},
    rewrite::Meanwhile,
    rows::{DerivedFrom, DerivedRows, DivisionRow, NewWeights, Performance, RulingRow, WeightRow},
    spool::Spool,
    systems::SystemsRow,
};
pub use lease::{LONGEST_LEASE, LastHolder, Lease, Taken};
pub use matches::{
    Matches,
    filtered::{MatchFilter, MatchList},
    lately::{Favoured, Regular},
    logs::{LogMatches, LogReplaced},
    of_person::{Companion, Companions, GameOfPerson, PointsInMatch},
    page_match::{MatchLine, PageMatch, PageSeat, PageStay},
    players::{FoundPlayer, NameSeen},
    present::PresentPlayer,
    receipts::{Receipt, Reported, ReportedMatch},
    rows::{Cursor, HalfRecorded, JoinHalves, Recorded, Stored},
    shared::SharedGame,
};
pub use metrics::StoreMetrics;
pub use operator_lines::{OperatorLine, Part};
pub use queues::{
    Decided, FoundMatch, HostNoticeRow, HostedRow, InstanceRow, MAX_REQUEST, MAX_REQUESTS,
    NewHostNotice, NewRequest, OwnTicket, QueueEvenness, QueueHour, QueueRow, QueueWrite, Queues,
    Request, StoredTicket, TicketKey, TicketMatch, WaitingTicket, ticket_base,
};
pub use sql::{
    behaviour::{BehaviourReport, BehaviourRows},
    operator_import::Parts,
    pickups::{ChangedPickup, PickupRow},
    sign_ins::SignIn,
};
pub use sqlite::{Forgotten, SqliteFile};
pub use transfer::{TransferError, Transferred, take_back, transfer};

/// An open database.
///
/// Every method fails if the database does: it is locked, full, damaged, away. `# Errors` names what else makes a
/// method fail. A write is one transaction: all of it is on disk, and survives a power cut, when the method returns, or
/// nothing is.
#[derive(Debug)]
pub struct Store {
    backend: Backend,
    /// One connection, for writes one after the other.
    writer: Pool,
    readers: Pool,
    /// For the statistics pages, so that visitors of pages never keep the daemon from reading.
    pages: Pool,
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
    fn new(backend: Backend, [writer, readers, pages]: [Pool; 3]) -> Self {
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

    /// Whether the path still leads to the open database. If not, its file was removed or replaced,
    /// and later writes are lost.
    pub fn is_in_place(&self) -> bool {
        match &self.backend {
            Backend::Sqlite(file) => file.is_in_place(),
            Backend::Postgres(_) => true,
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

    /// Waits for running queries and closes the database.
    pub async fn close(&self) {
        self.pages.close().await;
        self.readers.close().await;
        match &self.backend {
            Backend::Postgres(server) => server.close().await,
            Backend::Sqlite(file) => file.complete(&self.writer).await,
        }
        self.writer.close().await;
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
    let store = transfer::open(place, create, patience).await?;
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
