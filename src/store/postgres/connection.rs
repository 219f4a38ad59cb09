//! Connections with a time limit for each answer: a server whose machine has failed sends nothing, not even an error.

use std::{io, time::Duration};

use sqlx::{
    Connection as _, Error, PgPool, Postgres, Transaction,
    pool::PoolConnection,
    postgres::{PgConnectOptions, PgConnection, PgPoolOptions},
};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::store::StoreError;

/// How long a connection may take to become ready again when it is given back to its pool.
const RELEASE: Duration = Duration::from_secs(5);

/// How long a server may take to say why it makes no connection.
const REASON: Duration = Duration::from_secs(1);
/// The pause before a server that is starting, or has no room, is asked again for a connection.
const RETRY: Duration = Duration::from_millis(100);

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
            Err(_) => return Err(last),
        };
        let may_pass = match &error {
            // A certificate that is not trusted is invalid data.
            Error::Io(error) => error.kind() != io::ErrorKind::InvalidData,
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
pub(in crate::store) struct ServerPool {
    inner: PgPool,
    /// The longest time for each part of an answer.
    patience: Duration,
}

impl ServerPool {
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

    /// The longest time for each part of an answer.
    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// Waits for a free connection.
    pub async fn acquire(&self) -> Result<PoolConnection<Postgres>, StoreError> {
        match self.inner.acquire().await {
            Ok(acquired) => Ok(acquired),
            Err(error) => Err(reason(&self.inner, error).await.into()),
        }
    }

    /// Begins a transaction with this statement. Dropping the connection rolls it back.
    pub async fn begin(
        &self,
        statement: &'static str,
    ) -> Result<Transaction<'static, Postgres>, StoreError> {
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
        Ok(begun.map_err(|_| Error::WorkerCrashed)??)
    }

    /// Closes all connections, and waits for those in use.
    pub async fn close(&self) {
        // A server that does not answer ends the connections later.
        let _ = timeout(RELEASE, self.inner.close()).await;
    }
}
