//! One interface to both databases: statements, their values and rows, connections and transactions.
//!
//! The rest of the room uses only this module to talk to a database, so that each query is written and compiled once.
//! Both databases understand every statement of the room. The rules for that:
//!
//! - A parameter is `$1`, and each that is bound is used.
//! - Integers have 64 bits in a row; [`Row::get`] makes smaller ones of them. Truth values are `bool`.
//! - A [`Timestamp`](crate::model::Timestamp) is a text, which sorts as the times do; `julianday` makes a number of it.
//! - `ON CONFLICT … DO` states what happens to rows that exist. Inside it, columns are named with their table.
//! - A sum of integers is `CAST(sum(…) AS BIGINT)`, and nothing else is cast to an integer, because SQLite cuts off
//!   where PostgreSQL rounds.
//! - PostgreSQL stores no NUL in a text: it gets U+FFFD instead.
//! - What only one database has, is in the module of that database, or behind a [`Dialect`].

pub(super) mod query;
mod row;

pub(super) use query::{Executor, Query, Sql, Write, moved_to, scalar, sql, tuple};
pub(super) use row::{At, FromColumn, FromRow, Row, SqlValue, bad, columns, made, values};

use std::{borrow::Cow, collections::HashSet, sync::Arc, time::Duration};

use futures_util::{
    FutureExt, StreamExt, TryStreamExt,
    future::{self, BoxFuture},
    stream::{BoxStream, once, unfold},
};
use sqlx::{
    Arguments, AssertSqlSafe, Database, Either, Error, Executor as _, Postgres, Sqlite, SqlitePool,
    Transaction, pool::PoolConnection, postgres::PgRow, sqlite::SqliteRow,
};
use tokio::time::timeout;

use crate::{
    model::{Kind, MatchRecord, Participant, access::Holder},
    store::{
        StoreError,
        db::row::{Statement, StatementResult},
        postgres::ServerPool,
        sqlite::Watch,
    },
};

/// Which database a statement is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::store) enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    /// The record as this database gives it back.
    pub fn storable(self, record: &MatchRecord) -> Cow<'_, MatchRecord> {
        match self {
            Self::Sqlite => Cow::Borrowed(record),
            Self::Postgres => storable(record),
        }
    }
}

/// Connections of one kind, each of which executes one statement at a time.
#[derive(Clone, Debug)]
pub(in crate::store) enum ConnectionPool {
    /// Opens further connections only as long as the files of the database are in place.
    Sqlite(SqlitePool, Arc<Watch>),
    Postgres(ServerPool),
}

impl ConnectionPool {
    /// Waits for a free connection.
    pub fn acquire(&self) -> BoxFuture<'_, Result<PooledConnection, StoreError>> {
        match self {
            Self::Sqlite(pool, watch) => async {
                let acquired = match watch.check() {
                    Ok(()) => pool.acquire().await?,
                    Err(removed) => pool.try_acquire().ok_or(removed)?,
                };
                Ok(PooledConnection::new(Inner::Sqlite(acquired), None))
            }
            .boxed(),
            Self::Postgres(pool) => async {
                let acquired = Inner::Postgres(pool.acquire().await?);
                Ok(PooledConnection::new(acquired, Some(pool.patience())))
            }
            .boxed(),
        }
    }

    /// Begins to read: all queries see the database as it is at the first of them.
    pub fn snapshot(&self) -> BoxFuture<'_, Result<PooledConnection, StoreError>> {
        match self {
            Self::Sqlite(pool, watch) => async {
                let begun = match watch.check() {
                    Ok(()) => pool.begin().await?,
                    Err(removed) => pool.try_begin().await?.ok_or(removed)?,
                };
                Ok(PooledConnection::new(Inner::SqliteWithin(begun), None))
            }
            .boxed(),
            Self::Postgres(pool) => async {
                let begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
                let begun = Inner::PostgresWithin(pool.begin(begin).await?);
                Ok(PooledConnection::new(begun, Some(pool.patience())))
            }
            .boxed(),
        }
    }

    /// Closes all connections, and waits for those in use.
    pub async fn close(&self) {
        match self {
            Self::Sqlite(pool, _) => pool.close().await,
            Self::Postgres(pool) => pool.close().await,
        }
    }
}

/// A connection that is given back to its pool when it is dropped. Each part of a server's answer must arrive within
/// a time limit.
#[derive(Debug)]
pub(in crate::store) struct PooledConnection {
    inner: Inner,
    /// The longest time for each part of an answer.
    patience: Option<Duration>,
}

/// A connection outside of a transaction, or in one that its owner ends; or within one that is rolled back when it is
/// dropped.
#[derive(Debug)]
enum Inner {
    Sqlite(PoolConnection<Sqlite>),
    SqliteWithin(Transaction<'static, Sqlite>),
    Postgres(PoolConnection<Postgres>),
    PostgresWithin(Transaction<'static, Postgres>),
}

/// The rows of a statement as they arrive, and how many rows it has changed.
type Steps<'a> = BoxStream<'a, Result<Either<u64, Row>, Error>>;
/// The rows of a statement as they arrive.
pub(in crate::store) type Rows<'a> = BoxStream<'a, Result<Row, StoreError>>;

impl PooledConnection {
    fn new(inner: Inner, patience: Option<Duration>) -> Self {
        Self { inner, patience }
    }

    /// Which database this is.
    pub fn dialect(&self) -> Dialect {
        match self.inner {
            Inner::Sqlite(_) | Inner::SqliteWithin(_) => Dialect::Sqlite,
            Inner::Postgres(_) | Inner::PostgresWithin(_) => Dialect::Postgres,
        }
    }

    /// Closes the connection when it is dropped, instead of giving it back to the pool.
    pub fn close_on_drop(&mut self) {
        match &mut self.inner {
            Inner::Sqlite(connection) => connection.close_on_drop(),
            Inner::Postgres(connection) => connection.close_on_drop(),
            Inner::SqliteWithin(_) | Inner::PostgresWithin(_) => {}
        }
    }

    /// Waits for each part of an answer for up to this time, until the connection is given back.
    pub fn be_patient(&mut self, patience: Duration) {
        self.patience = self.patience.map(|_| patience);
    }

    /// Executes SQL that has no parameters, and may be several statements. Returns the rows of all.
    pub async fn execute_text(&mut self, text: &'static str) -> Result<Vec<Row>, StoreError> {
        let rows = match &mut self.inner {
            Inner::Sqlite(connection) => sqlite_rows(connection, text),
            Inner::SqliteWithin(transaction) => sqlite_rows(transaction, text),
            Inner::Postgres(connection) => postgres_rows(connection, text),
            Inner::PostgresWithin(transaction) => postgres_rows(transaction, text),
        };
        let rows = limited(rows, self.patience);
        let rows = rows.try_filter_map(|row| future::ready(Ok(row)));
        Ok(rows.try_collect().await?)
    }

    /// The rows of a statement, one after the other.
    pub fn stream(&mut self, statement: Statement) -> Rows<'_> {
        let rows = self.steps(statement).map_err(StoreError::from);
        let rows = rows.try_filter_map(|step| future::ready(Ok(step.right())));
        rows.boxed()
    }

    async fn run(&mut self, statement: Statement) -> Result<StatementResult, StoreError> {
        let mut steps = self.steps(statement);
        let mut answer = StatementResult::default();
        while let Some(step) = steps.try_next().await? {
            match step {
                Either::Left(changed) => answer.changed += changed,
                Either::Right(row) => answer.rows.push(row),
            }
        }
        Ok(answer)
    }

    fn steps(&mut self, statement: Statement) -> Steps<'_> {
        let steps = match &mut self.inner {
            Inner::Sqlite(connection) => sqlite_steps(connection, statement),
            Inner::SqliteWithin(transaction) => sqlite_steps(transaction, statement),
            Inner::Postgres(connection) => postgres_steps(connection, statement),
            Inner::PostgresWithin(transaction) => postgres_steps(transaction, statement),
        };
        limited(steps, self.patience)
    }
}

fn sqlite_rows<'a>(
    connection: &'a mut <Sqlite as Database>::Connection,
    text: &'static str,
) -> BoxStream<'a, Result<Option<Row>, Error>> {
    let row = |step: Either<_, SqliteRow>| step.right().map(Row::Sqlite);
    connection.fetch_many(text).map_ok(row).boxed()
}

fn postgres_rows<'a>(
    connection: &'a mut <Postgres as Database>::Connection,
    text: &'static str,
) -> BoxStream<'a, Result<Option<Row>, Error>> {
    let row = |step: Either<_, PgRow>| step.right().map(Row::Postgres);
    connection.fetch_many(text).map_ok(row).boxed()
}

/// Ends a stream with an error if its next item takes longer than this.
fn limited<'a, T: Send + 'a>(
    steps: BoxStream<'a, Result<T, Error>>,
    patience: Option<Duration>,
) -> BoxStream<'a, Result<T, Error>> {
    let Some(patience) = patience else {
        return steps;
    };
    let next = move |steps: Option<BoxStream<'a, Result<T, Error>>>| async move {
        let mut steps = steps?;
        match timeout(patience, steps.next()).await {
            Ok(Some(Ok(step))) => Some((Ok(step), Some(steps))),
            Ok(Some(Err(error))) => Some((Err(error), None)),
            Ok(None) => None,
            Err(_) => Some((Err(Error::PoolTimedOut), None)),
        }
    };
    unfold(Some(steps), next).boxed()
}

fn sqlite_steps(
    connection: &mut <Sqlite as Database>::Connection,
    statement: Statement,
) -> Steps<'_> {
    let mut arguments = <Sqlite as Database>::Arguments::default();
    let added = statement
        .values
        .into_iter()
        .try_for_each(|value| match value {
            SqlValue::Int(value) => arguments.add(value),
            SqlValue::Bool(value) => arguments.add(value),
            SqlValue::Real(value) => arguments.add(value),
            SqlValue::Text(value) => arguments.add(value),
            SqlValue::Bytes(value) => arguments.add(value),
        });
    if let Err(error) = added {
        return once(future::ready(Err(Error::Encode(error)))).boxed();
    }
    let text = match statement.is_built {
        true => without_numbers(&statement.text).into(),
        false => statement.text,
    };
    let query = sqlx::query_with(AssertSqlSafe(text), arguments).persistent(statement.persistent);
    let step = |step: Either<<Sqlite as Database>::QueryResult, _>| {
        step.map_left(|done| done.rows_affected())
            .map_right(Row::Sqlite)
    };
    connection.fetch_many(query).map_ok(step).boxed()
}

/// The text with `?` for each parameter, if these are numbered as they come. SQLite searches the list of all names
/// and numbers for each of them, so that thousands of parameters take longer than all the rest of the statement.
fn without_numbers(text: &str) -> String {
    let mut parts = text.split('$');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for (number, part) in (1_usize..).zip(parts) {
        let end = part.find(|c: char| !c.is_ascii_digit());
        let (own, rest) = part.split_at(end.unwrap_or(part.len()));
        if own.parse() != Ok(number) {
            return text.replace('$', "?");
        }
        plain.push('?');
        plain.push_str(rest);
    }
    plain
}

fn postgres_steps(
    connection: &mut <Postgres as Database>::Connection,
    statement: Statement,
) -> Steps<'_> {
    let mut arguments = <Postgres as Database>::Arguments::default();
    let added = statement
        .values
        .into_iter()
        .try_for_each(|value| match value {
            SqlValue::Int(value) => arguments.add(value),
            SqlValue::Bool(value) => arguments.add(value),
            SqlValue::Real(value) => arguments.add(value),
            SqlValue::Text(value) => arguments.add(value.map(without_nul)),
            SqlValue::Bytes(value) => arguments.add(value),
        });
    if let Err(error) = added {
        return once(future::ready(Err(Error::Encode(error)))).boxed();
    }
    let query =
        sqlx::query_with(AssertSqlSafe(statement.text), arguments).persistent(statement.persistent);
    let step = |step: Either<<Postgres as Database>::QueryResult, _>| {
        step.map_left(|done| done.rows_affected())
            .map_right(Row::Postgres)
    };
    connection.fetch_many(query).map_ok(step).boxed()
}

/// The text with U+FFFD in place of NUL.
pub(in crate::store) fn without_nul(text: String) -> String {
    match text.contains('\0') {
        true => text.replace('\0', "\u{fffd}"),
        false => text,
    }
}

/// The record as it can be stored. Its fingerprint is still that of the record as it came, so that it is known
/// when it comes again.
pub(in crate::store) fn storable(record: &MatchRecord) -> Cow<'_, MatchRecord> {
    let participants = record.participants.iter();
    let own = participants.flat_map(|p| {
        let roles = p.roles.iter().map(|role| &role.name);
        [&p.key.id, &p.name].into_iter().chain(roles)
    });
    let texts = [
        &record.server,
        &record.client,
        &record.map,
        &record.game_type,
        &record.mode,
    ];
    let holder = match &record.too_many_new {
        Some(Holder::Client(name)) => Some(&**name),
        _ => None,
    };
    let texts = texts.into_iter().chain(&record.mutators).chain(own);
    let mut texts = texts.map(String::as_str).chain(holder);
    if !texts.any(|text| text.contains('\0')) {
        return Cow::Borrowed(record);
    }
    let mut record = record.clone();
    let clean = |value: &mut String| *value = without_nul(std::mem::take(value));
    for text in [
        &mut record.server,
        &mut record.client,
        &mut record.map,
        &mut record.game_type,
        &mut record.mode,
    ] {
        clean(text);
    }
    if let Some(Holder::Client(name)) = &mut record.too_many_new {
        *name = without_nul(name.to_string()).into();
    }
    record.mutators.iter_mut().for_each(clean);
    clean_ids(&mut record.participants);
    for participant in &mut record.participants {
        clean(&mut participant.name);
        participant
            .roles
            .iter_mut()
            .for_each(|role| clean(&mut role.name));
    }
    Cow::Owned(record)
}

/// Cleans the identities. One that would then be that of another participant gets further U+FFFD at its end: a match
/// in which somebody is listed twice could not be stored at all.
fn clean_ids(participants: &mut [Participant]) {
    let has_nul = |participant: &&mut Participant| participant.key.id.contains('\0');
    let own = participants.iter().filter(|own| !own.key.id.contains('\0'));
    let mut taken: HashSet<(Kind, String)> =
        own.map(|own| (own.key.kind, own.key.id.clone())).collect();
    for participant in participants.iter_mut().filter(has_nul) {
        let mut id = without_nul(std::mem::take(&mut participant.key.id));
        while !taken.insert((participant.key.kind, id.clone())) {
            id.push('\u{fffd}');
        }
        participant.key.id = id;
    }
}

#[cfg(test)]
mod tests {
    use super::without_numbers;

    #[test]
    fn parameters_in_order_need_no_numbers() {
        let plain = [
            ("VALUES ($1, $2), ($3,$4)", "VALUES (?, ?), (?,?)"),
            ("a = $1 AND b = $1", "a = ?1 AND b = ?1"),
            ("a = $2 AND b = $1", "a = ?2 AND b = ?1"),
            ("SELECT 1", "SELECT 1"),
            ("$1", "?"),
        ];
        for (text, expected) in plain {
            assert_eq!(without_numbers(text), expected);
        }
    }
}
