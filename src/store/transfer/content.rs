//! What a database must be able to do so that its whole content can be transferred.

use async_trait::async_trait;
use futures_util::stream::BoxStream;

use super::{Column, Table, TransferMark, Value};
use crate::store::{Lease, Store, StoreError};

/// Keeps daemons from using a database, where that is possible.
#[derive(Debug)]
pub(in crate::store) struct Claim {
    pub _lease: Option<Lease>,
}

/// Access to the whole content of a database, table by table.
#[async_trait]
pub(in crate::store) trait Content: Store {
    /// Claims the database for this process. `None` if a daemon uses it.
    async fn claim(&self) -> Result<Option<Claim>, StoreError>;

    /// Waits until no other process writes, and keeps all of them from writing.
    async fn lock(&self) -> Result<Box<dyn Locked>, StoreError>;

    /// How far a transfer to this database is; `None` if there is none.
    async fn mark(&self) -> Result<Option<TransferMark>, StoreError>;

    /// Where the content of this database was moved to; `None` if it was not.
    async fn moved_to(&self) -> Result<Option<String>, StoreError>;

    /// Changes a value to the one that this database gives back if it is asked to store this one.
    fn fit(&self, value: &mut Value);
}

/// The rows of a query, one after the other.
pub(in crate::store) type Rows<'a> = BoxStream<'a, Result<Vec<Value>, StoreError>>;

/// A database in which no other process can write. What was written is undone if this is dropped before
/// [`commit`](Self::commit).
#[async_trait]
pub(in crate::store) trait Locked: Send {
    /// The number of rows in a table.
    async fn count(&mut self, table: &str) -> Result<u64, StoreError>;

    /// The columns of a table, by name.
    async fn columns(&mut self, table: &str) -> Result<Vec<Column>, StoreError>;

    /// The rows of a table after the one with this key, in the order of the key.
    fn rows<'a>(
        &'a mut self,
        table: &Table,
        columns: &'a [Column],
        after: Option<&[Value]>,
    ) -> Rows<'a>;

    /// The rows of a table, in no particular order.
    fn all_rows<'a>(&'a mut self, table: &Table, columns: &'a [Column]) -> Rows<'a>;

    /// Adds rows with these columns.
    async fn insert(
        &mut self,
        table: &str,
        columns: &[Column],
        rows: &[Vec<Value>],
    ) -> Result<(), StoreError>;

    /// Removes all rows of a table.
    async fn clear(&mut self, table: &str) -> Result<(), StoreError>;

    /// The highest number that was given to a row of a table, also if the row was removed; 0 if there was none.
    async fn last_number(&mut self, table: &str, column: &str) -> Result<i64, StoreError>;

    /// Makes the next row get a number that is higher than this one.
    async fn set_last_number(
        &mut self,
        table: &str,
        column: &str,
        last: i64,
    ) -> Result<(), StoreError>;

    /// A text that differs between databases, and is the same in all copies of one.
    async fn identity(&mut self) -> Result<String, StoreError>;

    /// Replaces or removes the mark of a transfer to this database.
    async fn set_mark(&mut self, mark: Option<&TransferMark>) -> Result<(), StoreError>;

    /// Notes where the content of this database is moved to, or that it is used again.
    async fn set_moved(&mut self, to: Option<&str>) -> Result<(), StoreError>;

    /// Makes what was written permanent, and lets others write.
    async fn commit(self: Box<Self>) -> Result<(), StoreError>;
}
