//! The archive: all logs that were read, compressed, so that better parsers can read them again.
//!
//! It is a folder of gzip files named `<fingerprint>-<bytes>.log.gz`, each with its [`LogOrigin`]
//! beside it in `<fingerprint>-<bytes>.json`. A log appears whole or not at all, and after its
//! origin. A log replaces the shorter ones that it begins with, such as itself before it grew.
//!
//! While a log is being written, its file is called `.partial-<process>-<number>` and is locked.
//! [`Archive::open`] completes the partial logs of processes that were killed, which are unlocked.

mod origin;
mod spool;

use std::{
    fs::{self, File},
    io::{self, BufReader, Read},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use flate2::bufread::MultiGzDecoder;
use parking_lot::{Mutex, MutexGuard};

use super::LogError;
use crate::model::Fingerprint;

pub use origin::LogOrigin;
pub(super) use origin::read_origin;
pub use spool::Spool;

use origin::{LOG, remove};

/// The start of the names of logs that are being written.
const PARTIAL: &str = ".partial-";

/// A folder of archived logs.
#[derive(Debug)]
pub struct Archive {
    folder: PathBuf,
    /// Length and fingerprint of each log, sorted.
    known: Mutex<Vec<(u64, Fingerprint)>>,
}

/// A log that has been archived.
#[derive(Debug, PartialEq, Eq)]
pub struct ArchivedLog {
    /// The fingerprint of the log.
    pub fingerprint: Fingerprint,
    /// The fingerprints of the shorter logs that this one begins with and has replaced.
    pub older: Vec<Fingerprint>,
}

impl Archive {
    /// Opens the archive in this folder, and creates the folder if it is missing. Completes the
    /// logs whose process was killed while archiving them.
    ///
    /// # Errors
    /// Fails if the folder cannot be created, read or written.
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

    /// Starts to archive a log.
    ///
    /// # Errors
    /// Fails if a file cannot be created.
    pub fn begin(self: &Arc<Self>, origin: LogOrigin) -> io::Result<Spool> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PARTIAL}{}-{count}", std::process::id());
        Spool::create(self.clone(), self.folder.join(name), origin)
    }

    /// The files and fingerprints of all logs, sorted by name.
    ///
    /// # Errors
    /// Fails if the folder cannot be read.
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
        self.folder.join(format!("{fingerprint}-{length}{LOG}"))
    }

    fn known(&self) -> MutexGuard<'_, Vec<(u64, Fingerprint)>> {
        self.known.lock()
    }

    /// Completes a partial log whose process is gone, or removes an origin without a log.
    fn salvage(self: &Arc<Self>, path: &Path) -> io::Result<()> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // The name of a partial log contains one dot, as its first character.
        if let Some((stem, _)) = name[1..].split_once('.') {
            let log = path.with_file_name(format!(".{stem}"));
            return if log.exists() { Ok(()) } else { remove(path) };
        }
        let file = match File::options().read(true).write(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            opened => opened?,
        };
        if file.try_lock().is_err() {
            return Ok(());
        }
        if let Some(origin) = partial_origin(path)? {
            let written = super::timestamp(file.metadata()?.modified()?);
            let mut spool = self.begin(origin)?;
            let mut decoder = MultiGzDecoder::new(BufReader::new(file));
            let mut chunk = vec![0; 64 * 1024];
            // The end is missing, so decoding ends with an error.
            while let Ok(read @ 1..) = decoder.read(&mut chunk) {
                spool.write(&chunk[..read])?;
            }
            if !spool.is_empty() {
                spool.commit(written)?;
            }
        }
        spool::remove_partial(path)
    }
}

/// The origin of a partial log; `None` if its process was killed before it had written the origin,
/// and therefore before it had written any of the log.
fn partial_origin(log: &Path) -> io::Result<Option<LogOrigin>> {
    match origin::read_partial(&spool::partial_origin(log)) {
        Ok(origin) => Ok(Some(origin)),
        Err(error) => match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::InvalidData => Ok(None),
            _ => Err(error),
        },
    }
}

/// The length and fingerprint in the name of an archived log.
fn parse_name(name: &str) -> Option<(u64, Fingerprint)> {
    let (fingerprint, length) = name.strip_suffix(LOG)?.split_once('-')?;
    Some((length.parse().ok()?, Fingerprint::parse(fingerprint)?))
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::model::Timestamp;

    const WHEN: Timestamp = Timestamp(1_795_188_516_007);

    fn names(folder: &TempDir) -> Vec<String> {
        let entries = fs::read_dir(folder.path()).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.collect();
        names.sort();
        names
    }

    fn put(archive: &Arc<Archive>, server: &str, chunks: &[&str]) -> ArchivedLog {
        let origin = LogOrigin {
            server: server.to_owned(),
            ..LogOrigin::default()
        };
        let mut spool = archive.begin(origin).unwrap();
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
        assert_eq!((logs.len(), names(&folder).len()), (2, 4));
        let (path, _) = logs
            .iter()
            .find(|(_, print)| *print == one.fingerprint)
            .unwrap();
        assert_eq!(content(path), "one\ntwo\n");
        let (written, origin) = read_origin(path).unwrap();
        assert_eq!((written, origin.server.as_str()), (WHEN, "s"));
        let name = path.file_name().unwrap().to_str().unwrap();
        assert_eq!(name, format!("{}-8.log.gz", one.fingerprint));
        let json = folder.path().join(format!("{}-8.json", one.fingerprint));
        let json = fs::read_to_string(json).unwrap();
        assert_eq!(json, r#"{"written":1795188516007,"server":"s"}"#);
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
        assert_eq!(names(&folder).len(), 4);
    }

    #[test]
    fn what_was_begun_by_somebody_who_was_killed_is_kept() {
        let folder = TempDir::new().unwrap();
        let archive = Archive::open(folder.path()).unwrap();
        let mut spool = archive.begin(LogOrigin::default()).unwrap();
        spool.write(b"one\n").unwrap();
        spool.flush().unwrap();
        // While it is being written, it is left alone.
        Archive::open(folder.path()).unwrap();
        let partial = names(&folder);
        assert_eq!(partial.len(), 2);
        let killed: Vec<_> = partial
            .iter()
            .map(|name| folder.path().join(name))
            .map(|path| (fs::read(&path).unwrap(), path))
            .collect();
        drop(spool);
        assert_eq!(names(&folder), [] as [&str; 0]);
        for (bytes, path) in &killed {
            fs::write(path, bytes).unwrap();
        }
        fs::write(folder.path().join(".partial-x"), "nonsense").unwrap();
        // Killed within the first write of an origin, and after the log was renamed.
        fs::write(folder.path().join(".partial-2-0"), "").unwrap();
        fs::write(folder.path().join(".partial-2-0.json"), "{\"ser").unwrap();
        fs::write(folder.path().join(".partial-3-0.json"), "{}").unwrap();
        fs::write(folder.path().join(".partial-3-0.final"), "{}").unwrap();
        let archive = Archive::open(folder.path()).unwrap();
        let logs = archive.logs().unwrap();
        Archive::open(folder.path()).unwrap();
        assert_eq!((logs.len(), names(&folder).len()), (1, 2));
        assert_eq!(content(&logs[0].0), "one\n");
        read_origin(&logs[0].0).unwrap();
    }

    #[test]
    fn names_of_other_files_are_no_logs() {
        for name in ["x.log.gz", "0-1.log.gz", ".partial-1-0", "x"] {
            assert_eq!(parse_name(name), None);
        }
    }
}
