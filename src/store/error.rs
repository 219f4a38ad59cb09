//! What can be wrong with a database, in words for the operator.

use std::path::{Path, PathBuf};

use sqlx::migrate::MigrateError;

use crate::domain::RecordError;

/// Why the database did not do as asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process holds it.
    #[error("the database is locked by another process")]
    Locked(#[source] sqlx::Error),
    /// It may not be written.
    #[error("the database is read-only")]
    ReadOnly(#[source] sqlx::Error),
    /// It is damaged, or no database.
    #[error("the database is damaged, or no SQLite database")]
    Corrupt(#[source] sqlx::Error),
    /// It cannot be opened or created there.
    #[error("the database cannot be opened or created")]
    CannotOpen(#[source] sqlx::Error),
    /// The disk is full.
    #[error("the disk is full")]
    Full(#[source] sqlx::Error),
    /// It isn't there, and this command does not make one.
    #[error("there is no database at {}", path.display())]
    Missing {
        /// Where it should be.
        path: PathBuf,
    },
    /// It belongs to another program.
    #[error("{} is a database of another program", path.display())]
    Foreign {
        /// Where it is.
        path: PathBuf,
    },
    /// A newer Evenkeel has written it.
    #[error("{} was written by a newer Evenkeel (migration {version})", path.display())]
    Newer {
        /// Where it is.
        path: PathBuf,
        /// The first migration this program does not know.
        version: i64,
    },
    /// A record that must not be stored, or that somebody changed by hand.
    #[error("match {what} is not a match: {why}")]
    BadRecord {
        /// Which.
        what: String,
        /// What is wrong with it.
        why: RecordError,
    },
    /// A value that no version of this program writes.
    #[error("the database holds an impossible value: {0}")]
    BadValue(String),
    /// The database at a path had an error.
    #[error("{}: {source}", path.display())]
    At {
        /// Where it is.
        path: PathBuf,
        /// What happened.
        source: Box<StoreError>,
    },
    /// Anything else.
    #[error("the database failed: {0}")]
    Other(#[source] sqlx::Error),
}

impl StoreError {
    /// Whether another process holds the database, so that waiting may help.
    pub(super) fn is_locked(&self) -> bool {
        match self {
            Self::Locked(_) => true,
            Self::At { source, .. } => source.is_locked(),
            _ => false,
        }
    }

    pub(super) fn new(path: &Path, error: sqlx::Error) -> Self {
        Self::At {
            path: path.to_owned(),
            source: Box::new(error.into()),
        }
    }

    pub(super) fn migrating(path: &Path, error: MigrateError) -> Self {
        match error {
            MigrateError::VersionMissing(version) | MigrateError::VersionTooNew(version, _) => {
                Self::Newer {
                    path: path.to_owned(),
                    version,
                }
            }
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => {
                Self::new(path, error)
            }
            other => Self::new(path, sqlx::Error::Migrate(Box::new(other))),
        }
    }
}

/// By SQLite's primary result code, the low byte of the extended one.
impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        let database = error.as_database_error().and_then(|e| e.code());
        let code = database
            .and_then(|code| code.parse::<i64>().ok())
            .map(|code| code & 0xff);
        match code {
            Some(5 | 6) => Self::Locked(error),
            Some(8) => Self::ReadOnly(error),
            Some(11 | 26) => Self::Corrupt(error),
            Some(14) => Self::CannotOpen(error),
            Some(13) => Self::Full(error),
            _ => Self::Other(error),
        }
    }
}
