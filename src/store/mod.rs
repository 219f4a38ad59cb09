//! Match records, derived tables, decisions, players, logs and tickets on disk. No other room contains SQL.
//!
//! [`Store`] is the interface of a database, split by use: [`Matches`], [`Derived`], [`Decisions`],
//! [`Players`], [`Logs`], [`Tickets`], [`Hosting`], [`BehaviourReports`], [`Webhooks`], [`Leases`], [`Partitions`],
//! [`MatchArchive`], [`Receipts`], [`SignIns`], [`Pages`].
//! [`sqlite`] and [`postgres`] implement it, with the queries in `sql/`, which are the same for both;
//! [`open_at`] returns one of them as a trait object, so that no other room depends on a database.
//!
//! Matches are the ground truth: each is written whole or not at all, and only an operator changes
//! it afterwards. The room that folds the matches replaces the derived tables; this room does not
//! depend on how they are made. Database errors may contain SQL and paths: log them, and never send
//! them to a peer.

mod archive;
mod backups;
mod behaviour;
mod care;
mod chunk;
mod codes;
mod decisions;
mod derived;
mod error;
mod hosting;
mod leases;
mod logs;
mod matches;
mod metrics;
mod pages;
mod partitions;
mod place;
mod players;
mod post;
pub mod postgres;
mod receipts;
mod sign_ins;
pub mod sqlite;
mod tickets;
mod together;
mod transfer;
mod webhooks;
mod written;

use std::{fmt, path::Path, sync::Arc, time::Duration};

use async_trait::async_trait;
use sqlx::{
    SqlSafeStr,
    migrate::{Migration, MigrationType},
};

use crate::domain::Timestamp;

pub use archive::{ChunkRow, MatchArchive};
pub use backups::{BackedUp, BackupError, Backups, back_up};
pub use behaviour::{BehaviourReport, BehaviourReports, BehaviourRows};
pub use care::{Care, Forgotten};
pub use chunk::MOST_IN_CHUNK;
pub use decisions::{DecisionNote, DecisionRow, Decisions};
pub use derived::{
    CheckpointRow, Derived, DerivedFrom, DerivedRows, DivisionRow, Performance, RulingRow,
    WeightRow,
};
pub use error::StoreError;
pub use hosting::{HostedRow, Hosting, HostingRows, InstanceRow, QueueRow, QueueWrite};
pub use leases::{LONGEST_LEASE, LastHolder, Lease, Leases, Taken};
pub use logs::{LogMatches, LogReplaced, Logs};
pub use matches::{Cursor, HalfRecorded, JoinHalves, Matches, Recorded, Stored};
pub use metrics::StoreMetrics;
pub use pages::{
    BoardQuery, BoardRow, ChanceStep, Closeness, Companion, Companions, GameOfPerson, HostedLine,
    InstanceLine, MapOfBalance, MatchLine, PageMatch, PageSeat, PageStay, Pages, PersonRow,
    PointsInMatch, PresentPlayer, QueueHour, RulesetLine, StandingLine, SystemsRow, WeekOfBalance,
};
pub use partitions::{Partitions, ticket_base};
pub use place::DatabasePlace;
pub use players::{FoundPlayer, NameSeen, OperatorOverrides, Players};
pub use post::{Letter, MAX_LETTER, MAX_LETTERS, NewLetter, Post};
pub use receipts::{Receipt, Receipts, Reported, ReportedMatch};
pub use sign_ins::{SignIn, SignIns};
pub use tickets::{FoundMatch, Tickets};
pub use transfer::{TableCompared, TableSum, Transfer, TransferError, take_back};
pub use webhooks::{HookNote, HookRow, HookWaits, Webhooks};

/// An open database, with all its uses.
#[async_trait]
pub trait Store:
    Matches
    + Derived
    + Decisions
    + Players
    + Logs
    + Tickets
    + Hosting
    + BehaviourReports
    + Webhooks
    + Leases
    + Partitions
    + MatchArchive
    + Receipts
    + SignIns
    + Pages
    + fmt::Debug
{
    /// A stream of the commits to this database, by this process and all others.
    ///
    /// # Errors
    /// Fails if no connection is free.
    async fn changes(&self) -> Result<Box<dyn Changes>, StoreError>;

    /// The time of the database's clock, which all its daemons share; `None` if that is the machine's own clock.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn clock(&self) -> Result<Option<Timestamp>, StoreError> {
        Ok(None)
    }

    /// Whether the path still leads to the open database. If not, its file was removed or replaced,
    /// and later writes are lost.
    fn is_in_place(&self) -> bool;

    /// The letters between its daemons; `None` if only one daemon at a time can run its queues.
    fn post(&self) -> Option<&dyn Post> {
        None
    }

    /// What is counted about the writes of this process; `None` if nothing is.
    fn metrics(&self) -> Option<&StoreMetrics> {
        None
    }

    /// Waits for running queries and closes the database.
    async fn close(&self);
}

/// A stream of commits to a database. Several consecutive commits may arrive as one.
#[async_trait]
pub trait Changes: Send {
    /// Waits for a commit since the last call. The first call returns at once, because of the
    /// commits before it. A commit of this process arrives at once, that of another process within
    /// a quarter of a second. On PostgreSQL, also returns after a second in which no commit was announced, because
    /// an announcement may be lost. Cancel safe: dropping the future loses no commit.
    ///
    /// # Errors
    /// Fails if the database does.
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
    place: &DatabasePlace,
    create: bool,
    patience: Duration,
) -> Result<Arc<dyn Store>, StoreError> {
    let store = transfer::open(place, create, patience).await?;
    let (is_part, moved) = (store.mark().await?.is_some(), store.moved_to().await?);
    let place = place.to_string();
    let error = match moved {
        _ if is_part => StoreError::Unfinished { place },
        Some(to) => StoreError::Moved { place, to },
        None => return Ok(store),
    };
    store.close().await;
    Err(error)
}

/// Opens the SQLite database at `path`, as [`open_at`] does.
///
/// # Errors
/// Those of [`open_at`].
pub async fn open(path: &Path, create: bool, busy: Duration) -> Result<Arc<dyn Store>, StoreError> {
    open_at(&DatabasePlace::File(path.to_owned()), create, busy).await
}

/// Finds the SQLite database at `path` for a backup or a check. It is neither changed nor migrated.
///
/// # Errors
/// Fails if it is missing, damaged, of another program, or cannot be opened.
pub async fn open_file(path: &Path, busy: Duration) -> Result<Arc<dyn Care>, StoreError> {
    Ok(Arc::new(sqlite::SqliteFile::open(path, busy).await?))
}

/// A migration of this name, which begins with its number in four digits. They are listed by hand, because the
/// macro `sqlx::migrate!`, which would read the folder, compiles a second copy of the database driver.
fn migration(name: &'static str, sql: &'static str) -> Migration {
    let (digits, description) = name.split_at(4);
    let version = digits
        .bytes()
        .fold(0, |number, digit| 10 * number + i64::from(digit & 0xf));
    let description = description.trim_start_matches('_').replace('_', " ");
    let kind = MigrationType::Simple;
    Migration::new(version, description.into(), kind, sql.into_sql_str(), false)
}
