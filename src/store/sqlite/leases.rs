//! Leases on SQLite: all leases of a database are held by one process, which has locked a file beside it.
//!
//! The operating system gives the lock back when the process ends, however it ends: the next one need not wait
//! for the time of a lease, and nothing has to be renewed. The epoch in the table is checked all the same.

use std::{
    collections::BTreeMap,
    fs::{File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
    sync::{Arc, Weak},
};

use parking_lot::Mutex;

use super::File as Database;
use crate::store::{
    Lease, StoreError,
    db::{Connection, scalar},
};

/// What the name of the locked file ends with, after that of the database.
pub(super) const SUFFIX: &str = "-lease";

/// What keeps others from taking a lease, in this process and in others.
#[derive(Debug)]
pub(in crate::store) struct Held {
    _file: Arc<Locked>,
}

/// The locked file.
#[derive(Debug)]
struct Locked(File);

impl Drop for Locked {
    /// To close the file is not enough: a program that this process is just starting has the file open, too.
    fn drop(&mut self) {
        if let Err(error) = self.0.unlock() {
            tracing::warn!(%error, "the lock of the leases is given back only when its file is closed");
        }
    }
}

/// The leases that this process holds.
#[derive(Debug, Default)]
pub(super) struct Locks(Mutex<Own>);

#[derive(Debug, Default)]
struct Own {
    file: Weak<Locked>,
    names: BTreeMap<String, Weak<Held>>,
}

impl Locks {
    /// Takes a lease, and holds it until the returned value is dropped. `None` if this process or another one
    /// holds it already.
    fn take(&self, database: &Path, name: &str) -> io::Result<Option<Arc<Held>>> {
        let mut own = self.0.lock();
        if own
            .names
            .get(name)
            .is_some_and(|one| one.strong_count() > 0)
        {
            return Ok(None);
        }
        let locked = match own.file.upgrade() {
            Some(locked) => locked,
            None => match lock(database)? {
                Some(locked) => Arc::new(locked),
                None => return Ok(None),
            },
        };
        own.file = Arc::downgrade(&locked);
        let taken = Arc::new(Held { _file: locked });
        own.names.insert(name.to_owned(), Arc::downgrade(&taken));
        Ok(Some(taken))
    }
}

/// Locks the file beside the database; `None` if another process has locked it.
fn lock(database: &Path) -> io::Result<Option<Locked>> {
    let mut path = database.as_os_str().to_owned();
    path.push(SUFFIX);
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    let file = options.open(PathBuf::from(path))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(Locked(file))),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

impl Database {
    /// Locks a lease, until the returned value is dropped. `None` if this process or another one holds it already.
    pub fn lock_lease(&self, name: &str) -> Result<Option<Arc<Held>>, StoreError> {
        let held = self.locks.take(&self.path, name);
        Ok(held.map_err(sqlx::Error::Io)?)
    }
}

/// Notes the holder of a lease that this process has locked.
pub(in crate::store) async fn take_lease(
    tx: &mut Connection,
    name: &str,
    holder: &str,
    lock: Arc<Held>,
) -> Result<Lease, StoreError> {
    let query = scalar(
        "INSERT INTO leases (name, holder, epoch) VALUES ($1, $2, 1)
         ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, epoch = leases.epoch + 1
         RETURNING epoch",
    );
    Ok(Lease {
        name: name.to_owned(),
        epoch: query.bind(name).bind(holder).fetch_one(tx).await?,
        lasts: None,
        _lock: Some(lock),
    })
}
