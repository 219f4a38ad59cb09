//! Writes many rows of one table with few statements.

use futures_util::{FutureExt, future::BoxFuture};
use serde::{Serialize, Serializer, ser::SerializeMap};

use crate::{
    model::{Timestamp, to_hex},
    store::{Store, StoreError, db::*, postgres::without_nul},
};

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
