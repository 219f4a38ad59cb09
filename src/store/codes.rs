//! Converts the errors of both databases, and those of the migrator, to [`StoreError`].

use std::fmt::Display;

use sqlx::{
    error::DatabaseError,
    migrate::{MigrateError, Migrator},
    postgres::PgDatabaseError,
};

use super::StoreError;

impl StoreError {
    /// The error of the database at a place, as the operator knows it.
    pub(super) fn new(place: &impl Display, error: sqlx::Error) -> Self {
        Self::at(place, error.into())
    }

    /// The same error with the place of the database.
    pub(super) fn at(place: &impl Display, error: Self) -> Self {
        match error {
            // These have it already.
            Self::Foreign { .. }
            | Self::Moved { .. }
            | Self::Unsuitable { .. }
            | Self::Newer { .. }
            | Self::Empty { .. }
            | Self::Missing { .. }
            | Self::At { .. } => error,
            _ => Self::At {
                place: place.to_string(),
                source: Box::new(error),
            },
        }
    }

    pub(super) fn migrating(
        place: &impl Display,
        migrations: &Migrator,
        error: MigrateError,
    ) -> Self {
        match error {
            MigrateError::VersionMissing(version) | MigrateError::VersionTooNew(version, _) => {
                Self::Newer {
                    place: place.to_string(),
                    version,
                    known: migrations.iter().map(|one| one.version).max().unwrap_or(0),
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
            sqlx::Error::Tls(_) => |error| Self::Tls(words(&error)),
            sqlx::Error::Database(database) => of_database(&**database),
            _ => Self::Other,
        };
        kind(error)
    }
}

/// What an error says, without the words that the library adds.
fn words(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(database) => database.message().to_owned(),
        sqlx::Error::Tls(why) => why.to_string(),
        other => other.to_string(),
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
        Ok(11) => StoreError::Corrupt,
        Ok(26) => |_| StoreError::NotSqlite,
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
        "42501" => |error| StoreError::Right(words(&error)),
        _ if code.starts_with("08") => StoreError::Away,
        _ if code.starts_with("28") => StoreError::CannotOpen,
        _ => StoreError::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encryption_that_fails_names_the_parameters() {
        let error = sqlx::Error::Tls("server does not support TLS".into());
        assert_eq!(
            StoreError::from(error).to_string(),
            "the connection cannot be encrypted: server does not support TLS; see the parameters sslmode and \
             sslrootcert of the URL"
        );
    }

    #[test]
    fn a_place_is_named_once() {
        let missing = StoreError::Missing {
            place: "a.db".to_owned(),
        };
        let once = StoreError::at(&"a.db", StoreError::at(&"a.db", missing));
        assert_eq!(once.to_string(), "there is no database at a.db");
    }
}
