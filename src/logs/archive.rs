//! Logs as they were read, compressed, each under its fingerprint, to be read again by better parsers.
//!
//! A folder of gzip files that any tool can open, named `<fingerprint>-<bytes>.log.gz`; what a log
//! does not say of itself stands in the comment of the file's header. A file appears whole or not at
//! all. A log that was archived before it had grown gives way to the longer one.

use std::{
    fs::{self, File},
    io::{self, BufReader, BufWriter, Read, Write},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use flate2::{Compression, GzBuilder, bufread::MultiGzDecoder, write::GzEncoder};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::LogError;
use crate::{
    domain::{Fingerprint, Timestamp},
    store::{Store, StoreError},
};

const ENDING: &str = ".log.gz";
const PARTIAL: &str = ".partial-";
/// What the comment begins with; then come as many digits as any time has, and the origin.
const WRITTEN: &str = "evenkeel log, last written ";
const DIGITS: usize = 20;
/// A gzip header with nothing in it but a comment begins that comment here.
const COMMENT_AT: u64 = 10;

/// What a log does not say of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The name of the server that wrote it.
    pub server: String,
    /// Its format, where that was said and not found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// When it began, where that was said: milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<i64>,
}

/// See the module.
#[derive(Debug)]
pub struct Archive {
    folder: PathBuf,
    /// Length and fingerprint of the logs there are, in order.
    known: Mutex<Vec<(u64, Fingerprint)>>,
}

/// What was put away.
#[derive(Debug, PartialEq, Eq)]
pub struct Archived {
    /// The log's.
    pub fingerprint: Fingerprint,
    /// Of logs that were the beginning of this one, and are gone now.
    pub older: Vec<Fingerprint>,
}

impl Archived {
    /// Stores that this log holds the matches of these ids.
    ///
    /// # Errors
    /// Fails if the database does.
    pub(super) async fn note(&self, store: &Arc<dyn Store>, ids: &[i64]) -> Result<(), StoreError> {
        store.link_log(self.fingerprint, ids, &self.older).await
    }
}

impl Archive {
    /// The archive in this folder, which is made if there is none. What a process that was killed
    /// had begun to put away is put away.
    ///
    /// # Errors
    /// The file system's.
    pub fn open(folder: &Path) -> Result<Arc<Self>, LogError> {
        let fail = LogError::file(folder);
        fs::create_dir_all(folder).map_err(&fail)?;
        let (mut known, mut partial) = (Vec::new(), Vec::new());
        for entry in fs::read_dir(folder).map_err(&fail)? {
            let entry = entry.map_err(&fail)?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            known.extend(parse_name(&name));
            if name.starts_with(PARTIAL) {
                partial.push(entry.path());
            }
        }
        known.sort_unstable();
        let archive = Arc::new(Self {
            folder: folder.to_owned(),
            known: Mutex::new(known),
        });
        for path in partial {
            archive.salvage(&path).map_err(LogError::file(&path))?;
        }
        Ok(archive)
    }

    /// Begins to put a log away.
    ///
    /// # Errors
    /// The file system's.
    pub fn begin(self: &Arc<Self>, origin: &Origin) -> io::Result<Spool> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PARTIAL}{}-{count}", std::process::id());
        let path = self.folder.join(name);
        let file = File::options().write(true).create_new(true).open(&path)?;
        // Whoever comes upon it knows by the lock that it is being written.
        file.lock()?;
        let origin_text = serde_json::to_string(origin)?;
        let comment = format!("{WRITTEN}{:0DIGITS$} {origin_text}", 0);
        let gzip = GzBuilder::new()
            .comment(comment)
            .write(BufWriter::new(file), Compression::default());
        let mut hash = Sha256::new();
        hash.update(b"evenkeel log 1");
        hash.update((origin.server.len() as u64).to_le_bytes());
        hash.update(origin.server.as_bytes());
        let known = self.known.lock();
        Ok(Spool {
            archive: self.clone(),
            known: known.clone(),
            path,
            gzip,
            hash,
            length: 0,
            older: Vec::new(),
        })
    }

    /// The files of all logs, sorted by name.
    ///
    /// # Errors
    /// The file system's.
    pub fn logs(&self) -> Result<Vec<(PathBuf, Fingerprint)>, LogError> {
        let fail = LogError::file(&self.folder);
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(&fail)? {
            let entry = entry.map_err(&fail)?;
            if let Some((_, fingerprint)) = parse_name(&entry.file_name().to_string_lossy()) {
                found.push((entry.path(), fingerprint));
            }
        }
        found.sort();
        Ok(found)
    }

    fn path(&self, length: u64, fingerprint: Fingerprint) -> PathBuf {
        self.folder.join(format!("{fingerprint}-{length}{ENDING}"))
    }

    /// Puts away what somebody who is gone had begun to.
    fn salvage(self: &Arc<Self>, path: &Path) -> io::Result<()> {
        let file = match File::options().read(true).write(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            opened => opened?,
        };
        if file.try_lock().is_err() {
            return Ok(());
        }
        let written = super::timestamp(file.metadata()?.modified()?);
        let mut decoder = MultiGzDecoder::new(BufReader::new(file));
        let origin = decoder.header().and_then(|header| header.comment());
        if let Some((_, origin)) = origin.and_then(parse_comment) {
            let mut spool = self.begin(&origin)?;
            let mut chunk = vec![0; 64 * 1024];
            // The end is missing: what can be read up to there is what there is.
            while let Ok(read @ 1..) = decoder.read(&mut chunk) {
                spool.write(&chunk[..read])?;
            }
            spool.commit(written)?;
        }
        remove(path)
    }
}

/// What an archived log's file says of it: when it was last written, and where it is from.
///
/// # Errors
/// The file system's, and `InvalidData` for what is no archived log.
pub fn origin(path: &Path) -> io::Result<(Timestamp, Origin)> {
    let decoder = MultiGzDecoder::new(BufReader::new(File::open(path)?));
    let comment = decoder.header().and_then(|header| header.comment());
    let no_log = || io::Error::new(io::ErrorKind::InvalidData, "this is no archived log");
    comment.and_then(parse_comment).ok_or_else(no_log)
}

fn parse_comment(comment: &[u8]) -> Option<(Timestamp, Origin)> {
    let text = std::str::from_utf8(comment).ok()?;
    let (written, origin) = text.strip_prefix(WRITTEN)?.split_at_checked(DIGITS)?;
    Some((
        Timestamp(written.parse().ok()?),
        serde_json::from_str(origin).ok()?,
    ))
}

/// Length and fingerprint of the log in a file of this name.
fn parse_name(name: &str) -> Option<(u64, Fingerprint)> {
    let (fingerprint, length) = name.strip_suffix(ENDING)?.split_once('-')?;
    Some((length.parse().ok()?, Fingerprint::parse(fingerprint)?))
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// A log that is being put away. Dropped, it leaves nothing.
pub struct Spool {
    archive: Arc<Archive>,
    /// Of all logs, those that are longer than what was written so far.
    known: Vec<(u64, Fingerprint)>,
    path: PathBuf,
    gzip: GzEncoder<BufWriter<File>>,
    hash: Sha256,
    length: u64,
    older: Vec<(u64, Fingerprint)>,
}

impl Spool {
    /// Adds bytes of the log.
    ///
    /// # Errors
    /// The file system's.
    pub fn write(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        self.gzip.write_all(bytes)?;
        let end = self.length + bytes.len() as u64;
        let reached = self.known.partition_point(|(length, _)| *length <= end);
        let reached: Vec<_> = self.known.drain(..reached).collect();
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

    /// Makes sure that what was written outlives this process.
    ///
    /// # Errors
    /// The file system's.
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

    /// The log is whole, and was last written then: its file appears in the archive, unless it is
    /// there already.
    ///
    /// # Errors
    /// The file system's.
    pub fn commit(mut self, written: Timestamp) -> io::Result<Archived> {
        self.gzip.try_finish()?;
        let file = self.gzip.get_mut();
        file.flush()?;
        let digits = format!("{:0DIGITS$}", written.0.max(0));
        let at = COMMENT_AT + WRITTEN.len() as u64;
        file.get_ref().write_all_at(digits.as_bytes(), at)?;
        file.get_ref().sync_all()?;
        let fingerprint = self.fingerprint();
        let path = self.archive.path(self.length, fingerprint);
        if !path.exists() {
            fs::rename(&self.path, path)?;
            File::open(&self.archive.folder)?.sync_all()?;
        }
        let mut older = std::mem::take(&mut self.older);
        older.retain(|(_, print)| *print != fingerprint);
        for (length, fingerprint) in &older {
            remove(&self.archive.path(*length, *fingerprint))?;
        }
        let known = &self.archive.known;
        let mut known = known.lock();
        known.retain(|entry| !older.contains(entry));
        let entry = (self.length, fingerprint);
        if let Err(at) = known.binary_search(&entry) {
            known.insert(at, entry);
        }
        Ok(Archived {
            fingerprint,
            older: older.into_iter().map(|(_, print)| print).collect(),
        })
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        // Nothing is there any more where it was committed.
        let _ = remove(&self.path);
    }
}

impl std::fmt::Debug for Spool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Spool")
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    const WHEN: Timestamp = Timestamp(1_795_188_516_007);

    fn names(folder: &TempDir) -> Vec<String> {
        let entries = fs::read_dir(folder.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    fn put(archive: &Arc<Archive>, server: &str, chunks: &[&str]) -> Archived {
        let origin = Origin {
            server: server.to_owned(),
            ..Origin::default()
        };
        let mut spool = archive.begin(&origin).unwrap();
        for chunk in chunks {
            spool.write(chunk.as_bytes()).unwrap();
        }
        spool.commit(WHEN).unwrap()
    }

    fn content(path: &Path) -> String {
        let mut text = String::new();
        let file = BufReader::new(File::open(path).unwrap());
        MultiGzDecoder::new(file).read_to_string(&mut text).unwrap();
        text
    }

    #[test]
    fn a_log_is_kept_once_with_its_origin() {
        let folder = TempDir::new().unwrap();
        let archive = Archive::open(folder.path()).unwrap();
        let one = put(&archive, "s", &["one\n", "two\n"]);
        assert_eq!(put(&archive, "s", &["one\ntwo\n"]), one);
        assert_ne!(
            put(&archive, "t", &["one\ntwo\n"]).fingerprint,
            one.fingerprint
        );
        let logs = archive.logs().unwrap();
        assert_eq!((logs.len(), names(&folder).len()), (2, 2));
        let (path, _) = logs
            .iter()
            .find(|(_, print)| *print == one.fingerprint)
            .unwrap();
        assert_eq!(content(path), "one\ntwo\n");
        let (written, origin) = origin(path).unwrap();
        assert_eq!((written, origin.server.as_str()), (WHEN, "s"));
        let name = path.file_name().unwrap().to_str().unwrap();
        assert_eq!(name, format!("{}-8.log.gz", one.fingerprint));
    }

    #[test]
    fn a_longer_log_takes_the_place_of_its_beginning() {
        let folder = TempDir::new().unwrap();
        let archive = Archive::open(folder.path()).unwrap();
        let (a, b) = (put(&archive, "s", &["ab"]), put(&archive, "s", &["abcd"]));
        assert_eq!((a.older, b.older.len()), (vec![], 1));
        put(&archive, "s", &["abxx"]);
        // Known from the folder alone, too.
        let archive = Archive::open(folder.path()).unwrap();
        let c = put(&archive, "s", &["a", "bc", "defg"]);
        assert_eq!(c.older, [b.fingerprint]);
        let kept: Vec<_> = archive
            .logs()
            .unwrap()
            .iter()
            .map(|(path, _)| content(path))
            .collect();
        assert!(
            kept.len() == 2 && kept.contains(&"abcdefg".to_owned()),
            "{kept:?}"
        );
    }

    #[test]
    fn what_was_begun_by_somebody_who_was_killed_is_kept() {
        let folder = TempDir::new().unwrap();
        let archive = Archive::open(folder.path()).unwrap();
        let mut spool = archive.begin(&Origin::default()).unwrap();
        spool.write(b"one\n").unwrap();
        spool.flush().unwrap();
        // While it is being written, it is left alone.
        Archive::open(folder.path()).unwrap();
        assert_eq!(names(&folder).len(), 1);
        let (partial, half) = (spool.path.clone(), fs::read(&spool.path).unwrap());
        drop(spool);
        assert_eq!(names(&folder), [] as [&str; 0]);
        fs::write(partial, half).unwrap();
        fs::write(folder.path().join(".partial-x"), "nonsense").unwrap();
        let archive = Archive::open(folder.path()).unwrap();
        let logs = archive.logs().unwrap();
        assert_eq!((logs.len(), names(&folder).len()), (1, 1));
        assert_eq!(content(&logs[0].0), "one\n");
    }

    #[test]
    fn what_is_no_archived_log_is_no_log() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("x");
        fs::write(&path, "nonsense").unwrap();
        assert!(origin(&path).is_err());
        for name in ["x.log.gz", "0-1.log.gz", ".partial-1-0", "x"] {
            assert_eq!(parse_name(name), None);
        }
    }
}
