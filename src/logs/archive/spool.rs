//! A log that is being written into the archive.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use flate2::{Compression, write::GzEncoder};
use sha2::{Digest, Sha256};

use super::{
    Archive, ArchivedLog,
    origin::{self, JSON, LogOrigin, remove},
};
use crate::model::{Fingerprint, Timestamp};

/// The suffix of the origin's name just before the log is committed.
const FINAL: &str = ".final";

/// A log that is being written into the archive. Dropping it removes its files.
pub struct Spool {
    archive: Arc<Archive>,
    origin: LogOrigin,
    /// Archived logs longer than this one so far, sorted by length.
    longer: Vec<(u64, Fingerprint)>,
    path: PathBuf,
    gzip: GzEncoder<BufWriter<File>>,
    hash: Sha256,
    length: u64,
    /// Archived logs that this one begins with.
    older: Vec<(u64, Fingerprint)>,
}

impl Spool {
    /// Starts a log in a new file.
    pub(super) fn create(
        archive: Arc<Archive>,
        path: PathBuf,
        origin: LogOrigin,
    ) -> io::Result<Self> {
        let longer = archive.known().clone();
        let file = File::options().write(true).create_new(true).open(&path)?;
        // The lock shows other processes that this one is still writing.
        file.lock()?;
        let mut hash = Sha256::new();
        hash.update(b"evenkeel log 1");
        hash.update((origin.server.len() as u64).to_le_bytes());
        hash.update(origin.server.as_bytes());
        let spool = Self {
            archive,
            origin,
            longer,
            path,
            gzip: GzEncoder::new(BufWriter::new(file), Compression::default()),
            hash,
            length: 0,
            older: Vec::new(),
        };
        origin::write_partial(&beside(&spool.path, JSON), &spool.origin)?;
        Ok(spool)
    }

    /// Appends bytes to the log.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        self.gzip.write_all(bytes)?;
        let end = self.length + bytes.len() as u64;
        let reached = self.longer.partition_point(|(length, _)| *length <= end);
        let reached: Vec<_> = self.longer.drain(..reached).collect();
        for (length, fingerprint) in reached {
            let more = usize::try_from(length.saturating_sub(self.length)).unwrap_or(0);
            let (before, rest) = bytes.split_at(more.min(bytes.len()));
            self.hash.update(before);
            self.length += before.len() as u64;
            bytes = rest;
            if length == self.length && self.fingerprint() == fingerprint {
                self.older.push((length, fingerprint));
            }
        }
        self.hash.update(bytes);
        self.length = end;
        Ok(())
    }

    /// Passes everything written so far to the operating system, so that it survives the end of
    /// this process.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.gzip.flush()
    }

    /// Whether nothing has been written yet.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    fn fingerprint(&self) -> Fingerprint {
        let mut short = [0; 16];
        short.copy_from_slice(&self.hash.clone().finalize()[..16]);
        Fingerprint(short)
    }

    /// Corrects the time zone of a log that is in the archive already.
    fn correct_zone(&self, archived: &Path) -> io::Result<()> {
        let Ok((written, known)) = origin::read_origin(archived) else {
            return Ok(());
        };
        if known.time_zone == self.origin.time_zone {
            return Ok(());
        }
        let corrected = LogOrigin {
            time_zone: self.origin.time_zone.clone(),
            ..known
        };
        let json = beside(&self.path, FINAL);
        origin::write_archived(&json, written, &corrected)?;
        fs::rename(&json, origin::json_of(archived))?;
        sync_folder(&self.archive.folder)
    }

    /// Completes the log, which was last written at `written`. The log appears in the archive,
    /// unless it is there already, and replaces the shorter logs that it begins with.
    ///
    /// # Errors
    /// Fails if a file cannot be written or renamed. All files of the log are removed then.
    pub fn commit(mut self, written: Timestamp) -> io::Result<ArchivedLog> {
        self.gzip.try_finish()?;
        let file = self.gzip.get_mut();
        file.flush()?;
        file.get_ref().sync_all()?;
        let fingerprint = self.fingerprint();
        let path = self.archive.path(self.length, fingerprint);
        if !path.exists() {
            // The origin comes first: a log in the archive always has one.
            let json = beside(&self.path, FINAL);
            origin::write_archived(&json, written, &self.origin)?;
            fs::rename(&json, origin::json_of(&path))?;
            fs::rename(&self.path, &path)?;
            sync_folder(&self.archive.folder)?;
        } else if self.origin.time_zone.is_some() {
            self.correct_zone(&path)?;
        }
        let mut older = std::mem::take(&mut self.older);
        older.retain(|(_, print)| *print != fingerprint);
        for (length, fingerprint) in &older {
            let log = self.archive.path(*length, *fingerprint);
            remove(&log)?;
            remove(&origin::json_of(&log))?;
        }
        let mut known = self.archive.known();
        known.retain(|entry| !older.contains(entry));
        let entry = (self.length, fingerprint);
        if let Err(at) = known.binary_search(&entry) {
            known.insert(at, entry);
        }
        drop(known);
        Ok(ArchivedLog {
            fingerprint,
            older: older.into_iter().map(|(_, print)| print).collect(),
        })
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        let _ = remove_partial(&self.path);
    }
}

impl std::fmt::Debug for Spool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Spool")
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}

/// The path of a partial log's origin.
pub(super) fn partial_origin(log: &Path) -> PathBuf {
    beside(log, JSON)
}

/// Removes a partial log and its origin.
pub(super) fn remove_partial(log: &Path) -> io::Result<()> {
    // Remove the log last: while it exists, its origin does not count as a stray file.
    remove(&beside(log, JSON))?;
    remove(&beside(log, FINAL))?;
    remove(log)
}

/// The path of a file that belongs to a partial log, by its suffix.
fn beside(log: &Path, ending: &str) -> PathBuf {
    let mut name = log.file_name().unwrap_or_default().to_owned();
    name.push(ending);
    log.with_file_name(name)
}

/// Makes renames in a folder durable, so that they survive a power failure.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Makes renames in a folder durable; on this system, a folder cannot be opened, and the file
/// system does it.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
