//! One journal's file, and how many of them reach the disk.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    thread,
};

use parking_lot::Mutex;

use super::reserve::Reserve;

/// The most files that are forced to the disk at the same time.
const THREADS: usize = 32;

/// A journal's file. A later one has a higher number.
#[derive(Debug)]
pub(in crate::session) struct JournalFile {
    pub(super) number: u64,
    pub(super) path: PathBuf,
    pub(super) file: File,
    pub(super) length: AtomicU64,
    /// The first bytes of the file that were forced to the disk: a power cut leaves at least those.
    forced: AtomicU64,
    /// Whether the folder was forced to the disk since the file is in it.
    pub(super) named: AtomicBool,
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
            forced: AtomicU64::new(0),
            named: AtomicBool::new(false),
            replaced: Mutex::new(replaced),
        }
    }

    /// Whether bytes were written since the file was last forced to the disk.
    pub(super) fn is_dirty(&self) -> bool {
        self.forced.load(Ordering::Relaxed) < self.length()
    }

    /// Forces what was written to the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        let length = self.length();
        if self.is_dirty() {
            self.file.sync_data()?;
            self.forced.fetch_max(length, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Appends bytes. Part of them may have been written if this fails.
    pub(super) fn append(&self, bytes: &[u8], reserve: &Reserve) -> io::Result<()> {
        let written = write_all(&self.file, bytes, reserve);
        // Only now: `sync` must not take bytes for forced that were written after it.
        self.length.fetch_add(bytes.len() as u64, Ordering::Release);
        written
    }

    pub(in crate::session) fn length(&self) -> u64 {
        self.length.load(Ordering::Acquire)
    }
}

/// Creates a file with this content, or none.
pub(super) fn create_file(path: &Path, content: &[&[u8]], reserve: &Reserve) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let options = options.append(true).create_new(true);
    let file = loop {
        match options.open(path) {
            Err(error) if reserve.is_released(&error, 0) => {}
            opened => break opened?,
        }
    };
    let mut parts = content.iter();
    let written = parts.try_for_each(|part| write_all(&file, part, reserve));
    if let Err(error) = written {
        let _ = fs::remove_file(path);
        return Err(error);
    }
    Ok(file)
}

/// Writes all bytes, also if the disk is full, as long as there is room in reserve.
fn write_all(mut file: &File, mut bytes: &[u8], reserve: &Reserve) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if reserve.is_released(&error, bytes.len() as u64) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Forces files to the disk with `force`, several at a time. One after the other, five hundred files would take
/// seconds; a file system commits those together that it gets at the same time. If one fails, the others are
/// forced all the same.
///
/// # Errors
/// The first failure.
pub(super) fn force_all(
    files: &[Arc<JournalFile>],
    force: impl Fn(&JournalFile) -> io::Result<()> + Sync,
) -> io::Result<()> {
    let dirty: Vec<_> = files.iter().filter(|file| file.is_dirty()).collect();
    let (next, failure) = (AtomicUsize::new(0), Mutex::new(None));
    let work = || {
        while let Some(file) = dirty.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(error) = force(file) {
                failure.lock().get_or_insert(error);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..dirty.len().min(THREADS) {
            // Where there is no other thread, this one does it all.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    failure.into_inner().map_or(Ok(()), Err)
}
