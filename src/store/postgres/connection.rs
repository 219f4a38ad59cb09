//! Connections with a time limit for each answer: a server whose machine has failed sends nothing, not even an error.

use std::{
    future::Future,
    ops::{Deref, DerefMut},
    pin::Pin,
    time::Duration,
};

use futures_util::{
    Stream, StreamExt, TryFutureExt,
    stream::{iter, unfold},
};
use sqlx::{
    Connection, Either, Error, Execute, Executor, PgPool, SqlStr, Transaction,
    pool::PoolConnection,
    postgres::{
        PgConnectOptions, PgConnection, PgPoolOptions, PgQueryResult, PgStatement, PgTypeInfo,
    },
};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::{Db, DbRow};

/// How long a connection may take to become ready again when it is given back to its pool.
const RELEASE: Duration = Duration::from_secs(5);

/// How long a server may take to say why it makes no connection.
const REASON: Duration = Duration::from_secs(1);
/// The pause before a server that is starting, or has no room, is asked again for a connection.
const RETRY: Duration = Duration::from_millis(100);

/// How long a part of an answer may take that needs a whole table.
const LONG_PATIENCE: Duration = Duration::from_secs(3_600);

/// The rows of a statement, and what each statement has done, as they arrive.
type Steps<'e> =
    Pin<Box<dyn Stream<Item = Result<Either<PgQueryResult, DbRow>, Error>> + Send + 'e>>;
/// An answer that is being waited for.
type Answer<'e, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'e>>;

/// Makes a connection of its own. A server that is away, is starting or has no room is asked again, for at most
/// `patience`: what it says then is the error.
pub(super) async fn connect(
    options: &PgConnectOptions,
    patience: Duration,
) -> Result<PgConnection, Error> {
    let deadline = Instant::now() + patience;
    let mut last = Error::PoolTimedOut;
    loop {
        let made = timeout_at(deadline, PgConnection::connect_with(options)).await;
        let error = match made {
            Ok(Ok(connection)) => return Ok(connection),
            Ok(Err(error)) => error,
            // What was said before says more than that there was no answer this time.
            Err(_) => return Err(last),
        };
        let may_pass = match &error {
            // A certificate that is not trusted stays so.
            Error::Io(error) => error.kind() != std::io::ErrorKind::InvalidData,
            Error::Database(error) => error.is_transient_in_connect_phase(),
            _ => false,
        };
        if !may_pass || Instant::now() + RETRY >= deadline {
            return Err(error);
        }
        last = error;
        sleep(RETRY).await;
    }
}

/// The reason why a pool has not given a connection in time. If it could have made one, the server says why not.
pub(super) async fn reason(pool: &PgPool, error: Error) -> Error {
    let has_room = pool.size() < pool.options().get_max_connections();
    if !matches!(error, Error::PoolTimedOut) || !has_room {
        return error;
    }
    let options = pool.connect_options();
    match timeout(REASON, PgConnection::connect_with(&options)).await {
        Ok(Err(said)) => said,
        Ok(Ok(connection)) => {
            let _ = timeout(REASON, connection.close()).await;
            error
        }
        Err(_) => error,
    }
}

/// Connections to one server, each of which executes one statement at a time.
#[derive(Clone, Debug)]
pub(super) struct DbPool {
    inner: PgPool,
    /// The time limit of [`DbConnection`].
    patience: Duration,
}

impl DbPool {
    /// At most `size` connections, which are made when they are needed. A caller waits for one for at most
    /// `wait`, and for each part of an answer for at most `patience`.
    pub fn new(options: PgConnectOptions, size: u32, wait: Duration, patience: Duration) -> Self {
        // A pool with a limit on idle time or lifetime has a task that may never end: it counts idle connections,
        // and the count wraps while one is taken that is just being given back.
        let pool = PgPoolOptions::new()
            .max_connections(size)
            .idle_timeout(None)
            .max_lifetime(None)
            .acquire_timeout(wait);
        // Otherwise a connection that returns to the pool during a statement could wait for the server for ever,
        // and the pool would have one connection less.
        let pool = pool.after_release(|connection, _| {
            Box::pin(async {
                let ready = timeout(RELEASE, connection.ping()).await;
                ready.unwrap_or(Err(Error::PoolTimedOut)).map(|()| true)
            })
        });
        Self {
            inner: pool.connect_lazy_with(options),
            patience,
        }
    }

    /// Waits for a free connection.
    pub async fn acquire(&self) -> Result<Acquired, Error> {
        let acquired = match self.inner.acquire().await {
            Ok(acquired) => acquired,
            Err(error) => return Err(reason(&self.inner, error).await),
        };
        Ok(Acquired(DbConnection {
            inner: Inner::Alone(acquired),
            patience: self.patience,
        }))
    }

    /// Begins a transaction with this statement. Dropping the connection rolls it back.
    pub async fn begin(&self, statement: &'static str) -> Result<Acquired, Error> {
        let pool = self.inner.clone();
        let begun = async move {
            match pool.begin_with(statement).await {
                Ok(begun) => Ok(begun),
                Err(error) => Err(reason(&pool, error).await),
            }
        };
        // A task of its own, which is not dropped before it is done. Otherwise a connection could return to the
        // pool with an open transaction, and show old data to the next reader.
        let task = timeout(self.patience, tokio::spawn(begun));
        let begun = task.await.map_err(|_| Error::PoolTimedOut)?;
        Ok(Acquired(DbConnection {
            inner: Inner::Within(begun.map_err(|_| Error::WorkerCrashed)??),
            patience: self.patience,
        }))
    }

    /// Closes all connections, and waits for those in use.
    pub async fn close(&self) {
        // A server that does not answer ends the connections later.
        let _ = timeout(RELEASE, self.inner.close()).await;
    }
}

/// A connection that is given back to its pool when it is dropped.
#[derive(Debug)]
pub(super) struct Acquired(DbConnection);

impl Acquired {
    /// Makes what was written since [`DbPool::begin`] permanent.
    pub async fn commit(self) -> Result<(), Error> {
        let DbConnection { inner, patience } = self.0;
        match inner {
            Inner::Alone(_) => Ok(()),
            Inner::Within(transaction) => {
                let committed = timeout(patience, transaction.commit()).await;
                committed.unwrap_or(Err(Error::PoolTimedOut))
            }
        }
    }
}

impl Deref for Acquired {
    type Target = DbConnection;

    fn deref(&self) -> &DbConnection {
        &self.0
    }
}

impl DerefMut for Acquired {
    fn deref_mut(&mut self) -> &mut DbConnection {
        &mut self.0
    }
}

/// A connection of a [`DbPool`]. Each part of an answer must arrive within a time limit.
#[derive(Debug)]
pub(super) struct DbConnection {
    inner: Inner,
    patience: Duration,
}

#[derive(Debug)]
enum Inner {
    /// Outside of a transaction, or in one that the owner of the connection ends.
    Alone(PoolConnection<Db>),
    /// In a transaction that is rolled back when it is dropped.
    Within(Transaction<'static, Db>),
}

impl DbConnection {
    /// Closes the connection when it is dropped, instead of giving it back to the pool.
    pub fn close_on_drop(&mut self) {
        if let Inner::Alone(connection) = &mut self.inner {
            connection.close_on_drop();
        }
    }

    /// Waits for each part of an answer for up to an hour, until the connection is given back.
    pub fn be_patient(&mut self) {
        self.patience = LONG_PATIENCE;
    }

    fn raw(&mut self) -> &mut PgConnection {
        match &mut self.inner {
            Inner::Alone(connection) => connection,
            Inner::Within(transaction) => transaction,
        }
    }
}

impl<'c> Executor<'c> for &'c mut DbConnection {
    type Database = Db;

    fn fetch_many<'e, 'q: 'e, E>(self, query: E) -> Steps<'e>
    where
        'c: 'e,
        E: 'q + Execute<'q, Db>,
    {
        let patience = self.patience;
        let steps = Some(self.raw().fetch_many(query));
        Box::pin(unfold(steps, move |steps| async move {
            let mut steps = steps?;
            match timeout(patience, steps.next()).await {
                Ok(Some(Ok(step))) => Some((Ok(step), Some(steps))),
                Ok(Some(Err(error))) => Some((Err(error), None)),
                Ok(None) => None,
                Err(_) => Some((Err(Error::PoolTimedOut), None)),
            }
        }))
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> Answer<'e, Option<DbRow>>
    where
        'c: 'e,
        E: 'q + Execute<'q, Db>,
    {
        let found = timeout(self.patience, self.raw().fetch_optional(query));
        Box::pin(async { found.await.unwrap_or(Err(Error::PoolTimedOut)) })
    }

    fn prepare_with<'e>(self, sql: SqlStr, parameters: &'e [PgTypeInfo]) -> Answer<'e, PgStatement>
    where
        'c: 'e,
    {
        let prepared = timeout(self.patience, self.raw().prepare_with(sql, parameters));
        Box::pin(async { prepared.await.unwrap_or(Err(Error::PoolTimedOut)) })
    }
}

/// Executes a statement on a free connection. All rows are in memory before the first one is returned: the queries
/// of this program ask for no more than they need.
impl<'p> Executor<'p> for &'_ DbPool {
    type Database = Db;

    fn fetch_many<'e, 'q: 'e, E>(self, query: E) -> Steps<'e>
    where
        'p: 'e,
        E: 'q + Execute<'q, Db>,
    {
        let pool = self.clone();
        let steps = async move {
            let mut connection = pool.acquire().await?;
            let steps: Vec<_> = connection.fetch_many(query).collect().await;
            Ok(iter(steps))
        };
        Box::pin(steps.try_flatten_stream())
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> Answer<'e, Option<DbRow>>
    where
        'p: 'e,
        E: 'q + Execute<'q, Db>,
    {
        let pool = self.clone();
        Box::pin(async move { pool.acquire().await?.fetch_optional(query).await })
    }

    fn prepare_with<'e>(self, sql: SqlStr, parameters: &'e [PgTypeInfo]) -> Answer<'e, PgStatement>
    where
        'p: 'e,
    {
        let pool = self.clone();
        Box::pin(async move { pool.acquire().await?.prepare_with(sql, parameters).await })
    }
}
