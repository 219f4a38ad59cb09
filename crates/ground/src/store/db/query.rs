//! Statements with their parameters, statements that write many rows of one table, and the only kind of write: a
//! transaction that holds a lock of the database. If a write fails, its connection is closed and not used again.

use std::{
    borrow::Cow,
    fmt::Display,
    ops::{Deref, DerefMut},
    sync::Arc,
};

use futures_util::{FutureExt, future::BoxFuture};
use serde::{Serialize, Serializer, ser::SerializeMap};
use tokio::time::Instant;

use crate::{
    model::{Timestamp, text::to_hex},
    store::{
        Store, StoreError, StoreMetrics,
        db::{
            row::{Statement, StatementResult},
            *,
        },
        sqlite::Watch,
    },
};

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
    /// The files of an SQLite database: nothing is committed, and no commit is acknowledged, if one was taken away.
    pub watch: Option<Arc<Watch>>,
}

impl Write {
    /// Makes a write on a connection for which the caller has waited since `began`. The caller begins the transaction.
    pub fn new(connection: PooledConnection, began: Instant, metrics: &Arc<StoreMetrics>) -> Self {
        Self {
            connection,
            finished: false,
            began,
            metrics: metrics.clone(),
            watch: None,
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
    /// connection is lost, or a file of the database was just taken away, the write may be permanent or not. Wakes none of the tasks that wait for changes of
    /// weights: those are committed by the [store](crate::store::Store).
    pub async fn commit(mut self) -> Result<(), StoreError> {
        self.check_files()?;
        self.execute_text("COMMIT").await?;
        self.finished = true;
        self.metrics.written(self.began.elapsed().as_secs_f64());
        self.check_files()
    }

    fn check_files(&self) -> Result<(), StoreError> {
        self.watch.as_ref().map_or(Ok(()), |watch| watch.check())
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

/// The most rows of one statement: at most 18 values each, far below SQLite's limit of 32,766 parameters.
pub(in crate::store) const ROWS: usize = 1_000;
/// The same on SQLite, for a statement that is prepared once for each number of rows.
const SQLITE_ROWS: usize = 256;

/// A table, and the columns that rows have a value for.
#[derive(Clone, Copy, Debug)]
pub(in crate::store) struct Target {
    table: &'static str,
    /// Their names, separated by commas.
    columns: &'static str,
    /// Those by which a row is replaced that exists; none if its existence is an error.
    key: &'static str,
}

impl Target {
    pub const fn new(table: &'static str, columns: &'static str) -> Self {
        let key = "";
        Self {
            table,
            columns,
            key,
        }
    }

    /// A row that has the same values in these columns as one that exists replaces that one.
    pub const fn replacing(self, key: &'static str) -> Self {
        Self { key, ..self }
    }

    /// The part of a statement that says so.
    fn replaced(self, dialect: Dialect) -> String {
        if self.key.is_empty() {
            return String::new();
        }
        let key = names(self.key).map(|name| match name {
            "ruleset" => unique_ruleset(dialect),
            name => name,
        });
        let key: Vec<&str> = key.collect();
        let others = names(self.columns).filter(|name| !names(self.key).any(|own| own == *name));
        let others: Vec<String> = others
            .map(|name| format!("{name} = excluded.{name}"))
            .collect();
        let (key, others) = (key.join(", "), others.join(", "));
        format!(" ON CONFLICT ({key}) DO UPDATE SET {others}")
    }

    /// These rows as a JSON array.
    pub fn json(self, rows: impl Iterator<Item = Vec<SqlValue>>) -> Result<String, StoreError> {
        json(self.columns, &rows.collect::<Vec<_>>())
    }
}

/// Writes any number of rows. The statement ends with what is done about rows that exist already, if that is something else
/// than what the target says.
pub(in crate::store) fn insert<'a>(
    tx: &'a mut PooledConnection,
    target: Target,
    end: &'static str,
    rows: impl Iterator<Item = Vec<SqlValue>> + Send + 'a,
) -> BoxFuture<'a, Result<(), StoreError>> {
    let written = write(tx, target, end, rows);
    written.map(|written| written.map(drop)).boxed()
}

/// Writes rows as [`insert`] does, and returns what the end of the statement returns for each, in no particular order.
pub(in crate::store) fn write<'a>(
    tx: &'a mut PooledConnection,
    target: Target,
    end: &'static str,
    rows: impl Iterator<Item = Vec<SqlValue>> + Send + 'a,
) -> BoxFuture<'a, Result<Vec<Row>, StoreError>> {
    in_statements(tx, rows, move |dialect, rows| {
        statement(dialect, target, end, rows)
    })
    .boxed()
}

/// Executes the statement that `build` makes of some rows until there are no more. Returns the rows that they return.
async fn in_statements(
    tx: &mut PooledConnection,
    mut rows: impl Iterator<Item = Vec<SqlValue>> + Send,
    build: impl Fn(Dialect, Vec<Vec<SqlValue>>) -> Result<Query, StoreError> + Send,
) -> Result<Vec<Row>, StoreError> {
    let (dialect, mut returned) = (tx.dialect(), Vec::new());
    let mut some = Vec::new().into_iter();
    let mut next = || {
        if some.len() == 0 {
            some = rows.by_ref().take(ROWS).collect::<Vec<_>>().into_iter();
        }
        let count = match some.len() {
            0 => return Ok(None),
            left => statement_rows(dialect, left),
        };
        build(dialect, some.by_ref().take(count).collect()).map(Some)
    };
    let mut statement = next()?;
    while let Some(this) = statement.take() {
        let mut running = this.fetch_all(&mut *tx);
        // The first look hands the statement to the database, which executes it while the next one is made.
        let early = (&mut running).now_or_never();
        statement = next()?;
        returned.extend(match early {
            Some(answer) => answer?,
            None => running.await?,
        });
    }
    Ok(returned)
}

/// How many of the rows that are `left` the next statement has. On SQLite a power of two, so that there are few different
/// statements: preparing one takes longer than executing it.
fn statement_rows(dialect: Dialect, left: usize) -> usize {
    match dialect {
        Dialect::Sqlite => 1 << left.clamp(1, SQLITE_ROWS).ilog2(),
        Dialect::Postgres => left,
    }
}

/// The statement that writes these rows. PostgreSQL gets them as one parameter: it would parse a list of values anew for
/// each number of rows.
fn statement(
    dialect: Dialect,
    target: Target,
    end: &str,
    rows: Vec<Vec<SqlValue>>,
) -> Result<Query, StoreError> {
    let Target { table, columns, .. } = target;
    let clause = format!("INSERT INTO {table} ({columns}) ");
    let end = format!("{}{end}", target.replaced(dialect));
    match dialect {
        Dialect::Sqlite => Ok(sql(format!("{clause}{}{end}", values_text(&rows)))
            .bind_all(rows.into_iter().flatten())),
        Dialect::Postgres => {
            let rows = json(columns, &rows)?;
            let text = format!(
                "{clause}SELECT {columns} FROM json_populate_recordset(NULL::{table}, $1::json){end}"
            );
            Ok(sql(text).bind(rows))
        }
    }
}

impl Store {
    /// Deletes the rows of a table of which `old` is true, where $1 is this time. Writes nothing if there are none. Returns
    /// how many there were.
    pub(in crate::store) async fn delete_old(
        &self,
        table: &'static str,
        old: &'static str,
        before: Timestamp,
    ) -> Result<u64, StoreError> {
        let any = scalar(format!("SELECT EXISTS (SELECT 1 FROM {table} WHERE {old})"));
        if !any.bind(before).fetch_one(&self.readers).await? {
            return Ok(0);
        }
        let mut tx = self.begin_alone().await?;
        let delete = sql(format!("DELETE FROM {table} WHERE {old}"));
        let done = delete.bind(before).execute(&mut tx).await?;
        tx.commit().await?;
        Ok(done)
    }
}

/// How unique indexes contain rulesets. The name of one may be longer than what an index of PostgreSQL can hold.
fn unique_ruleset(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Sqlite => "ruleset",
        Dialect::Postgres => "md5(ruleset)",
    }
}

/// The clause `VALUES` for as many rows as these, with a parameter for each value.
fn values_text(rows: &[Vec<SqlValue>]) -> String {
    let row = vec!["?"; rows.first().map_or(0, Vec::len)].join(", ");
    let rows = vec![format!("({row})"); rows.len()];
    format!("VALUES {}", rows.join(", "))
}

/// Executes a statement that reads rows as the table `given`, which is written `{given}` in it and has these columns,
/// each with its type; `{ruleset}` stands for [a ruleset in a unique index](unique_ruleset). Returns the rows that the
/// statement returns. Without rows, does nothing.
pub(in crate::store) fn with_given<'a>(
    tx: &'a mut PooledConnection,
    columns: &'static str,
    text: &'static str,
    rows: impl Iterator<Item = Vec<SqlValue>>,
) -> BoxFuture<'a, Result<Vec<Row>, StoreError>> {
    let rows: Vec<Vec<SqlValue>> = rows.collect();
    in_statements(tx, rows.into_iter(), move |dialect, rows| {
        given(dialect, columns, text, rows)
    })
    .boxed()
}

/// The statement of [`with_given`] for these rows. Further parameters of PostgreSQL follow them.
pub(in crate::store) fn given(
    dialect: Dialect,
    columns: &'static str,
    text: &str,
    rows: Vec<Vec<SqlValue>>,
) -> Result<Query, StoreError> {
    let text = text.replace("{ruleset}", unique_ruleset(dialect));
    match dialect {
        Dialect::Sqlite => {
            let names = names(columns).zip(1..);
            let names: Vec<String> = names
                .map(|(name, at)| format!("column{at} AS {name}"))
                .collect();
            let (names, values) = (names.join(", "), values_text(&rows));
            let table = format!("(SELECT {names} FROM ({values})) AS given");
            Ok(sql(text.replace("{given}", &table)).bind_all(rows.into_iter().flatten()))
        }
        Dialect::Postgres => {
            let table = format!("json_to_recordset($1::json) AS given({columns})");
            Ok(sql(text.replace("{given}", &table)).bind(json(columns, &rows)?))
        }
    }
}

/// Rows as a JSON array.
fn json(columns: &'static str, rows: &[Vec<SqlValue>]) -> Result<String, StoreError> {
    let rows: Vec<JsonRow<'_>> = rows.iter().map(|row| JsonRow(columns, row)).collect();
    serde_json::to_string(&rows).map_err(|error| StoreError::BadValue(format!("rows: {error}")))
}

/// The names of columns that are separated by commas, without their types.
fn names(columns: &'static str) -> impl Iterator<Item = &'static str> {
    let columns = columns.split(',');
    columns.map(|column| column.split_whitespace().next().unwrap_or_default())
}

/// The values of a row by the names of its columns.
struct JsonRow<'a>(&'static str, &'a [SqlValue]);

impl Serialize for JsonRow<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(columns, values) = self;
        let mut map = serializer.serialize_map(Some(values.len()))?;
        for (column, value) in names(columns).zip(*values) {
            map.serialize_key(column)?;
            match value {
                SqlValue::Int(value) => map.serialize_value(value)?,
                SqlValue::Bool(value) => map.serialize_value(value)?,
                SqlValue::Real(value) => map.serialize_value(value)?,
                SqlValue::Text(value) => map.serialize_value(&value.clone().map(without_nul))?,
                SqlValue::Bytes(value) => {
                    map.serialize_value(
                        &value
                            .as_deref()
                            .map(|bytes| format!("\\x{}", to_hex(bytes))),
                    )?;
                }
            }
        }
        map.end()
    }
}
