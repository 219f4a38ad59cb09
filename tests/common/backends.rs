//! The kinds of databases, so that one test can run on each of them.

use std::{fs, path::Path, sync::Arc, time::Duration};

use evenkeel::store::{self, DatabaseUrl, Store};
use sqlx::{
    ConnectOptions, Connection, FromRow, PgConnection,
    postgres::PgRow,
    sqlite::{SqliteConnectOptions, SqliteRow},
};
use tempfile::TempDir;

use super::{BUSY, postgres::Server};

/// A kind of database. It lives as long as the test.
pub trait Backend {
    /// Where the database of this name is. It is made when it is first asked for.
    async fn place(&self, name: &str) -> DatabaseUrl;

    /// Another handle on the database of this name.
    async fn database(&self, name: &str) -> Arc<Store> {
        open(&self.place(name).await).await
    }
}

async fn open(place: &DatabaseUrl) -> Arc<Store> {
    // A server may be slow while many tests run.
    let patience = match place {
        DatabaseUrl::File(_) => BUSY,
        DatabaseUrl::Server(..) => Duration::from_secs(20),
    };
    store::open_at(place, true, patience).await.unwrap()
}

/// Opens the database of a test that is written for one of them: the SQLite file at this path or, if the variable
/// `EVENKEEL_TEST_STORE` is `postgres`, a database on the server that all tests of this process share.
pub async fn open_chosen(path: &Path) -> Arc<Store> {
    open(&chosen(path).await).await
}

/// Whether [`open_chosen`] opens PostgreSQL databases. A test that needs an SQLite file then returns at once.
pub fn chose_postgres() -> bool {
    std::env::var("EVENKEEL_TEST_STORE").as_deref() == Ok("postgres")
}

/// Where the database of [`open_chosen`] is. The file `*.postgres` has its name.
pub async fn chosen(path: &Path) -> DatabaseUrl {
    if !chose_postgres() {
        return DatabaseUrl::File(path.to_owned());
    }
    let server = Server::shared().expect("a PostgreSQL server");
    let file = path.with_extension("postgres");
    if let Ok(name) = fs::read_to_string(&file) {
        return server.place(&name);
    }
    let name = server.unused_name();
    server.create(&name).await;
    fs::write(file, &name).unwrap();
    server.place(&name)
}

/// The rows of a query that both kinds of databases understand, past the store that has the database open.
pub async fn rows<T>(path: &Path, query: &'static str) -> Vec<T>
where
    T: for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow> + Send + Unpin,
{
    match fs::read_to_string(path.with_extension("postgres")) {
        Ok(name) => {
            let mut connection = Server::shared().unwrap().connect(&name).await;
            let rows = sqlx::query_as(query).fetch_all(&mut connection).await;
            rows.unwrap()
        }
        Err(_) => {
            let options = SqliteConnectOptions::new().filename(path);
            let mut connection = options.connect().await.unwrap();
            let rows = sqlx::query_as(query).fetch_all(&mut connection).await;
            rows.unwrap()
        }
    }
}

/// Executes one of the two texts, by the kind of the database of [`open_chosen`], past the store.
pub async fn execute(path: &Path, sqlite: &'static str, postgres: &'static str) {
    match fs::read_to_string(path.with_extension("postgres")) {
        Ok(name) => {
            let mut connection = Server::shared().unwrap().connect(&name).await;
            let done = sqlx::raw_sql(postgres).execute(&mut connection).await;
            done.unwrap();
        }
        Err(_) => {
            let options = SqliteConnectOptions::new().filename(path);
            let mut connection = options.connect().await.unwrap();
            let done = sqlx::raw_sql(sqlite).execute(&mut connection).await;
            done.unwrap();
            connection.close().await.unwrap();
        }
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
    async fn place(&self, name: &str) -> DatabaseUrl {
        DatabaseUrl::File(self.0.path().join(name))
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

    /// A connection with the database of this name, past the store.
    pub async fn connect(&self, name: &str) -> PgConnection {
        let name = format!("{}_{name}", self.prefix);
        self.server.create(&name).await;
        self.server.connect(&name).await
    }
}

impl Backend for Postgres {
    async fn place(&self, name: &str) -> DatabaseUrl {
        let name = format!("{}_{name}", self.prefix);
        self.server.create(&name).await;
        self.server.place(&name)
    }
}

/// Runs tests, each a function of a [`Backend`], on each kind of database.
#[allow(unused_macros)] // some test binaries have no such tests
macro_rules! on_each_database {
    ($($test:ident)*) => {
        mod sqlite {
            use super::*;
            $(
                #[tokio::test]
                async fn $test() {
                    super::$test(Sqlite::new()).await;
                }
            )*
        }

        mod postgres {
            use super::*;
            $(
                #[tokio::test]
                async fn $test() {
                    if let Some(backend) = Postgres::shared() {
                        super::$test(backend).await;
                    }
                }
            )*
        }
    };
}
#[allow(unused_imports)] // as above
pub(crate) use on_each_database;
