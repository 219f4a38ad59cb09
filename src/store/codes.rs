//! Converts the errors of both databases, and those of the migrator, to [`StoreError`].

use std::fmt::Display;

use sqlx::{error::DatabaseError, migrate::MigrateError, postgres::PgDatabaseError};

use super::StoreError;

impl StoreError {
    /// The error of the database at a place, as the operator knows it.
    pub(super) fn new(place: &impl Display, error: sqlx::Error) -> Self {
        Self::at(place, error.into())
    }

    /// The same error with the place of the database.
    pub(super) fn at(place: &impl Display, error: Self) -> Self {
        Self::At {
            place: place.to_string(),
            source: Box::new(error),
        }
    }

    pub(super) fn migrating(place: &impl Display, error: MigrateError) -> Self {
        match error {
            MigrateError::VersionMissing(version) | MigrateError::VersionTooNew(version, _) => {
                Self::Newer {
                    place: place.to_string(),
                    version,
                }
            }
            MigrateError::Execute(error) | MigrateError::ExecuteMigration(error, _) => {
                Self::new(place, error)
            }
            other => Self::new(place, sqlx::Error::Migrate(Box::new(other))),
        }
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        let kind: fn(sqlx::Error) -> Self = match &error {
            sqlx::Error::PoolTimedOut => Self::Silent,
            sqlx::Error::Io(_) => Self::Away,
            sqlx::Error::Database(database) => of_database(&**database),
            _ => Self::Other,
        };
        kind(error)
    }
}

fn of_database(error: &dyn DatabaseError) -> fn(sqlx::Error) -> StoreError {
    let code = error.code();
    let code = code.as_deref().unwrap_or_default();
    match error.try_downcast_ref::<PgDatabaseError>() {
        Some(_) => of_postgres(code),
        None => of_sqlite(code),
    }
}

/// By the primary result code of SQLite, which is the low byte of the extended one.
fn of_sqlite(code: &str) -> fn(sqlx::Error) -> StoreError {
    match code.parse::<i64>().map(|code| code & 0xff) {
        Ok(5 | 6) => StoreError::Locked,
        Ok(8) => StoreError::ReadOnly,
        Ok(10) => StoreError::Disk,
        Ok(11 | 26) => StoreError::Corrupt,
        Ok(14) => StoreError::CannotOpen,
        Ok(13) => StoreError::Full,
        _ => StoreError::Other,
    }
}

/// By PostgreSQL's error code, of which the first two letters are the class.
fn of_postgres(code: &str) -> fn(sqlx::Error) -> StoreError {
    match code {
        // A lock that was not free in time, a deadlock, and a conflict between two transactions.
        "55P03" | "40P01" | "40001" => StoreError::Locked,
        "25006" => StoreError::ReadOnly,
        "53100" => StoreError::Full,
        // The server stops or starts, or has ended the connection.
        "57P01" | "57P02" | "57P03" | "25P03" => StoreError::Away,
        // The limit of the server, of the database or of the user.
        "53300" => StoreError::Crowd,
        // A statement that took longer than it may.
        "57014" => StoreError::Silent,
        "3D000" => StoreError::CannotOpen,
        _ if code.starts_with("08") => StoreError::Away,
        _ if code.starts_with("28") => StoreError::CannotOpen,
        _ => StoreError::Other,
    }
}
