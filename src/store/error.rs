//! The errors of a database, with messages for the operator.

use std::path::PathBuf;

use crate::domain::RecordError;

/// Why a call to the database failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process has locked the database.
    #[error("the database is locked by another process")]
    Locked(#[source] sqlx::Error),
    /// This process may not write to the database.
    #[error("the database is read-only")]
    ReadOnly(#[source] sqlx::Error),
    /// The file is damaged, or is not a database.
    #[error("the database is damaged, or is not an SQLite database")]
    Corrupt(#[source] sqlx::Error),
    /// The file cannot be opened or created.
    #[error("the database cannot be opened or created")]
    CannotOpen(#[source] sqlx::Error),
    /// There is no room left on the disk.
    #[error("the disk is full")]
    Full(#[source] sqlx::Error),
    /// There is no database, and this command does not create one.
    #[error("there is no database at {}", path.display())]
    Missing {
        /// The path at which the database should be.
        path: PathBuf,
    },
    /// The database belongs to another program.
    #[error("{} is a database of another program", path.display())]
    Foreign {
        /// The path of the database.
        path: PathBuf,
    },
    /// A newer version of Evenkeel has migrated the database.
    #[error("{} was written by a newer Evenkeel (migration {version})", path.display())]
    Newer {
        /// The path of the database.
        path: PathBuf,
        /// The number of the first migration that this program does not know.
        version: i64,
    },
    /// A record that must not be stored, or whose rows were changed by hand.
    #[error("match {what} is not a match: {why}")]
    BadRecord {
        /// The id or the fingerprint of the match.
        what: String,
        /// The check that it fails.
        why: RecordError,
    },
    /// More than 64 games of one server, on one map and with the same players, began within the
    /// same second.
    #[error("too many games of {server} began at the same time")]
    Crowded {
        /// Name of the game server.
        server: String,
    },
    /// A value that no version of Evenkeel writes.
    #[error("the database holds an impossible value: {0}")]
    BadValue(String),
    /// Another error of this type, with the path of the database.
    #[error("{}: {source}", path.display())]
    At {
        /// The path of the database.
        path: PathBuf,
        /// The error.
        source: Box<StoreError>,
    },
    /// Any other error of the database.
    #[error("the database failed: {0}")]
    Other(#[source] sqlx::Error),
}

impl StoreError {
    /// Whether another process holds the database, so that a later try may succeed.
    pub(super) fn is_locked(&self) -> bool {
        match self {
            Self::Locked(_) => true,
            Self::At { source, .. } => source.is_locked(),
            _ => false,
        }
    }

    /// Whether the record itself is at fault, so that no later try can succeed.
    pub fn is_of_record(&self) -> bool {
        match self {
            Self::BadRecord { .. } | Self::Crowded { .. } => true,
            Self::At { source, .. } => source.is_of_record(),
            _ => false,
        }
    }
}
