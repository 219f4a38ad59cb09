//! The three files of an open database: the main file, the write-ahead log and the index of that log. Whether they are
//! still at their paths, and whether the disk has room for the index.
//!
//! SQLite does not look where they are: it goes on with the files that it has open, and a connection that is opened later,
//! by this process or another, uses those that it finds. Once one of them was removed or replaced, it stays so, even if it
//! is put back: other processes may have used what was there meanwhile. From then on nothing is committed, no connection is
//! opened, and the write-ahead log is not copied to the main file. What was committed before is all in the files that are
//! open: an operator gets it as a new file.
//!
//! SQLite maps the index into its memory. When the index grows, SQLite writes one byte to each page of 4 KiB. Where the
//! blocks of a file system are smaller, the rest of a page has no room on the disk until something is stored there. If the
//! disk is full then, no call fails: the operating system ends the process (SIGBUS). So the room is taken before a
//! connection is opened and before each write, by calls that can fail. Where a block has 4 KiB or more, there is nothing to
//! do.

use std::{
    fs::{self, File, OpenOptions},
    io,
    mem::ManuallyDrop,
    path::{Path, PathBuf, absolute},
    sync::{
        OnceLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use file_id::{FileId, get_file_id};

use crate::{
    files::{allocate, block, folder_of, room},
    store::StoreError,
};

/// What the names of the files end with, after that of the database.
const SUFFIXES: [&str; 3] = ["", "-wal", "-shm"];

/// The files of a database, as they were when it was opened.
#[derive(Debug)]
pub(in crate::store) struct Watch {
    /// `None` if the file system does not tell which file it is.
    files: [(PathBuf, Option<FileId>); 3],
    /// The first one that was found removed or replaced.
    gone: OnceLock<PathBuf>,
    /// Whether the last connection is closed, so that SQLite itself removes two of the files.
    is_over: AtomicBool,
}

impl Watch {
    /// Notes which files these are. They stay until the last connection is closed, so one must be open.
    pub fn begin(database: &Path) -> Self {
        let database = absolute(database).unwrap_or_else(|_| database.to_owned());
        let file = |suffix| {
            let path = beside(&database, suffix);
            let id = get_file_id(&path).ok();
            (path, id)
        };
        Self {
            files: SUFFIXES.map(file),
            gone: OnceLock::new(),
            is_over: AtomicBool::new(false),
        }
    }

    /// The main file.
    pub fn database(&self) -> &Path {
        let [(main, _), ..] = &self.files;
        main
    }

    /// The file that was removed or replaced; `None` if all are in place.
    pub fn gone(&self) -> Option<&Path> {
        self.gone.get().map(PathBuf::as_path)
    }

    /// Ends the watch: the last connection is about to be closed.
    pub fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// # Errors
    /// One of the files is not in place.
    pub fn check(&self) -> Result<(), StoreError> {
        if self.gone.get().is_some() {
            return Err(StoreError::Removed);
        }
        if self.is_over.load(Ordering::Relaxed) {
            return Ok(());
        }
        for (path, opened) in &self.files {
            let Some(opened) = opened else { continue };
            match get_file_id(path) {
                Ok(found) if found == *opened => continue,
                // It may be there, and cannot be looked at just now.
                Err(error) if error.kind() != io::ErrorKind::NotFound => {}
                _ => {
                    let _ = self.gone.set(path.clone());
                }
            }
            return Err(StoreError::Removed);
        }
        Ok(())
    }
}

/// The path of a file beside the database, whose name has this more at its end.
pub(in crate::store) fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

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

    /// A folder with three files that stand for those of a database.
    fn files() -> (tempfile::TempDir, [PathBuf; 3]) {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("a.db");
        let paths = SUFFIXES.map(|suffix| beside(&database, suffix));
        for path in &paths {
            fs::write(path, "x").unwrap();
        }
        (folder, paths)
    }

    #[test]
    fn each_file_that_is_removed_or_replaced_is_noticed_and_named() {
        for at in 0..3 {
            for replaces in [false, true] {
                let (folder, paths) = files();
                let watch = Watch::begin(&paths[0]);
                assert!(watch.check().is_ok());
                assert_eq!(watch.gone(), None);
                // The old one is kept, so that the new one is another.
                let away = folder.path().join("away");
                fs::rename(&paths[at], &away).unwrap();
                if replaces {
                    fs::write(&paths[at], "x").unwrap();
                }
                assert!(matches!(watch.check(), Err(StoreError::Removed)));
                assert_eq!(watch.gone(), Some(&*paths[at]));
                fs::rename(&away, &paths[at]).unwrap();
                assert!(watch.check().is_err(), "it stays so");
            }
        }
    }

    #[test]
    fn what_happens_after_the_end_is_not_noticed() {
        let (_folder, paths) = files();
        let watch = Watch::begin(&paths[0]);
        watch.end();
        fs::remove_file(&paths[1]).unwrap();
        assert!(watch.check().is_ok());
        assert_eq!(watch.gone(), None);
    }

    #[test]
    fn a_file_whose_content_changes_is_in_place() {
        let (_folder, paths) = files();
        let watch = Watch::begin(&paths[0]);
        for path in &paths {
            fs::write(path, "another content").unwrap();
        }
        assert!(watch.check().is_ok());
    }

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
