//! One journal's file.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;

/// A journal's file. A later one has a higher number.
#[derive(Debug)]
pub(in crate::session) struct JournalFile {
    pub(super) number: u64,
    pub(super) path: PathBuf,
    pub(super) file: File,
    pub(super) length: AtomicU64,
    /// Whether bytes were written since the file was last forced to the disk.
    pub(super) dirty: AtomicBool,
    /// The file of the same game that this one replaces, as long as it is needed.
    pub(super) replaced: Mutex<Option<Arc<JournalFile>>>,
}

impl JournalFile {
    pub(super) fn new(
        number: u64,
        path: PathBuf,
        file: File,
        length: u64,
        replaced: Option<Arc<JournalFile>>,
    ) -> Self {
        Self {
            number,
            path,
            file,
            length: AtomicU64::new(length),
            dirty: AtomicBool::new(true),
            replaced: Mutex::new(replaced),
        }
    }

    /// Forces what was written to the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        if !self.dirty.swap(false, Ordering::Acquire) {
            return Ok(());
        }
        let synced = self.file.sync_data();
        if synced.is_err() {
            self.dirty.store(true, Ordering::Relaxed);
        }
        synced
    }

    pub(in crate::session) fn length(&self) -> u64 {
        self.length.load(Ordering::Relaxed)
    }
}

/// Creates a file with this content, or none.
pub(super) fn create_file(path: &Path, content: &[&[u8]]) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let mut file = options.append(true).create_new(true).open(path)?;
    let written = content.iter().try_for_each(|part| file.write_all(part));
    if let Err(error) = written {
        let _ = fs::remove_file(path);
        return Err(error);
    }
    Ok(file)
}
