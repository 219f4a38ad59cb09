//! [`Content`] for both databases.

use async_trait::async_trait;
use futures_util::{StreamExt, TryStreamExt};
use sha2::{Digest, Sha256};
use sqlx::{AssertSqlSafe, Database, QueryBuilder, Row, query::Query, query_builder::Separated};

use super::{Db, DbConnection, DbRow, DbStore, DbWrite, content, insert::ROWS};
use crate::{
    domain::to_hex,
    store::{
        StoreError,
        transfer::{Claim, Column, ColumnKind, Content, Locked, Rows, Table, TransferMark, Value},
    },
};

/// A write that lasts as long as the transfer; all other writers wait for it.
struct Writing {
    store: DbStore,
    tx: DbWrite,
}

#[async_trait]
impl Content for DbStore {
    async fn claim(&self) -> Result<Option<Claim>, StoreError> {
        content::claim(self).await
    }

    async fn lock(&self) -> Result<Box<dyn Locked>, StoreError> {
        let mut tx = self.begin().await?;
        content::hold(&mut tx).await?;
        let store = self.clone();
        Ok(Box::new(Writing { store, tx }))
    }

    async fn mark(&self) -> Result<Option<TransferMark>, StoreError> {
        let query = sqlx::query("SELECT source, next, last_key FROM unfinished_transfer");
        let row = query.fetch_optional(&self.readers).await?;
        row.as_ref().map(mark_of).transpose()
    }

    async fn moved_to(&self) -> Result<Option<String>, StoreError> {
        let query = sqlx::query_scalar("SELECT place FROM moved");
        Ok(query.fetch_optional(&self.readers).await?)
    }

    fn fit(&self, value: &mut Value) {
        content::fit(value);
    }
}

#[async_trait]
impl Locked for Writing {
    async fn count(&mut self, table: &str) -> Result<u64, StoreError> {
        let count = format!("SELECT count(*) FROM {table}");
        let count = sqlx::query_scalar(AssertSqlSafe(count));
        let count: i64 = count.fetch_one(&mut *self.tx).await?;
        Ok(u64::try_from(count).unwrap_or(0))
    }

    async fn columns(&mut self, table: &str) -> Result<Vec<Column>, StoreError> {
        let query = sqlx::query_as(content::COLUMNS).bind(table);
        let columns: Vec<(String, String)> = query.fetch_all(&mut *self.tx).await?;
        let column = |(name, declared): (String, String)| Column::new(name, &declared);
        columns.into_iter().map(column).collect()
    }

    fn rows<'a>(
        &'a mut self,
        table: &Table,
        columns: &'a [Column],
        after: Option<&[Value]>,
    ) -> Rows<'a> {
        let key = table.key.join(", ");
        let later = after.map(|_| {
            let numbers = 1..=table.key.len();
            let parameters: Vec<String> = numbers.map(|number| format!("${number}")).collect();
            format!("WHERE ({key}) > ({})", parameters.join(", "))
        });
        let later = later.unwrap_or_default();
        let (names, name) = (names(columns), table.name);
        let select = format!("SELECT {names} FROM {name} {later} ORDER BY {key}");
        let query = after
            .unwrap_or_default()
            .iter()
            .fold(sqlx::query(AssertSqlSafe(select)), bind_key);
        values(&mut self.tx, query, columns)
    }

    fn all_rows<'a>(&'a mut self, table: &Table, columns: &'a [Column]) -> Rows<'a> {
        let select = format!("SELECT {} FROM {}", names(columns), table.name);
        let query = sqlx::query(AssertSqlSafe(select));
        values(&mut self.tx, query, columns)
    }

    async fn insert(
        &mut self,
        table: &str,
        columns: &[Column],
        rows: &[Vec<Value>],
    ) -> Result<(), StoreError> {
        let clause = format!("INSERT INTO {table} ({}) ", names(columns));
        for chunk in rows.chunks(ROWS) {
            let mut query = QueryBuilder::new(&clause);
            query.push_values(chunk, |mut row, values| {
                for (column, value) in columns.iter().zip(values) {
                    push(&mut row, column.kind, value);
                }
            });
            query.build().execute(&mut *self.tx).await?;
        }
        Ok(())
    }

    async fn clear(&mut self, table: &str) -> Result<(), StoreError> {
        let delete = AssertSqlSafe(format!("DELETE FROM {table}"));
        sqlx::query(delete).execute(&mut *self.tx).await?;
        Ok(())
    }

    async fn last_number(&mut self, table: &str, column: &str) -> Result<i64, StoreError> {
        let highest = format!("SELECT coalesce(max({column}), 0) FROM {table}");
        let highest = sqlx::query_scalar(AssertSqlSafe(highest));
        let highest: i64 = highest.fetch_one(&mut *self.tx).await?;
        let counted = content::last_number(&mut self.tx, table, column).await?;
        Ok(highest.max(counted))
    }

    async fn set_last_number(
        &mut self,
        table: &str,
        column: &str,
        last: i64,
    ) -> Result<(), StoreError> {
        match last {
            ..1 => Ok(()),
            _ => content::set_last_number(&mut self.tx, table, column, last).await,
        }
    }

    async fn identity(&mut self) -> Result<String, StoreError> {
        let key = sqlx::query_scalar("SELECT key FROM handle_key");
        let key: Vec<u8> = key.fetch_one(&mut *self.tx).await?;
        Ok(to_hex(&Sha256::digest(key)))
    }

    async fn set_mark(&mut self, mark: Option<&TransferMark>) -> Result<(), StoreError> {
        let Some(mark) = mark else {
            return self.clear("unfinished_transfer").await;
        };
        let last_key = mark.last_key.as_ref().map(serde_json::to_string);
        let last_key = last_key.transpose().map_err(unreadable)?;
        let query = sqlx::query(
            "INSERT INTO unfinished_transfer (id, source, next, last_key) VALUES (1, $1, $2, $3)
             ON CONFLICT (id) DO UPDATE SET source = excluded.source, next = excluded.next,
                 last_key = excluded.last_key",
        );
        let query = query.bind(&mark.source).bind(&mark.next).bind(last_key);
        query.execute(&mut *self.tx).await?;
        Ok(())
    }

    async fn set_moved(&mut self, to: Option<&str>) -> Result<(), StoreError> {
        self.clear("moved").await?;
        if let Some(to) = to {
            let query = sqlx::query("INSERT INTO moved (id, place) VALUES (1, $1)").bind(to);
            query.execute(&mut *self.tx).await?;
        }
        Ok(())
    }

    async fn commit(self: Box<Self>) -> Result<(), StoreError> {
        self.store.commit(self.tx).await
    }
}

fn names(columns: &[Column]) -> String {
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    names.join(", ")
}

type OneQuery<'q> = Query<'q, Db, <Db as Database>::Arguments>;

/// Binds a value of a key.
fn bind_key<'q>(query: OneQuery<'q>, value: &Value) -> OneQuery<'q> {
    match value {
        Value::Null => query.bind(None::<i64>),
        Value::Int(number) => query.bind(*number),
        Value::Real(bits) => query.bind(f64::from_bits(*bits)),
        Value::Text(text) => query.bind(text.clone()),
        Value::Bytes(bytes) => query.bind(bytes.clone()),
    }
}

/// Adds a value to a row that is inserted. A value of another kind than the column becomes NULL, and is found
/// when the two sides are compared.
fn push(row: &mut Separated<'_, Db, &'static str>, kind: ColumnKind, value: &Value) {
    let number = match value {
        Value::Int(number) => Some(*number),
        _ => None,
    };
    match (kind, value) {
        (ColumnKind::Int, _) => row.push_bind(number),
        (ColumnKind::Bool, _) => row.push_bind(number.map(|number| number != 0)),
        (ColumnKind::Real, Value::Real(bits)) => row.push_bind(f64::from_bits(*bits)),
        (ColumnKind::Real, _) => row.push_bind(None::<f64>),
        (ColumnKind::Text, Value::Text(text)) => row.push_bind(text.clone()),
        (ColumnKind::Text, _) => row.push_bind(None::<String>),
        (ColumnKind::Bytes, Value::Bytes(bytes)) => row.push_bind(bytes.clone()),
        (ColumnKind::Bytes, _) => row.push_bind(None::<Vec<u8>>),
    };
}

/// The rows of a query in the form that both databases have in common.
fn values<'a>(tx: &'a mut DbConnection, query: OneQuery<'a>, columns: &'a [Column]) -> Rows<'a> {
    let rows = query.fetch(tx).map_err(StoreError::from);
    rows.and_then(move |row| std::future::ready(read(&row, columns)))
        .boxed()
}

fn read(row: &DbRow, columns: &[Column]) -> Result<Vec<Value>, StoreError> {
    let columns = columns.iter().enumerate();
    let value = |(at, column): (usize, &Column)| -> Result<Value, StoreError> {
        let value = match column.kind {
            ColumnKind::Int => row.try_get::<Option<i64>, _>(at)?.map(Value::Int),
            ColumnKind::Bool => {
                let truth: Option<bool> = row.try_get(at)?;
                truth.map(|truth| Value::Int(i64::from(truth)))
            }
            ColumnKind::Real => {
                let number: Option<f64> = row.try_get(at)?;
                number.map(|number| Value::Real(number.to_bits()))
            }
            ColumnKind::Text => row.try_get::<Option<String>, _>(at)?.map(Value::Text),
            ColumnKind::Bytes => row.try_get::<Option<Vec<u8>>, _>(at)?.map(Value::Bytes),
        };
        Ok(value.unwrap_or(Value::Null))
    };
    columns.map(value).collect()
}

fn mark_of(row: &DbRow) -> Result<TransferMark, StoreError> {
    let last_key: Option<String> = row.try_get("last_key")?;
    let last_key = last_key.map(|key| serde_json::from_str(&key));
    Ok(TransferMark {
        source: row.try_get("source")?,
        next: row.try_get("next")?,
        last_key: last_key.transpose().map_err(unreadable)?,
    })
}

fn unreadable(error: serde_json::Error) -> StoreError {
    StoreError::BadValue(format!("the key of a row: {error}"))
}
