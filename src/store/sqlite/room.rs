//! Room on the disk for the index of the write-ahead log, which SQLite maps into its memory.
//!
//! When the index grows, SQLite writes one byte to each page of 4 KiB. Where the blocks of a file system are smaller, the
//! rest of a page has no room on the disk until something is stored there. If the disk is full then, no call fails: the
//! operating system ends the process (SIGBUS). So the room is taken before a connection is opened and before each write,
//! by calls that can fail. Where a block has 4 KiB or more, there is nothing to do.

use std::{
    fs::{self, File, OpenOptions},
    io,
    mem::ManuallyDrop,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

use super::beside;
use crate::{
    files::{allocate, block, folder_of, room},
    store::StoreError,
};

/// The size of a page, in the database, in its index and in memory.
const PAGE: u64 = 4_096;
/// The size of a page in the write-ahead log: with its head.
const FRAME: u64 = PAGE + 24;
/// The index grows by this many bytes at a time.
const REGION: u64 = 32 << 10;
/// How many frames of the log have their place in the first region, and in each other one: the format of the index.
const FIRST: u64 = 4_062;
const OTHERS: u64 = 4_096;
/// How many frames a write may add so that there is room for the index: 256 MB.
const WRITE: u64 = 65_536;
/// What others may take between a look and the use, and what the file system needs to note where a file is.
const MARGIN: u64 = 32 << 10;

/// The room for the index of an open database.
#[derive(Debug)]
pub(super) struct Room {
    log: PathBuf,
    /// It is never closed: that would give back the locks which SQLite has on the file in this process.
    index: ManuallyDrop<File>,
    taken: AtomicU64,
}

impl Room {
    /// Takes the room for the index of a database that is open; `None` where nothing has to be done.
    ///
    /// # Errors
    /// The disk is full.
    pub fn take(database: &Path) -> Result<Option<Self>, StoreError> {
        if !has_small_blocks(database) {
            return Ok(None);
        }
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true);
        let Ok(index) = options.open(beside(database, "-shm")) else {
            return Ok(None); // a database that may only be read
        };
        let room = Self {
            log: beside(database, "-wal"),
            index: ManuallyDrop::new(index),
            taken: AtomicU64::new(0),
        };
        room.extend().map(|()| Some(room))
    }

    /// Takes more before a write, if that may need more.
    ///
    /// # Errors
    /// The disk is full.
    pub fn extend(&self) -> Result<(), StoreError> {
        let needed = needed(length(&self.log), room(folder_of(&self.log)));
        if needed > self.taken.load(Ordering::Relaxed) {
            allocate(&self.index, needed).map_err(full)?;
            self.taken.fetch_max(needed, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Looks whether there is room to open a database: the first connection empties the index, and writes it anew.
///
/// # Errors
/// The disk is full.
pub(super) fn look(database: &Path) -> Result<(), StoreError> {
    if !has_small_blocks(database) {
        return Ok(());
    }
    // SQLite says what is wrong with the folder, and a database that may only be read needs no room.
    let Ok(file) = tempfile::tempfile_in(folder_of(database)) else {
        return Ok(());
    };
    let needed = needed(length(&beside(database, "-wal")), 0);
    allocate(&file, needed + MARGIN).map_err(full)
}

/// How long the index may become, if the log has `log` bytes, and the disk room for `free` more.
fn needed(log: u64, free: u64) -> u64 {
    let frames = log / FRAME + (free / FRAME).min(WRITE);
    REGION * (1 + frames.saturating_sub(FIRST).div_ceil(OTHERS))
}

fn full(error: io::Error) -> StoreError {
    StoreError::Full(sqlx::Error::Io(error))
}

fn has_small_blocks(database: &Path) -> bool {
    block(folder_of(database)).is_some_and(|block| block < PAGE)
}

fn length(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |found| found.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_has_room_for_what_is_in_the_log_and_what_may_come() {
        assert_eq!(needed(0, 0), REGION);
        assert_eq!(needed(FIRST * FRAME, 0), REGION);
        assert_eq!(needed((FIRST + 1) * FRAME, 0), 2 * REGION);
        assert_eq!(needed((FIRST + OTHERS) * FRAME, 0), 2 * REGION);
        assert_eq!(needed(FIRST * FRAME, FRAME), 2 * REGION);
        // No more than 17 regions for a write, however large the disk is.
        assert_eq!(needed(0, u64::MAX), 17 * REGION);
    }
}
