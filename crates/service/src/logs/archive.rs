//! The archive: all logs that were read, compressed, so that better parsers can read them again.
//!
//! It is a folder of gzip files named `<fingerprint>-<bytes>.log.gz`. Beside each is its [`LogOrigin`], in
//! `<fingerprint>-<bytes>.json`: which server wrote the log, and when, which the log itself does not say. A log
//! appears whole or not at all, and after its origin. A log replaces the shorter ones that it begins with, such as
//! itself before it grew.
//!
//! While a log is being written into the archive, its file is called `.partial-<process>-<number>` and is locked.
//! [`Archive::open`] completes the partial logs of processes that were killed, which are unlocked.

use std::{
    fs::{self, File},
    io::{self, BufReader, BufWriter, Read, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use flate2::{Compression, bufread::MultiGzDecoder, write::GzEncoder};
use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};

use super::LogError;
use crate::{
    files::FileMode,
    model::{Timestamp, fingerprint::Fingerprint},
};

/// The start of the names of logs that are being written.
const PARTIAL: &str = ".partial-";

/// A folder of archived logs.
#[derive(Debug)]
pub struct Archive {
    folder: PathBuf,
    /// The mode of new files.
    mode: FileMode,
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
        Self::open_with(folder, FileMode::default())
    }

    /// Opens the archive as [`open`](Self::open) does. New files get this mode.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn open_with(folder: &Path, mode: FileMode) -> Result<Arc<Self>, LogError> {
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
            mode,
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
    pub fn begin(self: &Arc<Self>, origin: LogOrigin) -> io::Result<LogSpool> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{PARTIAL}{}-{count}", std::process::id());
        LogSpool::create(self.clone(), self.folder.join(name), origin)
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
        remove_partial(path)
    }
}

/// The origin of a partial log; `None` if its process was killed before it had written the origin,
/// and therefore before it had written any of the log.
fn partial_origin(log: &Path) -> io::Result<Option<LogOrigin>> {
    match read_partial(&path_of_partial_origin(log)) {
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

/// The ending of an archived log's name.
const LOG: &str = ".log.gz";
/// The ending of the name of a log's origin.
const JSON: &str = ".json";
/// The most bytes of an origin. The longest server name takes 6 KiB in JSON.
const MAX_BYTES: u64 = 64 * 1024;

/// Properties that a log does not contain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogOrigin {
    /// The name of the server that wrote the log.
    pub server: String,
    /// The command that has read it: the client of its matches. Empty if it is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub client: String,
    /// The name of the game if it was given, or empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub game: String,
    /// The name of the format if it was given; `None` if it was detected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// The time zone of the log's dates, if they state none and it is not UTC.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    /// When the log began if that was given, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<i64>,
}

/// The content of the JSON file.
#[derive(Debug, Serialize, Deserialize)]
struct ArchivedOrigin {
    /// When the log was last written, in milliseconds since 1970.
    written: i64,
    #[serde(flatten)]
    origin: LogOrigin,
}

/// Reads when an archived log was last written, and its origin.
///
/// # Errors
/// Fails if a file cannot be read, or does not contain an origin of at most 64 KiB.
pub(super) fn read_origin(log: &Path) -> Result<(Timestamp, LogOrigin), LogError> {
    let json = json_of(log);
    let archived: ArchivedOrigin = read_json(&json).map_err(LogError::file(&json))?;
    Ok((Timestamp(archived.written), archived.origin))
}

/// Writes the JSON file of an origin; it is on disk when this returns.
fn write_archived(
    path: &Path,
    mode: FileMode,
    written: Timestamp,
    origin: &LogOrigin,
) -> io::Result<()> {
    let (written, origin) = (written.0, origin.clone());
    write_json(path, mode, &ArchivedOrigin { written, origin })
}

/// Writes an origin without a time, because its log is still being written.
fn write_partial(path: &Path, mode: FileMode, origin: &LogOrigin) -> io::Result<()> {
    write_json(path, mode, origin)
}

/// Reads an origin that [`write_partial`] wrote.
fn read_partial(path: &Path) -> io::Result<LogOrigin> {
    read_json(path)
}

/// The path of the file with a log's origin.
fn json_of(log: &Path) -> PathBuf {
    let name = log.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.strip_suffix(LOG).unwrap_or(&name);
    log.with_file_name(format!("{stem}{JSON}"))
}

fn read_json<T: DeserializeOwned>(path: &Path) -> io::Result<T> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)?;
    let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    if bytes.len() as u64 > MAX_BYTES {
        return Err(invalid(format!("more than {MAX_BYTES} bytes")));
    }
    serde_json::from_slice(&bytes).map_err(|error| invalid(error.to_string()))
}

fn write_json(path: &Path, mode: FileMode, content: &impl Serialize) -> io::Result<()> {
    let mut options = File::options();
    let options = options.write(true).create(true).truncate(true);
    let mut file = mode.open(options, path)?;
    file.write_all(&serde_json::to_vec(content)?)?;
    file.sync_all()
}

/// Removes a file; a missing file is not an error.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// The suffix of the origin's name just before the log is committed.
const FINAL: &str = ".final";

/// A log that is being written into the archive. Dropping it removes its files.
pub struct LogSpool {
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

impl LogSpool {
    /// Starts a log in a new file.
    fn create(archive: Arc<Archive>, path: PathBuf, origin: LogOrigin) -> io::Result<Self> {
        let longer = archive.known().clone();
        let file = archive.mode.create(File::options().write(true), &path)?;
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
        write_partial(
            &beside(&spool.path, JSON),
            spool.archive.mode,
            &spool.origin,
        )?;
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
        let Ok((written, known)) = read_origin(archived) else {
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
        write_archived(&json, self.archive.mode, written, &corrected)?;
        fs::rename(&json, json_of(archived))?;
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
            write_archived(&json, self.archive.mode, written, &self.origin)?;
            fs::rename(&json, json_of(&path))?;
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
            remove(&json_of(&log))?;
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

impl Drop for LogSpool {
    fn drop(&mut self) {
        let _ = remove_partial(&self.path);
    }
}

impl std::fmt::Debug for LogSpool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Spool")
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}

/// The path of a partial log's origin.
fn path_of_partial_origin(log: &Path) -> PathBuf {
    beside(log, JSON)
}

/// Removes a partial log and its origin.
fn remove_partial(log: &Path) -> io::Result<()> {
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

    #[test]
    fn hostile_origins_are_refused() {
        let folder = TempDir::new().unwrap();
        let log = folder.path().join("a.log.gz");
        fs::write(&log, "nonsense").unwrap();
        let json = json_of(&log);
        let error = read_origin(&log).unwrap_err().to_string();
        assert!(error.contains("a.json"), "it is missing: {error}");
        assert_eq!(json, folder.path().join("a.json"));
        let deep = "[".repeat(20_000);
        let long = format!(
            r#"{{"written":1,"server":"{}"}}"#,
            "x".repeat(MAX_BYTES as usize)
        );
        let hostile = [
            "",
            "null",
            "[]",
            "{}",
            "\u{0}",
            &deep,
            &long,
            r#"{"server":"s"}"#,
            r#"{"written":1e400,"server":"s"}"#,
            r#"{"written":9223372036854775808,"server":"s"}"#,
            r#"{"written":1,"server":["s"]}"#,
            r#"{"written":1,"server":"s","began":"x"}"#,
            r#"{"written":1,"server":"s"} {"#,
            &format!(r#"{{"written":1,"server":"s","x":{deep}"#),
        ];
        for text in hostile {
            fs::write(&json, text).unwrap();
            let error = read_origin(&log).unwrap_err().to_string();
            let start: String = text.chars().take(40).collect();
            assert!(error.contains("a.json"), "{start}: {error}");
        }
        fs::write(&json, [0xff, 0xfe]).unwrap();
        assert!(read_origin(&log).is_err());
        // A key of a later version does no harm, and no number is too great or too small.
        let extreme =
            r#"{"written":-9223372036854775808,"server":"s","began":9223372036854775807,"x":{}}"#;
        fs::write(&json, extreme).unwrap();
        let (written, origin) = read_origin(&log).unwrap();
        assert_eq!((written.0, origin.began), (i64::MIN, Some(i64::MAX)));
    }
}
