//! A log on its way into the archive.

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
use crate::domain::{Fingerprint, Timestamp};

/// What follows the name of a partial log in the name of its origin, until the log is committed.
const FINAL: &str = ".final";

/// A log being written into the archive. If it is dropped, nothing of it stays.
pub struct Spool {
    archive: Arc<Archive>,
    origin: LogOrigin,
    /// Archived logs that are longer than what was written so far, by length.
    longer: Vec<(u64, Fingerprint)>,
    path: PathBuf,
    gzip: GzEncoder<BufWriter<File>>,
    hash: Sha256,
    length: u64,
    /// Archived logs with which this one begins.
    older: Vec<(u64, Fingerprint)>,
}

impl Spool {
    /// Begins a log in a file that does not exist yet.
    pub(super) fn create(
        archive: Arc<Archive>,
        path: PathBuf,
        origin: LogOrigin,
    ) -> io::Result<Self> {
        let longer = archive.known().clone();
        let file = File::options().write(true).create_new(true).open(&path)?;
        // The lock tells other processes that this one is alive and still writes.
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

    /// Appends bytes of the log.
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

    /// Hands everything written so far to the operating system, so that it outlives this process.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        self.gzip.flush()
    }

    /// Whether nothing was written yet.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    fn fingerprint(&self) -> Fingerprint {
        let mut short = [0; 16];
        short.copy_from_slice(&self.hash.clone().finalize()[..16]);
        Fingerprint(short)
    }

    /// Ends the log, which was last written at `written`. It appears in the archive, unless the same
    /// log is there already, and the logs with which it begins are removed.
    ///
    /// # Errors
    /// Fails if a file cannot be written or renamed. Then nothing of the log stays.
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

/// The origin of a partial log.
pub(super) fn partial_origin(log: &Path) -> PathBuf {
    beside(log, JSON)
}

/// Removes a partial log and what belongs to it.
pub(super) fn remove_partial(log: &Path) -> io::Result<()> {
    // The log goes last: as long as it is there, its origin is not taken for a stray file.
    remove(&beside(log, JSON))?;
    remove(&beside(log, FINAL))?;
    remove(log)
}

/// The file that belongs to a partial log, by its ending.
fn beside(log: &Path, ending: &str) -> PathBuf {
    let mut name = log.file_name().unwrap_or_default().to_owned();
    name.push(ending);
    log.with_file_name(name)
}

/// Makes sure that renamed files keep their new names if the machine loses power.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Makes sure that renamed files keep their new names if the machine loses power; here, the file
/// system sees to that, and a folder cannot be opened.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}
