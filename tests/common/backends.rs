//! The kinds of databases, so that one test can run on each of them.

use std::{sync::Arc, time::Duration};

use evenkeel::store::{self, DatabasePlace, Store};
use tempfile::TempDir;

use super::{BUSY, postgres::Server};

/// A kind of database. It lives as long as the test.
pub trait Backend {
    /// Where the database of this name is. It is made when it is first asked for.
    async fn place(&self, name: &str) -> DatabasePlace;

    /// Another handle on the database of this name.
    async fn database(&self, name: &str) -> Arc<dyn Store> {
        let place = self.place(name).await;
        // A server may be slow while many tests run.
        let patience = match place {
            DatabasePlace::File(_) => BUSY,
            DatabasePlace::Server(..) => Duration::from_secs(20),
        };
        store::open_at(&place, true, patience).await.unwrap()
    }
}

/// SQLite files in a folder that is removed with this.
pub struct Sqlite(TempDir);

impl Sqlite {
    pub fn new() -> Self {
        Self(TempDir::new().unwrap())
    }
}

impl Backend for Sqlite {
    async fn place(&self, name: &str) -> DatabasePlace {
        DatabasePlace::File(self.0.path().join(name))
    }
}

/// Databases of one test on a PostgreSQL server.
pub struct Postgres {
    server: &'static Server,
    /// What the names of these databases begin with, and those of no other test.
    prefix: String,
}

impl Postgres {
    /// New databases on the server that all tests of this process share. `None`, with the reason on standard
    /// error, where PostgreSQL is not installed.
    pub fn shared() -> Option<Self> {
        let server = Server::shared()?;
        let prefix = server.unused_name();
        Some(Self { server, prefix })
    }
}

impl Backend for Postgres {
    async fn place(&self, name: &str) -> DatabasePlace {
        let name = format!("{}_{name}", self.prefix);
        self.server.create(&name).await;
        self.server.place(&name)
    }
}
