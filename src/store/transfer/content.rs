//! Access to the whole content of a database, table by table.

use std::{sync::Arc, time::Duration};

use futures_util::{StreamExt, TryStreamExt, stream::BoxStream};
use sha2::{Digest, Sha256};

use super::{Column, ColumnKind, Table, TransferMark, Value, tables::goes_along};
use crate::{
    domain::to_hex,
    store::{
        Lease, Store, StoreError, Taken,
        db::{self, Connection, Dialect, Query, Row, Sql, Write, scalar, sql, tuple},
        packed, postgres,
        sql::{
            numbers::{last_number, set_last_number},
            rows::ROWS,
            state,
        },
    },
};

/// The name of the lease on SQLite, where all leases of a database are held by one process.
const LEASE: &str = "transfer";
/// The longest time of a part of an answer that needs a whole table.
const PATIENCE: Duration = Duration::from_secs(3_600);

/// The states that say how far a transfer to this database is, and where its content was moved to.
const TRANSFER: &str = "transfer";
const MOVED: &str = "moved";

/// Keeps daemons from using a database, where that is possible.
#[derive(Debug)]
pub(super) struct Claim {
    pub _lease: Option<Lease>,
}

impl Store {
    /// Claims the database for this process, so that no daemon can run its queues. `None` if a daemon uses it.
    ///
    /// On PostgreSQL, nothing keeps a daemon from starting later, but it cannot write while the database is locked.
    pub(super) async fn claim(&self) -> Result<Option<Claim>, StoreError> {
        if self.dialect() == Dialect::Postgres {
            let held = scalar("SELECT EXISTS (SELECT 1 FROM leases WHERE ends_at > clock())");
            let held: bool = held.fetch_one(&self.readers).await?;
            return Ok((!held).then_some(Claim { _lease: None }));
        }
        let holder = format!("transfer {}", std::process::id());
        let taken = self.take_lease(LEASE, &holder, Duration::ZERO).await?;
        Ok(match taken {
            Taken::Yes(lease) => Some(Claim {
                _lease: Some(lease),
            }),
            Taken::No { .. } => None,
        })
    }

    /// Waits until no other process writes, and keeps all of them from writing.
    pub(super) async fn lock(self: &Arc<Self>) -> Result<Locked, StoreError> {
        let mut tx = self.begin_alone().await?;
        if tx.dialect() == Dialect::Postgres {
            // The server must not end this transaction while the other database works, or a statement that reads or
            // writes a whole table.
            tx.be_patient(PATIENCE);
            for hold in [
                "SET LOCAL idle_in_transaction_session_timeout = 0",
                "SET LOCAL statement_timeout = 0",
            ] {
                sql(hold).execute(&mut tx).await?;
            }
        }
        let store = self.clone();
        Ok(Locked { store, tx })
    }

    /// How far a transfer to this database is; `None` if there is none.
    pub(in crate::store) async fn mark(&self) -> Result<Option<TransferMark>, StoreError> {
        let mark = state::text(&self.readers, TRANSFER).await?;
        let mark = mark.map(|text| serde_json::from_str(&text));
        mark.transpose().map_err(unreadable)
    }

    /// Where the content of this database was moved to; `None` if it was not.
    pub(in crate::store) async fn moved_to(&self) -> Result<Option<String>, StoreError> {
        state::text(&self.readers, MOVED).await
    }

    /// Changes a value to the one that this database gives back if it is asked to store this one.
    pub(super) fn fit(&self, value: &mut Value) {
        match (self.dialect(), &mut *value) {
            // SQLite stores the number -0 as 0, and what is not a number as NULL.
            (Dialect::Sqlite, Value::Real(bits)) => match f64::from_bits(*bits) {
                number if number.is_nan() => *value = Value::Null,
                0.0 => *bits = 0,
                _ => {}
            },
            (Dialect::Postgres, Value::Text(text)) => {
                *text = postgres::without_nul(std::mem::take(text));
            }
            (Dialect::Postgres, Value::Bytes(bytes)) => {
                if let Some(record) = packed::storable(bytes, postgres::storable) {
                    *bytes = record;
                }
            }
            _ => {}
        }
    }
}

/// A database in which no other process can write. What was written is undone if this is dropped before
/// [`commit`](Self::commit).
pub(super) struct Locked {
    store: Arc<Store>,
    tx: Write,
}

/// The rows of a query, one after the other.
type Rows<'a> = BoxStream<'a, Result<Vec<Value>, StoreError>>;

impl Locked {
    /// The number of rows in a table.
    pub async fn count(&mut self, table: &str) -> Result<u64, StoreError> {
        let count = scalar(format!(
            "SELECT count(*) FROM {table} WHERE {}",
            goes_along(table)
        ));
        count.fetch_one(&mut self.tx).await
    }

    /// The columns of a table, by name.
    pub async fn columns(&mut self, table: &str) -> Result<Vec<Column>, StoreError> {
        let columns = tuple(match self.tx.dialect() {
            Dialect::Sqlite => "SELECT name, type FROM pragma_table_info($1) ORDER BY name",
            Dialect::Postgres => {
                "SELECT CAST(column_name AS TEXT), CAST(data_type AS TEXT)
                 FROM information_schema.columns
                 WHERE table_schema = current_schema() AND table_name = $1
                 ORDER BY CAST(column_name AS TEXT) COLLATE \"C\""
            }
        });
        let columns: Vec<(String, String)> = columns.bind(table).fetch_all(&mut self.tx).await?;
        let column = |(name, declared): (String, String)| Column::new(name, &declared);
        columns.into_iter().map(column).collect()
    }

    /// The rows of a table after the one with this key, in the order of the key.
    pub fn rows<'a>(
        &'a mut self,
        table: &Table,
        columns: &'a [Column],
        after: Option<&[Value]>,
    ) -> Rows<'a> {
        let key = table.key.join(", ");
        let later = after.map(|_| {
            let numbers = 1..=table.key.len();
            let parameters: Vec<String> = numbers.map(|number| format!("${number}")).collect();
            format!("AND ({key}) > ({})", parameters.join(", "))
        });
        let later = later.unwrap_or_default();
        let (names, name) = (names(columns), table.name);
        let some = goes_along(name);
        let query = sql(format!(
            "SELECT {names} FROM {name} WHERE {some} {later} ORDER BY {key}"
        ));
        let after = after.unwrap_or_default().iter();
        let query = query.bind_all(after.map(Value::to_key));
        values(&mut self.tx, query, columns)
    }

    /// The rows of a table, in no particular order.
    pub fn all_rows<'a>(&'a mut self, table: &Table, columns: &'a [Column]) -> Rows<'a> {
        let (names, some) = (names(columns), goes_along(table.name));
        let query = sql(format!("SELECT {names} FROM {} WHERE {some}", table.name));
        values(&mut self.tx, query, columns)
    }

    /// Adds rows with these columns. A value of another kind than its column becomes NULL, and is found when the two
    /// sides are compared.
    pub async fn insert(
        &mut self,
        table: &str,
        columns: &[Column],
        rows: &[Vec<Value>],
    ) -> Result<(), StoreError> {
        let row = |row: &Vec<Value>| -> Vec<db::Value> {
            let values = columns.iter().zip(row);
            values
                .map(|(column, value)| value.to_column(column.kind))
                .collect()
        };
        for chunk in rows.chunks(ROWS) {
            let mut query = Sql::new(format!("INSERT INTO {table} ({}) ", names(columns)));
            query.rows(chunk.iter().map(row));
            query.build().execute(&mut self.tx).await?;
        }
        Ok(())
    }

    /// Removes all rows of a table.
    pub async fn clear(&mut self, table: &str) -> Result<(), StoreError> {
        let delete = sql(format!("DELETE FROM {table} WHERE {}", goes_along(table)));
        delete.execute(&mut self.tx).await.map(drop)
    }

    /// The highest number that was given to a row of a table, also if the row was removed; 0 if there was none.
    pub async fn last_number(&mut self, table: &str, column: &str) -> Result<i64, StoreError> {
        last_number(&mut self.tx, table, column).await
    }

    /// Makes the next row get a number that is higher than this one, if the table counts.
    pub async fn set_last_number(
        &mut self,
        table: &str,
        column: &str,
        last: i64,
    ) -> Result<(), StoreError> {
        set_last_number(&mut self.tx, table, column, last).await
    }

    /// A text that differs between databases, and is the same in all copies of one.
    pub async fn identity(&mut self) -> Result<String, StoreError> {
        let key = state::handle_key(&mut self.tx).await?;
        Ok(to_hex(&Sha256::digest(key)))
    }

    /// Replaces or removes the mark of a transfer to this database.
    pub async fn set_mark(&mut self, mark: Option<&TransferMark>) -> Result<(), StoreError> {
        let Some(mark) = mark else {
            return state::remove(&mut self.tx, TRANSFER).await;
        };
        let text = serde_json::to_string(mark).map_err(unreadable)?;
        state::set(&mut self.tx, TRANSFER, None, Some(&text)).await
    }

    /// Lets the derived tables be written anew.
    pub async fn forget_learned(&mut self) -> Result<(), StoreError> {
        state::remove(&mut self.tx, state::LEARNED).await
    }

    /// Notes where the content of this database is moved to, or that it is used again.
    pub async fn set_moved(&mut self, to: Option<&str>) -> Result<(), StoreError> {
        match to {
            Some(to) => state::set(&mut self.tx, MOVED, None, Some(to)).await,
            None => state::remove(&mut self.tx, MOVED).await,
        }
    }

    /// Makes what was written permanent, and lets others write.
    pub async fn commit(self) -> Result<(), StoreError> {
        self.store.commit(self.tx).await
    }
}

fn names(columns: &[Column]) -> String {
    let names: Vec<&str> = columns.iter().map(|column| column.name.as_str()).collect();
    names.join(", ")
}

/// The rows of a query in the form that both databases have in common.
fn values<'a>(tx: &'a mut Connection, query: Query, columns: &'a [Column]) -> Rows<'a> {
    let rows = tx.stream(query.into_statement());
    rows.and_then(move |row| std::future::ready(read(&row, columns)))
        .boxed()
}

fn read(row: &Row, columns: &[Column]) -> Result<Vec<Value>, StoreError> {
    let columns = columns.iter().enumerate();
    let value = |(at, column): (usize, &Column)| -> Result<Value, StoreError> {
        let value = match column.kind {
            ColumnKind::Int => row.at::<Option<i64>>(at)?.map(Value::Int),
            ColumnKind::Bool => {
                let truth: Option<bool> = row.at(at)?;
                truth.map(|truth| Value::Int(i64::from(truth)))
            }
            ColumnKind::Real => {
                let number: Option<f64> = row.at(at)?;
                number.map(|number| Value::Real(number.to_bits()))
            }
            ColumnKind::Text => row.at::<Option<String>>(at)?.map(Value::Text),
            ColumnKind::Bytes => row.at::<Option<Vec<u8>>>(at)?.map(Value::Bytes),
        };
        Ok(value.unwrap_or(Value::Null))
    };
    columns.map(value).collect()
}

fn unreadable(error: serde_json::Error) -> StoreError {
    StoreError::BadValue(format!("the key of a row: {error}"))
}
