//! Statements with their parameters, and the only kind of write: a transaction that holds a lock of the database. If
//! a write fails, its connection is closed and not used again.

use std::{
    borrow::Cow,
    fmt::Display,
    ops::{Deref, DerefMut},
    sync::Arc,
};

use futures_util::{FutureExt, future::BoxFuture};
use tokio::time::Instant;

use super::{
    ConnectionPool, PooledConnection, Row, SqlValue,
    row::{FromColumn, FromRow, Statement, StatementResult},
};
use crate::store::{StoreError, StoreMetrics};

/// A statement, and what its rows are read as.
#[derive(Clone, Debug)]
pub(in crate::store) struct Query<T = Row> {
    statement: Statement,
    read: fn(Row) -> Result<T, StoreError>,
}

/// A statement whose rows are read column by column.
pub(in crate::store) fn sql(text: impl Into<Cow<'static, str>>) -> Query {
    Query::new(text.into(), Vec::new(), Ok)
}

/// A statement whose rows have one column.
pub(in crate::store) fn scalar<T: for<'r> FromColumn<'r>>(
    text: impl Into<Cow<'static, str>>,
) -> Query<T> {
    Query::new(text.into(), Vec::new(), |row| row.at(0))
}

/// A statement whose rows are tuples, or structs of [`columns`](super::columns).
pub(in crate::store) fn tuple<T: FromRow>(text: impl Into<Cow<'static, str>>) -> Query<T> {
    Query::new(text.into(), Vec::new(), |row| T::from_row(&row))
}

impl<T> Query<T> {
    fn new(
        text: Cow<'static, str>,
        values: Vec<SqlValue>,
        read: fn(Row) -> Result<T, StoreError>,
    ) -> Self {
        let statement = Statement {
            is_built: !values.is_empty(),
            text,
            values,
            persistent: true,
        };
        Self { statement, read }
    }

    /// Gives the next parameter its value.
    pub fn bind(mut self, value: impl Into<SqlValue>) -> Self {
        self.statement.values.push(value.into());
        self
    }

    /// Gives the next parameters their values.
    pub fn bind_all(mut self, values: impl IntoIterator<Item = SqlValue>) -> Self {
        self.statement.values.extend(values);
        self
    }

    /// Does not keep the statement prepared: its text is seldom the same.
    pub fn once(mut self) -> Self {
        self.statement.persistent = false;
        self
    }

    /// The statement, without what its rows are read as.
    pub fn into_statement(self) -> Statement {
        self.statement
    }
}

impl<T: Send + 'static> Query<T> {
    /// Executes the statement, and returns how many rows it has changed.
    pub fn execute<'a>(
        self,
        on: impl Into<Executor<'a>>,
    ) -> BoxFuture<'a, Result<u64, StoreError>> {
        let answer = on.into().run(self.statement);
        answer.map(|answer| Ok(answer?.changed)).boxed()
    }

    /// All rows.
    pub fn fetch_all<'a>(
        self,
        on: impl Into<Executor<'a>>,
    ) -> BoxFuture<'a, Result<Vec<T>, StoreError>> {
        let answer = on.into().run(self.statement);
        let read = move |answer: Result<StatementResult, _>| {
            answer?.rows.into_iter().map(self.read).collect()
        };
        answer.map(read).boxed()
    }

    /// The first row; `None` if there is none.
    pub fn fetch_optional<'a>(
        self,
        on: impl Into<Executor<'a>>,
    ) -> BoxFuture<'a, Result<Option<T>, StoreError>> {
        let answer = on.into().run(self.statement);
        let read = move |answer: Result<StatementResult, _>| {
            answer?.rows.into_iter().next().map(self.read).transpose()
        };
        answer.map(read).boxed()
    }

    /// The first row. Fails if there is none.
    pub fn fetch_one<'a>(
        self,
        on: impl Into<Executor<'a>>,
    ) -> BoxFuture<'a, Result<T, StoreError>> {
        let found = self.fetch_optional(on);
        let one = |found: Result<Option<T>, StoreError>| {
            found?.ok_or_else(|| sqlx::Error::RowNotFound.into())
        };
        found.map(one).boxed()
    }
}

/// What a statement is executed on: a connection, or any free one.
pub(in crate::store) enum Executor<'a> {
    Connection(&'a mut PooledConnection),
    Pool(&'a ConnectionPool),
}

impl<'a> From<&'a mut PooledConnection> for Executor<'a> {
    fn from(connection: &'a mut PooledConnection) -> Self {
        Self::Connection(connection)
    }
}

impl<'a> From<&'a ConnectionPool> for Executor<'a> {
    fn from(pool: &'a ConnectionPool) -> Self {
        Self::Pool(pool)
    }
}

impl<'a> Executor<'a> {
    fn run(self, statement: Statement) -> BoxFuture<'a, Result<StatementResult, StoreError>> {
        async {
            match self {
                Self::Connection(connection) => connection.run(statement).await,
                Self::Pool(pool) => pool.acquire().await?.run(statement).await,
            }
        }
        .boxed()
    }
}

/// A statement that is put together of parts.
#[derive(Clone, Debug)]
pub(in crate::store) struct Sql {
    text: String,
    values: Vec<SqlValue>,
}

impl Sql {
    /// A statement that begins like this.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            values: Vec::new(),
        }
    }

    /// The text so far.
    #[cfg(test)]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Adds text.
    pub fn push(&mut self, text: impl AsRef<str>) -> &mut Self {
        self.text.push_str(text.as_ref());
        self
    }

    /// Adds a parameter with its value.
    pub fn push_bind(&mut self, value: impl Into<SqlValue>) -> &mut Self {
        self.values.push(value.into());
        let number = self.values.len().to_string();
        self.push("$").push(number)
    }

    /// Adds a list of parameters in parentheses. It must not be empty: PostgreSQL does not accept that.
    pub fn list<V: Into<SqlValue>>(&mut self, values: impl IntoIterator<Item = V>) -> &mut Self {
        let mut before = "(";
        for value in values {
            self.push(before).push_bind(value);
            before = ", ";
        }
        self.push(")")
    }

    /// Adds `VALUES` and these rows.
    pub fn rows(&mut self, rows: impl IntoIterator<Item = Vec<SqlValue>>) -> &mut Self {
        let mut before = "VALUES ";
        for row in rows {
            self.push(before).list(row);
            before = ", ";
        }
        self
    }

    /// The statement as it is now.
    pub fn build(self) -> Query {
        Query::new(self.text.into(), self.values, Ok)
    }

    /// The same, if its rows are read as [`tuple`] reads them.
    pub fn build_tuple<T: FromRow>(self) -> Query<T> {
        Query::new(self.text.into(), self.values, |row| T::from_row(&row))
    }

    /// The same, if its rows have one column.
    pub fn build_scalar<T: for<'r> FromColumn<'r>>(self) -> Query<T> {
        Query::new(self.text.into(), self.values, |row| row.at(0))
    }
}

/// Reads where the database was moved to: the last statement of those that begin a write.
macro_rules! moved_to {
    () => {
        "SELECT text AS moved_to FROM state WHERE name = 'moved'"
    };
}
pub(in crate::store) use moved_to;

/// A transaction that writes. If it is dropped before [`commit`](Self::commit) or [`abandon`](Self::abandon) has
/// succeeded, it closes its connection, and the database rolls it back.
///
/// When the disk is full or fails, SQLite may end a transaction by itself, and this program cannot see that. On
/// PostgreSQL, a connection that was left during a statement may still get the lock, and must not return to the pool
/// with it. A new connection never has an open transaction.
pub(in crate::store) struct Write {
    connection: PooledConnection,
    finished: bool,
    began: Instant,
    metrics: Arc<StoreMetrics>,
}

impl Write {
    /// Makes a write on a connection for which the caller has waited since `began`. The caller begins the transaction.
    pub fn new(connection: PooledConnection, began: Instant, metrics: &Arc<StoreMetrics>) -> Self {
        Self {
            connection,
            finished: false,
            began,
            metrics: metrics.clone(),
        }
    }

    /// Begins the transaction with `statements`, of which the last one is [`moved_to`]. Rolls it back and fails
    /// if the database was moved to another one, perhaps since this process has opened it: nobody would find what is
    /// written.
    pub async fn begin(
        &mut self,
        statements: &'static str,
        place: &(dyn Display + Sync),
    ) -> Result<(), StoreError> {
        let rows = self.execute_text(statements).await?;
        let Some(to) = rows.iter().find_map(|row| row.get("moved_to").ok()) else {
            return Ok(());
        };
        self.execute_text("ROLLBACK").await?;
        self.finished = true;
        let place = place.to_string();
        Err(StoreError::Moved { place, to })
    }

    /// Counts the write as failed, and keeps the connection: its transaction has not begun.
    pub fn has_not_begun(mut self) {
        self.finished = true;
        self.metrics.failed();
    }

    /// Makes the write permanent: once this has succeeded, the write survives a power cut. If this fails because the
    /// connection is lost, the write may be permanent or not. Wakes none of the tasks that wait for changes of
    /// weights: those are committed by the [store](crate::store::Store).
    pub async fn commit(mut self) -> Result<(), StoreError> {
        self.execute_text("COMMIT").await?;
        self.finished = true;
        self.metrics.written(self.began.elapsed().as_secs_f64());
        Ok(())
    }

    /// Rolls the write back: the database does not change.
    pub async fn abandon(mut self) -> Result<(), StoreError> {
        self.execute_text("ROLLBACK").await?;
        self.finished = true;
        Ok(())
    }
}

impl Deref for Write {
    type Target = PooledConnection;

    fn deref(&self) -> &PooledConnection {
        &self.connection
    }
}

impl DerefMut for Write {
    fn deref_mut(&mut self) -> &mut PooledConnection {
        &mut self.connection
    }
}

impl<'a> From<&'a mut Write> for Executor<'a> {
    fn from(write: &'a mut Write) -> Self {
        Self::Connection(write)
    }
}

impl Drop for Write {
    fn drop(&mut self) {
        if !self.finished {
            self.metrics.failed();
            self.connection.close_on_drop();
        }
    }
}
