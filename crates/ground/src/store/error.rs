//! The errors of a database, with messages for the operator, and what the errors of both databases and of the migrator
//! become.

use std::{fmt::Display, sync::Arc};

use sqlx::{
    error::DatabaseError,
    migrate::{MigrateError, Migrator},
    postgres::PgDatabaseError,
};

use crate::{files::is_full, model::record::RecordError};

/// Why a call to the database failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another process writes the derived tables.
    #[error("another process writes the weights")]
    Overtaken,
    /// Another process has locked the database.
    #[error("the database is locked by another process")]
    Locked(#[source] sqlx::Error),
    /// This process may not write to the database.
    #[error("the database is read-only")]
    ReadOnly(#[source] sqlx::Error),
    /// The file system of the database may not be written.
    #[error("the disk is mounted read-only")]
    ReadOnlyDisk,
    /// The file has no bytes, and was a database.
    #[error(
        "{place} has 0 bytes, and {beside} shows that it was a database: restore it from a backup, or remove both to begin anew"
    )]
    Emptied {
        /// The path of the database.
        place: String,
        /// The file that daemons have left beside it.
        beside: String,
    },
    /// The file is damaged.
    #[error("the database is damaged")]
    Corrupt(#[source] sqlx::Error),
    /// The file does not begin as a database does.
    #[error("the database is damaged, or is not an SQLite database")]
    NotSqlite,
    /// This process may not open the file.
    #[error("{0}")]
    Denied(String),
    /// The file cannot be opened or created, or the server refuses the user or has no such database.
    #[error("the database cannot be opened or created")]
    CannotOpen(#[source] sqlx::Error),
    /// A file of the database was removed or replaced while it was open: its main file, or one of those beside it.
    #[error("a database file was removed or replaced while it was open")]
    Removed,
    /// There is no room left on the disk.
    #[error("the disk is full")]
    Full(#[source] sqlx::Error),
    /// The disk or the file system has failed. A full disk may do that, too.
    #[error("the disk has failed, or is full: {}", said(.0))]
    Disk(#[source] sqlx::Error),
    /// The database server cannot be reached, or it is stopping or starting.
    #[error("the database server cannot be reached: {}", said(.0))]
    Away(#[source] sqlx::Error),
    /// The server takes no further connections.
    #[error("the database server takes no more connections: {}", said(.0))]
    Crowd(#[source] sqlx::Error),
    /// The server only reads: it follows another server, or is being restored.
    #[error(
        "the database server is in recovery and only reads: it follows another server, or is being restored"
    )]
    Recovering,
    /// No connection to the database was free in time.
    #[error("the database does not answer in time")]
    Silent(#[source] sqlx::Error),
    /// There is no database, and this command does not create one.
    #[error("there is no database at {place}")]
    Missing {
        /// The path or the address at which the database should be.
        place: String,
    },
    /// The database belongs to another program.
    #[error("{place} is a database of another program")]
    Foreign {
        /// The path or the address of the database.
        place: String,
    },
    /// The database was moved to another one, which is used instead.
    #[error(
        "{place} was moved to {to}: use that one. `evenkeel migrate-store --undo {place}` makes this one usable \
         again, without what was written to the other one since"
    )]
    Moved {
        /// The path or the address of the database.
        place: String,
        /// Where its content is now.
        to: String,
    },
    /// The server is too old, or the database has another encoding than UTF-8.
    #[error("{place} cannot be used: {why}")]
    Unsuitable {
        /// The address of the database.
        place: String,
        /// What is wrong with it.
        why: String,
    },
    /// The database of a server has no tables yet, and this command does not create them.
    #[error("{place} is empty: `evenkeel serve` or `evenkeel ingest` begins it")]
    Empty {
        /// The address of the database.
        place: String,
    },
    /// The encrypted connection to the server could not be made.
    #[error(
        "the connection cannot be encrypted: {0}; see the parameters sslmode and sslrootcert of the URL"
    )]
    Tls(String),
    /// The user of the server lacks a right.
    #[error(
        "the database user lacks a right: {0}. The user must own the database, or have the rights CONNECT on it \
         and USAGE and CREATE on its schema"
    )]
    Right(String),
    /// A version before 0.3 has written the database.
    #[error(
        "{place} was written by a version before 0.3, which this one, {}, does not read. Its matches and what operators \
         have set can be brought over: with the last 0.2, `evenkeel export --operator all.jsonl`; with this version \
         and a new database, `evenkeel ingest all.jsonl`. Open tickets and running games stay behind",
        env!("CARGO_PKG_VERSION")
    )]
    Older {
        /// The path or the address of the database.
        place: String,
    },
    /// A newer version of Evenkeel has migrated the database.
    #[error(
        "{place} was written by a newer Evenkeel: it has migration {version}, and this version, {}, knows those \
         up to {known}. Use the newer version, or restore a backup that was made before the upgrade",
        env!("CARGO_PKG_VERSION")
    )]
    Newer {
        /// The path or the address of the database.
        place: String,
        /// The number of the first migration that this program does not know.
        version: i64,
        /// The number of the last migration that this program knows.
        known: i64,
    },
    /// A record that must not be stored, or whose rows were changed by hand.
    #[error("match {what} is not a match: {why}")]
    BadRecord {
        /// The id or the fingerprint of the match.
        what: String,
        /// The check that it fails.
        why: RecordError,
    },
    /// The whole content of another database is only read into a new one.
    #[error("the database is not a new one: name another file, or another database")]
    NotNew,
    /// The stored record of a match cannot be read.
    #[error("the record of match {id} is damaged ({why}): restore the database from a backup")]
    DamagedRecord {
        /// The id of the match.
        id: i64,
        /// What is wrong with it.
        why: String,
    },
    /// More than 64 games of one server, on one map and with the same players, began within the
    /// same second.
    #[error("too many games of {server} began at the same time")]
    Crowded {
        /// Name of the game server.
        server: String,
    },
    /// A write that only the holder of a lease may make: the lease has ended, or another process has it.
    #[error("the lease {0} is lost")]
    LeaseLost(String),
    /// A change of a ticket whose row is not in the state that the ticket had before the change.
    #[error("ticket {0} is in another state")]
    OtherState(i64),
    /// A player was to accept a match that does not wait to be accepted.
    #[error("match {0} does not wait to be accepted")]
    NoCheck(i64),
    /// A player was to get into a ticket, and is in another one of the same group of queues.
    #[error("{0} is in another ticket")]
    InAnother(String),
    /// The daemon that has made a request does not wait for its answer any more.
    #[error("a request of another daemon was withdrawn")]
    Withdrawn,
    /// A value that no version of Evenkeel writes.
    #[error("the database holds an impossible value: {0}")]
    BadValue(String),
    /// Another error of this type, with the path or the address of the database.
    #[error("{place}: {source}")]
    At {
        /// The path or the address of the database.
        place: String,
        /// The error without its place.
        source: Box<StoreError>,
    },
    /// An error of one of these types that several writes have in common.
    #[error(transparent)]
    Shared(Arc<StoreError>),
    /// Rows that wait to be written cannot be read from their temporary file.
    #[error("a temporary file cannot be read: {0}")]
    Temporary(#[source] std::io::Error),
    /// Any other error of the database.
    #[error("the database failed: {0}")]
    Other(#[source] sqlx::Error),
}

/// What the database itself has said.
fn said(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(error) => error.message().to_owned(),
        sqlx::Error::Io(error) => error.to_string(),
        error => error.to_string(),
    }
}

impl StoreError {
    /// A value of `what` that no version of Evenkeel writes.
    pub(super) fn bad(what: &str, value: &str) -> Self {
        Self::BadValue(format!("{what} {value}"))
    }

    /// The error without its place.
    pub(super) fn bare(&self) -> &Self {
        match self {
            Self::At { source, .. } => source.bare(),
            Self::Shared(error) => error.bare(),
            _ => self,
        }
    }

    /// Whether another process holds the database, so that a later try may succeed.
    pub(super) fn is_locked(&self) -> bool {
        matches!(self.bare(), Self::Locked(_))
    }

    /// Whether any other write would fail, too, perhaps after a long wait.
    pub(super) fn stops_all_writes(&self) -> bool {
        matches!(
            self.bare(),
            Self::Locked(_) | Self::Silent(_) | Self::Away(_) | Self::Removed | Self::Moved { .. }
        )
    }

    /// Whether another process has written the same row at this time, or both have waited for each other.
    pub(super) fn is_conflict(&self) -> bool {
        match self {
            Self::Locked(sqlx::Error::Database(error))
            | Self::Other(sqlx::Error::Database(error)) => {
                matches!(error.code().as_deref(), Some("23505" | "40P01"))
            }
            _ => false,
        }
    }

    /// Whether the cause may pass by itself, so that the same call can succeed later.
    pub fn is_passing(&self) -> bool {
        match self.bare() {
            // A certificate that is not trusted stays so.
            Self::Away(sqlx::Error::Io(error)) => error.kind() != std::io::ErrorKind::InvalidData,
            Self::Locked(_)
            | Self::Full(_)
            | Self::Disk(_)
            | Self::Away(_)
            | Self::Crowd(_)
            | Self::Recovering
            | Self::Silent(_) => true,
            _ => false,
        }
    }

    /// Whether what is read of the database can be wrong.
    pub fn is_damage(&self) -> bool {
        matches!(
            self.bare(),
            Self::Corrupt(_) | Self::NotSqlite | Self::BadValue(_) | Self::DamagedRecord { .. }
        )
    }

    /// Whether the caller no longer holds the lease that the write needs.
    pub fn is_lease_lost(&self) -> bool {
        matches!(self.bare(), Self::LeaseLost(_))
    }

    /// What is wrong with a row that the database refuses, or with the values for it; `None` if something else failed.
    pub(super) fn refusal(&self) -> Option<String> {
        match self {
            Self::BadValue(why) => Some(why.clone()),
            Self::BadRecord { why, .. } => Some(why.to_string()),
            Self::Other(sqlx::Error::Database(error)) => {
                let code = error.code();
                let code = code.as_deref().unwrap_or_default();
                // Of PostgreSQL, the classes of values that cannot be stored and of constraints; of SQLite, a constraint.
                let is_of_row = match code.len() {
                    5 => code.starts_with("22") || code.starts_with("23"),
                    _ => code.parse().is_ok_and(|code: i64| code & 0xff == 19),
                };
                is_of_row.then(|| error.message().to_owned())
            }
            _ => None,
        }
    }

    /// Whether the record itself is at fault, so that no later try can succeed.
    pub fn is_of_record(&self) -> bool {
        matches!(self.bare(), Self::BadRecord { .. } | Self::Crowded { .. })
    }
}

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
            sqlx::Error::Io(error) if is_full(error) => Self::Full,
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
