//! Reads a file that another program is writing.
//!
//! Reads block, and there is no clock and no task: the owner of a [`Tail`] decides when to read.
//!
//! - If the file was renamed and created again (rotated), the old one is read to its end before the new one, and
//!   between the two those that were rotated in the meantime.
//! - If it was truncated, or rewritten in place, it is read again from its beginning. If it was copied before it was
//!   truncated (`copytruncate` of logrotate), what was not read yet comes from the copy: the lines that were written
//!   after the last one that was read.

use std::{
    collections::VecDeque,
    fs::{File, Metadata},
    io::{self, Read, Seek, SeekFrom},
    path::{Path, PathBuf},
    time::SystemTime,
};

use file_id::{FileId, get_file_id};

use super::log_file::{LogBytes, LogFile, additions};

/// How many of the last bytes read are compared with the file before reading on.
const MARK: usize = 64;

/// The most files that are read between two polls.
const MAX_BETWEEN: usize = 100;

/// How often opening is retried if the file is replaced at that moment.
const ATTEMPTS: usize = 8;

/// The result of [`Tail::read`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tailed {
    /// This many more bytes were read.
    Bytes(usize),
    /// The next bytes are the beginning of another file; an incomplete last line remains
    /// incomplete.
    Fresh,
    /// Like [`Tailed::Fresh`], after the file was truncated or rewritten, and no copy of it was found:
    /// what was written after the last byte that was read is lost.
    Truncated,
    /// There is nothing new, or no file of that name.
    Nothing,
}

/// A file that is read as it grows.
#[derive(Debug)]
pub struct Tail {
    path: PathBuf,
    open: Option<OpenFile>,
    /// What is read before the open file: the rest of a copy of it from before it was truncated, or the files
    /// that were rotated since the file before it was read.
    before: VecDeque<EarlierBytes>,
}

/// The bytes of a file that does not grow any more.
struct EarlierBytes(LogBytes);

impl std::fmt::Debug for EarlierBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let position = self.0.position();
        f.debug_tuple("EarlierBytes").field(&position).finish()
    }
}

#[derive(Debug)]
struct OpenFile {
    file: File,
    /// Identifies the file, also after it is renamed.
    id: FileId,
    offset: u64,
    /// The first bytes, at most [`FIRST`].
    first: Vec<u8>,
    /// When it was last written, as of the last read.
    written: Option<SystemTime>,
    /// The last bytes before `offset`, at most [`MARK`].
    mark: Vec<u8>,
    /// Whether the file was read to its end, so that it may have been rewritten since.
    idle: bool,
}

impl Tail {
    /// Reads a file from its beginning. The file need not exist yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            open: None,
            before: VecDeque::new(),
        }
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many bytes of the file are not read yet; 0 if there is no file.
    pub fn unread(&self) -> u64 {
        let length = self.path.metadata().map_or(0, |file| file.len());
        let read = self.open.as_ref().map_or(0, |open| open.offset);
        length.saturating_sub(read)
    }

    /// When the file being read was last written; `None` without a file, or if the file system does
    /// not record it.
    pub fn written(&self) -> Option<SystemTime> {
        let open = self.open.as_ref()?;
        open.file.metadata().ok()?.modified().ok()
    }

    /// Number of bytes of the file read so far.
    pub fn offset(&self) -> u64 {
        self.open.as_ref().map_or(0, |open| open.offset)
    }

    /// The id of the file being read, `None` if none is open.
    pub fn id(&self) -> Option<FileId> {
        self.open.as_ref().map(|open| open.id)
    }

    /// Reads the next bytes into `chunk`. Call it until it returns [`Tailed::Nothing`].
    ///
    /// # Errors
    /// Fails if the file cannot be read, and with `InvalidInput` if the path leads to something else,
    /// such as a pipe or a folder.
    pub fn read(&mut self, chunk: &mut [u8]) -> io::Result<Tailed> {
        if self.open.is_none() {
            self.open = OpenFile::new(&self.path)?;
        }
        let Some(open) = &mut self.open else {
            return Ok(Tailed::Nothing);
        };
        if let Some(EarlierBytes(earlier)) = self.before.front_mut() {
            return Ok(match earlier.fill(chunk) {
                Ok(count) if count > 0 => Tailed::Bytes(count),
                _ => {
                    self.before.pop_front();
                    Tailed::Fresh
                }
            });
        }
        if std::mem::take(&mut open.idle) && !open.has_grown()? {
            let copy = rest_of(&self.path, &open.seen());
            self.before.extend(copy.map(EarlierBytes));
            open.rewind();
            return match self.before.is_empty() {
                false => self.read(chunk),
                true => Ok(Tailed::Truncated),
            };
        }
        let count = open.read(chunk)?;
        if count > 0 {
            return Ok(Tailed::Bytes(count));
        }
        // Look for the successor before the last read, so that everything written before it is
        // read.
        if let Some(next) = successor(&self.path, open.id)? {
            let count = open.read(chunk)?;
            if count > 0 {
                return Ok(Tailed::Bytes(count));
            }
            let missed = rotated_between(&self.path, open, &next);
            self.before.extend(missed.into_iter().map(EarlierBytes));
            *open = next;
            return Ok(Tailed::Fresh);
        }
        open.idle = true;
        Ok(Tailed::Nothing)
    }
}

/// The file that has replaced the one with this id, once it has content. Until then, a writer may
/// continue in the old file.
fn successor(path: &Path, id: FileId) -> io::Result<Option<OpenFile>> {
    let Some(found) = found(get_file_id(path))? else {
        return Ok(None);
    };
    if found == id {
        return Ok(None);
    }
    match path.metadata() {
        Ok(meta) if meta.len() > 0 => OpenFile::new(path),
        Ok(_) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The files that were rotated between two others that were both at this path, sorted by time: those that
/// were written, or made, after the first one. Opened at once, because they may be renamed again.
fn rotated_between(path: &Path, first: &OpenFile, last: &OpenFile) -> Vec<LogBytes> {
    let is_other = |file: &Path| {
        let id = get_file_id(file).ok();
        id.is_some_and(|id| id != first.id && id != last.id)
    };
    let Some(after) = first.file.metadata().ok().as_ref().and_then(age) else {
        return Vec::new();
    };
    let found = additions(path).filter_map(|(_, file)| {
        let age = age(&file.metadata().ok()?)?;
        (age >= after && is_other(&file)).then_some((age, file))
    });
    let mut found: Vec<_> = found.collect();
    found.sort();
    let open = |file: &PathBuf| LogFile::new(file).ok()?.open().ok();
    // A copy of the first one, compressed or not, has nothing new.
    let is_copy = |file: &PathBuf| {
        let mut head = [0; FIRST];
        let read = open(file).and_then(|mut bytes| bytes.fill(&mut head).ok());
        let read = read.unwrap_or(0).min(first.first.len());
        read > 0 && head[..read] == first.first[..read]
    };
    let files = found.iter().map(|(_, file)| file);
    files
        .filter(|file| !is_copy(file))
        .take(MAX_BETWEEN)
        .filter_map(open)
        .collect()
}

/// When a file was last written and when it was made, by which rotated files are sorted.
fn age(meta: &Metadata) -> Option<(SystemTime, Option<SystemTime>)> {
    Some((meta.modified().ok()?, meta.created().ok()))
}

/// Converts the error of a missing file to `None`.
fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

impl OpenFile {
    /// Opens a file at its beginning; `None` if it does not exist.
    fn new(path: &Path) -> io::Result<Option<Self>> {
        for _ in 0..ATTEMPTS {
            let Some(meta) = found(path.metadata())? else {
                return Ok(None);
            };
            if !meta.is_file() {
                // Opening a pipe would block until its other end is opened.
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file"));
            }
            let Some(id) = found(get_file_id(path))? else {
                return Ok(None);
            };
            let Some(file) = found(File::open(path))? else {
                return Ok(None);
            };
            // The id comes from the path: if it is the same before and after opening, it is that of
            // the open file.
            if found(get_file_id(path))? == Some(id) {
                return Ok(Some(Self {
                    file,
                    id,
                    offset: 0,
                    first: Vec::new(),
                    written: None,
                    mark: Vec::new(),
                    idle: false,
                }));
            }
        }
        // The file is being replaced repeatedly; the next read tries again.
        Ok(None)
    }

    /// Whether the last bytes read are still in the file, that is, whether it has only grown.
    fn has_grown(&mut self) -> io::Result<bool> {
        let length = self.file.metadata()?.len();
        if length <= self.offset {
            return Ok(length == self.offset);
        }
        let mut now = [0; MARK];
        let now = &mut now[..self.mark.len()];
        let from = self.offset - self.mark.len() as u64;
        self.file.seek(SeekFrom::Start(from))?;
        match self.file.read_exact(now) {
            Ok(()) => Ok(*now == self.mark),
            // The file was truncated just now.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// What was read of the file.
    fn seen(&self) -> SeenPart<'_> {
        SeenPart {
            first: &self.first,
            last: &self.mark,
            length: self.offset,
            written: self.written,
        }
    }

    fn rewind(&mut self) {
        self.offset = 0;
        self.first.clear();
        self.mark.clear();
    }

    fn read(&mut self, chunk: &mut [u8]) -> io::Result<usize> {
        self.file.seek(SeekFrom::Start(self.offset))?;
        let count = loop {
            match self.file.read(chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => break done?,
            }
        };
        self.offset += count as u64;
        let read = &chunk[..count];
        if count > 0 {
            self.written = self.file.metadata()?.modified().ok();
        }
        let missing = FIRST - self.first.len();
        self.first.extend(&read[..missing.min(count)]);
        self.mark.extend(&read[count.saturating_sub(MARK)..]);
        let excess = self.mark.len().saturating_sub(MARK);
        self.mark.drain(..excess);
        Ok(count)
    }
}

/// How many of the first bytes of a log identify it.
pub(super) const FIRST: usize = 256;

/// What was read of a log before it was truncated.
#[derive(Debug)]
pub(super) struct SeenPart<'a> {
    /// The first bytes, at most [`FIRST`].
    pub(super) first: &'a [u8],
    /// The last bytes.
    pub(super) last: &'a [u8],
    /// Number of bytes.
    pub(super) length: u64,
    /// When the log was last written, as of the last read.
    pub(super) written: Option<SystemTime>,
}

/// What comes after the part that was read, in the copy of the log at `path`; `None` if there is no
/// copy.
fn rest_of(path: &Path, seen: &SeenPart<'_>) -> Option<LogBytes> {
    let mut copies: Vec<(SystemTime, PathBuf)> = additions(path)
        // An older log may begin in the same way.
        .filter(|(at, _)| seen.written.is_none_or(|written| *at >= written))
        .collect();
    copies.sort();
    let found = copies.iter().rev();
    let mut rests = found.filter_map(|(_, copy)| rest_in(copy, seen).ok().flatten());
    rests.next()
}

/// What comes after the part that was read, if the file begins with that part.
fn rest_in(copy: &Path, seen: &SeenPart<'_>) -> io::Result<Option<LogBytes>> {
    let Ok(log) = LogFile::new(copy) else {
        return Ok(None);
    };
    let mut bytes = log.open()?;
    let mut window = TailWindow::default();
    let mut chunk = vec![0; 64 * 1024];
    let mut left = seen.length;
    while left > 0 {
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(chunk.len());
        let read = bytes.fill(&mut chunk[..most])?;
        if read < most {
            return Ok(None);
        }
        window.take(&chunk[..read], seen);
        left -= read as u64;
    }
    let same = window.first == seen.first && window.last == seen.last;
    Ok(same.then_some(bytes))
}

/// The first and the last bytes of what was read of a copy.
#[derive(Default)]
struct TailWindow {
    first: Vec<u8>,
    last: Vec<u8>,
}

impl TailWindow {
    fn take(&mut self, read: &[u8], seen: &SeenPart<'_>) {
        let missing = seen.first.len() - self.first.len();
        self.first.extend(&read[..missing.min(read.len())]);
        self.last
            .extend(&read[read.len().saturating_sub(seen.last.len())..]);
        let excess = self.last.len().saturating_sub(seen.last.len());
        self.last.drain(..excess);
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write};

    use tempfile::TempDir;

    use super::*;

    /// Everything that can be read now; `|` marks the start of another file.
    fn all(tail: &mut Tail) -> String {
        let mut text = String::new();
        let mut chunk = [0; 7];
        loop {
            match tail.read(&mut chunk).unwrap() {
                Tailed::Bytes(count) => text += std::str::from_utf8(&chunk[..count]).unwrap(),
                Tailed::Fresh => text.push('|'),
                Tailed::Truncated => text.push('!'),
                Tailed::Nothing => return text,
            }
        }
    }

    fn append(path: &Path, text: &str) {
        let mut file = File::options()
            .append(true)
            .create(true)
            .open(path)
            .unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    #[test]
    fn a_file_that_grows_is_read_on() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("log");
        let mut tail = Tail::new(&path);
        assert_eq!(all(&mut tail), "");
        append(&path, "one\ntw");
        assert_eq!(all(&mut tail), "one\ntw");
        assert_eq!(all(&mut tail), "");
        append(&path, "o\n");
        assert_eq!(all(&mut tail), "o\n");
        assert!(tail.written().is_some());
    }

    #[test]
    fn a_renamed_file_is_read_to_its_end() {
        let folder = TempDir::new().unwrap();
        let (path, old) = (folder.path().join("log"), folder.path().join("log.1"));
        let mut tail = Tail::new(&path);
        append(&path, "one\n");
        assert_eq!(all(&mut tail), "one\n");
        fs::rename(&path, &old).unwrap();
        append(&old, "two\n");
        assert_eq!(all(&mut tail), "two\n");
        // The new file exists, and the writer has not noticed yet.
        append(&path, "");
        append(&old, "three\n");
        assert_eq!(all(&mut tail), "three\n");
        append(&old, "four\n");
        append(&path, "five\n");
        assert_eq!(all(&mut tail), "four\n|five\n");
    }

    #[test]
    fn files_that_were_rotated_in_the_meantime_are_read() {
        let folder = TempDir::new().unwrap();
        let [path, one, two, three] =
            ["log", "log.1", "log.2", "log.3"].map(|name| folder.path().join(name));
        append(&one, "an older log\n");
        let older = File::options().write(true).open(&one).unwrap();
        older.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let mut tail = Tail::new(&path);
        append(&path, "one\n");
        assert_eq!(all(&mut tail), "one\n");
        let rotate = || {
            fs::rename(&two, &three).ok();
            fs::rename(&one, &two).unwrap();
            fs::rename(&path, &one).unwrap();
        };
        append(&path, "two\n");
        rotate();
        append(&path, "three\n");
        rotate();
        compress(&one, &folder.path().join("log.1.gz"));
        fs::remove_file(&one).unwrap();
        append(&path, "four\n");
        assert_eq!(all(&mut tail), "two\n|three\n|four\n");
        append(&path, "five\n");
        assert_eq!(all(&mut tail), "five\n");
    }

    #[test]
    fn a_truncated_file_begins_anew() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("log");
        let mut tail = Tail::new(&path);
        append(&path, "one\ntwo\n");
        assert_eq!(all(&mut tail), "one\ntwo\n");
        fs::write(&path, "x\n").unwrap();
        assert_eq!(all(&mut tail), "!x\n");
        // Longer than before by the time of the next read.
        fs::write(&path, "something else\n").unwrap();
        assert_eq!(all(&mut tail), "!something else\n");
        fs::write(&path, "").unwrap();
        assert_eq!(all(&mut tail), "!");
        append(&path, "y\n");
        assert_eq!(all(&mut tail), "y\n");
    }

    /// Writes a compressed copy.
    fn compress(from: &Path, to: &Path) {
        let mut file =
            flate2::write::GzEncoder::new(File::create(to).unwrap(), flate2::Compression::fast());
        file.write_all(&fs::read(from).unwrap()).unwrap();
        file.finish().unwrap();
    }

    #[test]
    fn what_a_copy_has_is_not_lost() {
        type MakeCopy = fn(&Path, &Path);
        let copies: [(&str, MakeCopy); 4] = [
            ("log.1", |from, to| assert!(fs::copy(from, to).is_ok())),
            ("log-20261120", |from, to| {
                assert!(fs::copy(from, to).is_ok())
            }),
            ("log.1.gz", compress),
            ("other", |from, to| assert!(fs::copy(from, to).is_ok())),
        ];
        for (name, copy) in copies {
            for start in [
                "one\n".to_owned(),
                "a long line, again and again\n".repeat(9_000),
            ] {
                let folder = TempDir::new().unwrap();
                let (path, to) = (folder.path().join("log"), folder.path().join(name));
                let mut tail = Tail::new(&path);
                append(&path, &start);
                assert_eq!(all(&mut tail), start);
                append(&path, "two\nthr");
                copy(&path, &to);
                fs::write(&path, "ee\n").unwrap();
                let found = if name == "other" {
                    "!ee\n"
                } else {
                    "two\nthr|ee\n"
                };
                assert_eq!(all(&mut tail), found, "{name}");
                // Nothing is left in the next copy; the old one is not read again.
                copy(&path, &folder.path().join("log.2"));
                fs::write(&path, "").unwrap();
                assert_eq!(all(&mut tail), "|");
            }
        }
    }

    #[test]
    fn an_older_log_or_another_one_is_no_copy() {
        let folder = TempDir::new().unwrap();
        let (path, old) = (folder.path().join("log"), folder.path().join("log.1"));
        fs::write(&old, "one\nold\n").unwrap();
        let past = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(100);
        let file = File::options().write(true).open(&old).unwrap();
        file.set_modified(past).unwrap();
        fs::write(folder.path().join("log.2"), "two\nold\n").unwrap();
        fs::write(folder.path().join("log.3"), "on").unwrap();
        let mut tail = Tail::new(&path);
        append(&path, "one\n");
        assert_eq!(all(&mut tail), "one\n");
        fs::write(&path, "x").unwrap();
        assert_eq!(all(&mut tail), "!x");
    }

    #[test]
    fn what_is_no_file_is_refused() {
        let folder = TempDir::new().unwrap();
        let error = Tail::new(folder.path()).read(&mut [0; 4]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
