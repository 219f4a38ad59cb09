//! The only room that knows SQL: matches, what is derived from them, decisions, players and logs.
//!
//! [`Store`] is what a database must do, split by use: [`Matches`], [`Derived`], [`Decisions`],
//! [`Players`], [`Logs`]. [`sqlite`] is the first implementation; [`open`] returns it behind a pointer, so
//! that no other room names a database.
//!
//! Matches are the ground truth: each is written whole or not at all, and never changed afterwards
//! except by an operator. The derived tables are replaced by whoever folds the matches; this room does
//! not know how that is done. The text of a database error is for the log, never for a peer.

mod decisions;
mod derived;
mod error;
mod logs;
mod matches;
mod players;
pub mod sqlite;

use std::{fmt, path::Path, sync::Arc, time::Duration};

use async_trait::async_trait;

pub use decisions::{DecisionNote, DecisionRow, Decisions};
pub use derived::{Derived, DerivedFrom, DerivedRows, Performance, RulingRow, WeightRow};
pub use error::StoreError;
pub use logs::{LogMatches, LogReplaced, Logs};
pub use matches::{Cursor, HalfRecorded, JoinHalves, Matches, Recorded, Stored};
pub use players::{NameSeen, OperatorOverrides, Players};

/// An open database.
#[async_trait]
pub trait Store: Matches + Derived + Decisions + Players + Logs + fmt::Debug {
    /// A stream of the commits to this database, by this process or any other.
    ///
    /// # Errors
    /// No connection is free.
    async fn changes(&self) -> Result<Box<dyn Changes>, StoreError>;

    /// Whether the open database is still the one that its address leads to. If not, somebody removed
    /// or replaced its file, and whatever is written now is lost.
    fn is_in_place(&self) -> bool;

    /// Waits for queries under way and closes the database.
    async fn close(&self);
}

/// Commits to a database, as they happen. Several in a row may arrive as one.
#[async_trait]
pub trait Changes: Send {
    /// Waits for a commit since the last call. The first call returns at once, for what was committed
    /// before anybody listened. A commit of this process arrives at once, another process's within a
    /// quarter of a second. Nothing is lost when the future is dropped.
    ///
    /// # Errors
    /// The database's.
    async fn next(&mut self) -> Result<(), StoreError>;
}

/// Opens the database at `path`, creates it if `create` is set, and migrates it if needed. A locked
/// database is waited for, now and in every later call, for at most `busy`.
///
/// # Errors
/// The database is missing, locked, damaged, read-only, of a newer version or of another program, or
/// cannot be opened at all.
pub async fn open(path: &Path, create: bool, busy: Duration) -> Result<Arc<dyn Store>, StoreError> {
    Ok(Arc::new(
        sqlite::SqliteStore::open(path, create, busy).await?,
    ))
}
