//! The file by which a daemon has a folder of journals for itself.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
};

use crate::model::Timestamp;

/// The name of the file. It contains when the daemon was last alive, in milliseconds since 1970, as 8 bytes in
/// little-endian order.
const LOCK: &str = "lock";

/// The locked file.
#[derive(Debug)]
pub(super) struct FolderLock(File);

impl FolderLock {
    /// Locks a folder until this is dropped. Returns also when a daemon was last alive that used it.
    ///
    /// # Errors
    /// Another daemon uses the folder, or it cannot be written.
    pub(super) fn take(folder: &Path) -> io::Result<(Self, Option<Timestamp>)> {
        let mut lock = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(folder.join(LOCK))?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => io::Error::other("another daemon uses it"),
            TryLockError::Error(error) => error,
        })?;
        let mut alive = [0; 8];
        let alive = lock.read_exact(&mut alive).map(|()| alive);
        let alive = alive.ok().map(|bytes| Timestamp(i64::from_le_bytes(bytes)));
        Ok((Self(lock), alive))
    }

    /// Notes when the daemon was last alive, without waiting for the disk.
    pub(super) fn note_alive(&mut self, now: Timestamp) -> io::Result<()> {
        self.0.seek(SeekFrom::Start(0))?;
        self.0.write_all(&now.0.to_le_bytes())
    }

    /// Forces that to the disk. Blocks.
    pub(super) fn force(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}
