//! Converts SQLite's error codes, and the migrator's errors, to [`StoreError`].

use std::path::Path;

use sqlx::migrate::MigrateError;

use crate::store::StoreError;

impl StoreError {
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

/// Converts by SQLite's primary result code, which is the low byte of the extended one.
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
