//! Looks at the file of a database before SQLite opens it, and names what SQLite cannot tell.

use std::{fs, path::Path};

use super::leases;
use crate::store::StoreError;

/// Looks whether the file has lost its content. A file without bytes is a new database for SQLite.
///
/// Only who may `create` a database begins a new one in it. An operator must not find out from empty tables that a file was cut off. But a container or a script may create
/// the file before the first start, so that this alone is no error: only a file beside it, which daemons leave there,
/// shows that it was a database.
///
/// # Errors
/// It has no bytes, and was a database or must be one.
pub(super) fn look_at(path: &Path, create: bool) -> Result<(), StoreError> {
    let is_empty = fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() == 0);
    if !is_empty {
        return Ok(());
    }
    let beside = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        Path::new(&name).display().to_string()
    };
    let left = ["-wal", leases::SUFFIX].map(beside);
    match left.into_iter().find(|name| Path::new(name).exists()) {
        Some(beside) => Err(StoreError::Emptied {
            place: path.display().to_string(),
            beside,
        }),
        None if !create => Err(StoreError::Missing {
            place: path.display().to_string(),
        }),
        None => {
            let path = path.display();
            tracing::warn!(%path, "the database file has 0 bytes: a new database begins in it. If it had matches, stop, and restore a backup");
            Ok(())
        }
    }
}

/// Refuses a disk that may not be written. Where a daemon was cut off, its write-ahead log lies beside the file, and SQLite
/// opens the two for reading alone, without an error.
pub(super) fn refuse_read_only(path: &Path) -> Result<(), StoreError> {
    match is_read_only(path) {
        true => Err(StoreError::at(&path.display(), StoreError::ReadOnlyDisk)),
        false => Ok(()),
    }
}

/// The error with the path of the database, and with its cause if the disk is read-only.
pub(super) fn cannot_open(path: &Path, error: sqlx::Error) -> StoreError {
    let error = match StoreError::from(error) {
        StoreError::CannotOpen(_) | StoreError::ReadOnly(_) if is_read_only(path) => {
            StoreError::ReadOnlyDisk
        }
        error => error,
    };
    StoreError::at(&path.display(), error)
}

/// Whether the file, or the folder in which it would be created, is on a disk that may not be written.
#[cfg(unix)]
pub(super) fn is_read_only(path: &Path) -> bool {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    let found = rustix::fs::statvfs(path).or_else(|_| rustix::fs::statvfs(folder));
    found.is_ok_and(|found| found.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY))
}

/// Here, the file system does not say so.
#[cfg(not(unix))]
pub(super) fn is_read_only(_: &Path) -> bool {
    false
}
