//! Transfers a whole database to another one, of the same kind or of the other.
//!
//! The source is locked against all writers until the end, and the target must be empty. Rows are copied in
//! batches, table after table, in an order in which no row refers to one that is not there yet. Each batch is a
//! transaction of the target, with a mark of how far the transfer is: one that was killed goes on from there.
//! While the target has the mark, nothing else can open it. At the end, both sides are read again and compared.

mod columns;
mod content;
mod error;
mod progress;
mod sums;
mod tables;

use std::{path::Path, sync::Arc, time::Duration};

use futures_util::TryStreamExt;

pub use error::TransferError;
pub use sums::{TableCompared, TableSum};

use super::{DatabaseUrl, Store, StoreError, postgres, sqlite};
use columns::{Column, ColumnKind, Value};
use content::{Claim, Locked};
use progress::TransferMark;
use tables::{FROM_THE_BEGINNING, NUMBERED, TABLES, Table};

/// How many rows are written in one transaction, unless they are large.
const BATCH_ROWS: usize = 10_000;
/// After how many bytes of text a transaction has enough rows.
const BATCH_BYTES: usize = 8 << 20;

/// A transfer that has begun. The source is locked until this is dropped.
pub struct Transfer {
    from: Arc<Store>,
    to: Arc<Store>,
    source: Locked,
    mark: TransferMark,
    batch: usize,
    places: [String; 2],
    /// The target, in a form that is valid in any folder.
    moves_to: String,
    /// The claims of this process on the source and the target, which keep daemons from using them.
    _claims: [Claim; 2],
}

impl std::fmt::Debug for Transfer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Transfer({} -> {})", self.places[0], self.places[1])
    }
}

impl Transfer {
    /// Opens both databases, creates the target if it is a file that does not exist, and locks the source.
    /// `patience` is how long this waits for other processes.
    ///
    /// # Errors
    /// Fails if a daemon uses one of the databases, the target is not empty and not a part of this source, or
    /// a database does.
    pub async fn open(
        from: &DatabaseUrl,
        to: &DatabaseUrl,
        patience: Duration,
    ) -> Result<Self, TransferError> {
        if is_one(from, to) {
            return Err(TransferError::Same);
        }
        let source_store = Arc::new(open(from, false, patience).await?);
        let claim = claim(&source_store, from).await?;
        if source_store.mark().await?.is_some() {
            let place = from.to_string();
            return Err(StoreError::Unfinished { place }.into());
        }
        // A transfer that was killed at its end goes on.
        if let Some(moved) = source_store.moved_to().await?
            && moved != absolute(to)
        {
            let place = from.to_string();
            return Err(StoreError::Moved { place, to: moved }.into());
        }
        let target = Arc::new(open(to, true, patience).await?);
        let claims = [claim, self::claim(&target, to).await?];
        let mut source = source_store.lock().await?;
        let identity = source.identity().await?;
        let mark = match target.mark().await? {
            Some(mark) if mark.source == identity => mark,
            Some(_) => {
                let place = to.to_string();
                return Err(TransferError::OtherSource { place });
            }
            None => begin(&target, to, identity).await?,
        };
        Ok(Self {
            from: source_store,
            to: target,
            source,
            mark,
            batch: BATCH_ROWS,
            places: [from.to_string(), to.to_string()],
            moves_to: absolute(to),
            _claims: claims,
        })
    }

    /// The same transfer with another number of rows in each transaction.
    #[must_use]
    pub fn with_batches_of(mut self, rows: usize) -> Self {
        self.batch = rows.max(1);
        self
    }

    /// The database that is written. It must not be changed by others before [`finish`](Self::finish).
    pub fn target(&self) -> Arc<Store> {
        self.to.clone()
    }

    /// The number of rows of the source.
    pub async fn rows(&mut self) -> Result<u64, TransferError> {
        let mut rows = 0;
        for table in &TABLES {
            rows += self.source.count(table.name).await?;
        }
        Ok(rows)
    }

    /// Copies all rows that are not in the target yet. `progress` gets the number of rows of each batch, once
    /// it is on disk.
    ///
    /// # Errors
    /// Fails if a database does, or if the target cannot contain a row. A later call goes on.
    pub async fn copy(&mut self, mut progress: impl FnMut(u64)) -> Result<(), TransferError> {
        while let Some(at) = self.mark.next.clone() {
            let Some(number) = TABLES.iter().position(|table| table.name == at) else {
                let place = self.places[1].clone();
                return Err(TransferError::OtherSource { place });
            };
            self.copy_table(number, &mut progress).await?;
        }
        Ok(())
    }

    async fn copy_table(
        &mut self,
        number: usize,
        progress: &mut impl FnMut(u64),
    ) -> Result<(), TransferError> {
        let table = &TABLES[number];
        let columns = self.source.columns(table.name).await?;
        let key = columns::positions(&columns, table.key)?;
        let mut after = self.mark.last_key.clone();
        let mut rows = self.source.rows(table, &columns, after.as_deref());
        let (mut batch, mut bytes) = (Vec::new(), 0);
        loop {
            let row = rows.try_next().await?;
            let is_last = row.is_none();
            if let Some(mut row) = row {
                after = Some(key.iter().map(|&at| row[at].clone()).collect());
                row.iter_mut().for_each(|value| self.to.fit(value));
                bytes += row.iter().map(Value::len).sum::<usize>();
                batch.push(row);
            }
            if is_last || batch.len() >= self.batch || bytes >= BATCH_BYTES {
                match is_last {
                    true => self
                        .mark
                        .begin(TABLES.get(number + 1).map(|next| next.name)),
                    false => self.mark.last_key.clone_from(&after),
                }
                write(&self.to, table, &columns, &batch, &self.mark).await?;
                progress(batch.len() as u64);
                (batch, bytes) = (Vec::new(), 0);
            }
            if is_last {
                return Ok(());
            }
        }
    }

    /// Gives new rows of the target numbers that no row of the source had, reads both sides, and returns what
    /// each table contains.
    ///
    /// # Errors
    /// Fails if a database does.
    pub async fn compare(
        &mut self,
        mut progress: impl FnMut(u64),
    ) -> Result<Vec<TableCompared>, TransferError> {
        let mut target = self.to.lock().await?;
        for (table, column) in NUMBERED {
            let last = self.source.last_number(table, column).await?;
            target.set_last_number(table, column, last).await?;
        }
        target.commit().await?;
        let mut target = self.to.lock().await?;
        let fit = |value: &mut Value| {
            self.from.fit(value);
            self.to.fit(value);
        };
        let mut compared = Vec::with_capacity(TABLES.len());
        for table in &TABLES {
            let source = sums::sum(&mut self.source, table, &fit).await?;
            progress(source.rows);
            compared.push(TableCompared {
                table: table.name,
                source,
                target: sums::sum(&mut target, table, &fit).await?,
            });
        }
        Ok(compared)
    }

    /// Ends the transfer: from now on, the target can be used, and the source cannot. With `derive_again`, the weights
    /// of the target are derived again when it is first used.
    ///
    /// # Errors
    /// Fails if a daemon uses the source, which has started since the beginning.
    pub async fn finish(mut self, derive_again: bool) -> Result<(), TransferError> {
        if self.is_open_to_others() && self.from.claim().await?.is_none() {
            let place = self.places[0].clone();
            return Err(TransferError::InUse { place });
        }
        // The source first: at no time are both in use.
        self.source.set_moved(Some(&self.moves_to)).await?;
        self.source.commit().await?;
        let mut target = self.to.lock().await?;
        if derive_again {
            target.forget_learned().await?;
        }
        target.set_mark(None).await?;
        target.commit().await?;
        self.to.close().await;
        self.from.close().await;
        Ok(())
    }

    /// Whether the claim on the source does not keep daemons from starting.
    fn is_open_to_others(&self) -> bool {
        self._claims[0]._lease.is_none()
    }
}

/// Makes a database usable again that was moved to another one. Returns where its content is now; `None` if it was
/// not moved.
pub async fn take_back(
    place: &DatabaseUrl,
    patience: Duration,
) -> Result<Option<String>, TransferError> {
    let store = Arc::new(open(place, false, patience).await?);
    let moved = store.moved_to().await?;
    if moved.is_some() {
        let mut locked = store.lock().await?;
        locked.set_moved(None).await?;
        locked.commit().await?;
    }
    store.close().await;
    Ok(moved)
}

/// Opens a database, also if a transfer to it is not finished.
pub(super) async fn open(
    place: &DatabaseUrl,
    create: bool,
    patience: Duration,
) -> Result<Store, StoreError> {
    match place {
        DatabaseUrl::File(path) => sqlite::open(path, create, patience).await,
        DatabaseUrl::Server(url, settings) => {
            postgres::open(url, *settings, create, patience).await
        }
    }
}

/// A place in a form that is valid in any folder.
fn absolute(place: &DatabaseUrl) -> String {
    match place {
        DatabaseUrl::File(path) => match std::path::absolute(path) {
            Ok(path) => path.display().to_string(),
            Err(_) => place.to_string(),
        },
        DatabaseUrl::Server(..) => place.to_string(),
    }
}

/// Whether both places are the same database. Two servers count as the same only if their names are equal.
fn is_one(from: &DatabaseUrl, to: &DatabaseUrl) -> bool {
    match (from, to) {
        (DatabaseUrl::File(from), DatabaseUrl::File(to)) => {
            let file = |path: &Path| path.canonicalize().ok();
            file(from).is_some_and(|path| file(to) == Some(path))
        }
        _ => from.to_string() == to.to_string(),
    }
}

async fn claim(store: &Arc<Store>, place: &DatabaseUrl) -> Result<Claim, TransferError> {
    let claim = store.claim().await?;
    claim.ok_or_else(|| TransferError::InUse {
        place: place.to_string(),
    })
}

/// Checks that the target is empty, and marks it as the target of this transfer.
async fn begin(
    target: &Arc<Store>,
    place: &DatabaseUrl,
    source: String,
) -> Result<TransferMark, TransferError> {
    let mut locked = target.lock().await?;
    for table in &TABLES {
        if FROM_THE_BEGINNING.contains(&table.name) {
            locked.clear(table.name).await?;
        } else if locked.count(table.name).await? > 0 {
            return Err(TransferError::NotEmpty {
                place: place.to_string(),
                table: table.name,
            });
        }
    }
    let mut mark = TransferMark {
        source,
        next: None,
        last_key: None,
    };
    mark.begin(Some(TABLES[0].name));
    locked.set_mark(Some(&mark)).await?;
    locked.commit().await?;
    Ok(mark)
}

/// Writes a batch and the new mark in one transaction.
async fn write(
    target: &Arc<Store>,
    table: &Table,
    columns: &[Column],
    rows: &[Vec<Value>],
    mark: &TransferMark,
) -> Result<(), TransferError> {
    let mut locked = target.lock().await?;
    let own = locked.columns(table.name).await?;
    columns::check_alike(table.name, columns, &own)?;
    locked.insert(table.name, &own, rows).await?;
    locked.set_mark(Some(mark)).await?;
    Ok(locked.commit().await?)
}
