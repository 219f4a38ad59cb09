//! Where a database is.

use std::{fmt, path::PathBuf};

use super::postgres::{PoolSettings, PostgresUrl};

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
