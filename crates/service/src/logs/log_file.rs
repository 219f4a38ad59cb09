//! A log file and its bytes, compressed or not, and the files of a folder of logs.

use std::{
    collections::VecDeque,
    fs::File,
    io::{self, BufReader, Read},
    path::{Path, PathBuf},
    time::SystemTime,
};

use flate2::bufread::MultiGzDecoder;

use super::{LogError, timestamp};
use crate::{
    ingest::{self as formats, Context, Format, HEAD, Reader},
    model::Timestamp,
};

/// The first bytes of a gzip file.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The file of a log, and its metadata.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    /// When the file was last written.
    pub written: Timestamp,
    /// Whether the file can be read twice, unlike a pipe.
    pub is_file: bool,
}

impl LogFile {
    /// Reads the metadata of a file.
    ///
    /// # Errors
    /// Fails if the operating system refuses.
    pub fn new(path: &Path) -> Result<Self, LogError> {
        let meta = path.metadata().map_err(LogError::file(path))?;
        let written = meta.modified().map_err(LogError::file(path))?;
        Ok(Self {
            path: path.to_owned(),
            written: timestamp(written),
            is_file: meta.is_file(),
        })
    }

    /// Opens the file at its beginning.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn open(&self) -> io::Result<LogBytes> {
        let mut file = BufReader::new(CountingFile {
            file: File::open(&self.path)?,
            count: 0,
        });
        let compressed = io::BufRead::fill_buf(&mut file)?.starts_with(&GZIP);
        Ok(match compressed {
            true => LogBytes::Compressed(Box::new(MultiGzDecoder::new(file))),
            false => LogBytes::Plain(file),
        })
    }

    /// Reads the whole log to find the time that passes on its own clock, in milliseconds. Calls
    /// `stopped` after each chunk, and stops if it returns true.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or with [`LogError::Stopped`] if `stopped` returns true.
    pub fn elapsed(
        &self,
        format: &Format,
        mut stopped: impl FnMut() -> bool,
    ) -> Result<i64, LogError> {
        let context = Context {
            written: Some(self.written),
            ..Context::default()
        };
        let mut reader = Reader::new(format, &context);
        let mut items = Vec::new();
        let mut chunks = self.chunks()?;
        while let Some(chunk) = chunks.read()? {
            reader.feed(chunk, &mut items);
            items.clear();
            if stopped() {
                return Err(LogError::Stopped);
            }
        }
        let elapsed = reader.finish(&mut items);
        Ok(i64::try_from(elapsed).unwrap_or(0))
    }

    /// Opens the file at its beginning, to be read in chunks.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn chunks(&self) -> Result<LogChunks, LogError> {
        let fail = LogError::file(&self.path);
        let mut bytes = self.open().map_err(&fail)?;
        let mut chunk = vec![0; HEAD];
        let filled = bytes.fill(&mut chunk).map_err(&fail)?;
        Ok(LogChunks {
            path: self.path.clone(),
            bytes,
            chunk,
            filled,
            is_first: true,
        })
    }
}

/// A log that is being read in chunks of [`HEAD`] bytes.
pub struct LogChunks {
    path: PathBuf,
    bytes: LogBytes,
    chunk: Vec<u8>,
    /// How many bytes of `chunk` are of the log.
    filled: usize,
    /// Whether `chunk` is the first one, which [`read`](Self::read) has not returned yet.
    is_first: bool,
}

impl LogChunks {
    /// Fails with [`LogError::Empty`] if the log has no content.
    ///
    /// # Errors
    /// See above. Call it before [`read`](Self::read).
    pub fn check_content(&self) -> Result<(), LogError> {
        match self.filled {
            0 => Err(LogError::Empty {
                path: self.path.clone(),
            }),
            _ => Ok(()),
        }
    }

    /// The format of the log by its first chunk.
    ///
    /// # Errors
    /// Fails if no format is detected. Call it before [`read`](Self::read).
    pub fn detect(&self) -> Result<&'static Format, LogError> {
        detect(&self.chunk[..self.filled], &self.path)
    }

    /// The next bytes of the log; `None` at its end.
    ///
    /// # Errors
    /// Fails if the file cannot be read or its compression is damaged.
    pub fn read(&mut self) -> Result<Option<&[u8]>, LogError> {
        if !std::mem::take(&mut self.is_first) {
            let filled = self.bytes.fill(&mut self.chunk);
            self.filled = filled.map_err(LogError::file(&self.path))?;
        }
        Ok((self.filled > 0).then(|| &self.chunk[..self.filled]))
    }

    /// Number of bytes of the file read so far; of a compressed file, compressed bytes.
    pub fn position(&self) -> u64 {
        self.bytes.position()
    }
}

/// The uncompressed bytes of a log.
pub enum LogBytes {
    /// The file is not compressed.
    Plain(BufReader<CountingFile>),
    /// The file is compressed with gzip.
    Compressed(Box<MultiGzDecoder<BufReader<CountingFile>>>),
}

/// A file that counts the bytes read from it.
pub struct CountingFile {
    file: File,
    count: u64,
}

impl Read for CountingFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.count += read as u64;
        Ok(read)
    }
}

impl LogBytes {
    /// Number of bytes of the file read so far; for a compressed file, compressed bytes.
    pub fn position(&self) -> u64 {
        match self {
            Self::Plain(file) => file.get_ref().count,
            Self::Compressed(decoder) => decoder.get_ref().get_ref().count,
        }
    }

    /// Fills `chunk` with the next bytes of the log, and returns how many; 0 at the end. It returns
    /// fewer than the chunk's length only if the log ends.
    ///
    /// # Errors
    /// Fails if the file cannot be read or its compression is damaged.
    pub fn fill(&mut self, chunk: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < chunk.len() {
            let read = match self {
                Self::Plain(file) => file.read(&mut chunk[filled..]),
                Self::Compressed(decoder) => decoder.read(&mut chunk[filled..]),
            };
            match read {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }
}

/// The format of the log at `path`, which begins with `head`.
pub(super) fn detect(head: &[u8], path: &Path) -> Result<&'static Format, LogError> {
    formats::detect(head).ok_or_else(|| {
        let path = path.to_owned();
        match formats::foreign::why_unread(head) {
            Some(why) => LogError::NotRead { path, why },
            None => LogError::Unknown {
                path,
                first: formats::foreign::first_line(head),
            },
        }
    })
}

/// The visible files of a folder, sorted; the path itself if it is no folder.
pub fn log_files(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = path.read_dir() else {
        return vec![path.to_owned()];
    };
    let visible = |entry: &std::fs::DirEntry| {
        let name = entry.file_name();
        !name.as_encoded_bytes().starts_with(b".") && entry.path().is_file()
    };
    let mut found: Vec<_> = entries
        .flatten()
        .filter(visible)
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

/// The file that was rotated to make room for the one at `path`: of the files in the same folder whose
/// name adds something to that of `path`, as `games.log.1`, `games.log-20261120` and `games-1.log` do to
/// `games.log`, the one that was written last, but not after `path` itself.
fn rotated(path: &Path) -> Option<PathBuf> {
    let latest = path.metadata().ok()?.modified().ok()?;
    let earlier = additions(path).filter(|(at, _)| *at <= latest);
    earlier.max().map(|(_, other)| other)
}

/// The most logs that are read before a followed one, and the most bytes of all but the last of them: a game that goes over
/// more files than that is in small ones.
const MOST_EARLIER: usize = 8;
const MOST_BYTES: u64 = 64 << 20;

/// The files that were rotated before the one at `path`, the oldest first. `path` may be a rotated file itself: `games.log.2`
/// is before `games.log.1`. There are at most [`MOST_EARLIER`] of them.
pub(super) fn earlier(path: &Path) -> Vec<PathBuf> {
    let written = path.metadata().and_then(|meta| meta.modified());
    let (base, Ok(latest)) = (base_of(path), written) else {
        return Vec::new();
    };
    let is_base = base == path;
    let found = additions(&base).filter(|(at, other)| match is_base {
        true => *at <= latest,
        false => *at < latest && other != path,
    });
    let mut found: Vec<_> = found.collect();
    found.sort();
    let (mut all, mut bytes) = (VecDeque::new(), 0u64);
    for (_, other) in found.into_iter().rev().take(MOST_EARLIER) {
        if !all.is_empty() {
            bytes = bytes.saturating_add(other.metadata().map_or(MOST_BYTES, |meta| meta.len()));
        }
        if bytes > MOST_BYTES {
            break;
        }
        all.push_front(other);
    }
    all.into()
}

/// The name under which a rotated log was written: of the files in the folder to whose names that of `path` adds something,
/// the one with the shortest; `path` itself if there is none.
fn base_of(path: &Path) -> PathBuf {
    let entries = path.parent().and_then(|folder| folder.read_dir().ok());
    let others = entries
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let base = others
        .filter(|other| adds_to(other, path))
        .min_by_key(|other| (other.as_os_str().len(), other.clone()));
    base.unwrap_or_else(|| path.to_owned())
}

/// The files in the same folder whose name adds something to that of `path`, and when they were last
/// written.
pub(super) fn additions(path: &Path) -> impl Iterator<Item = (SystemTime, PathBuf)> {
    let folder = match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => path,
    };
    let entries = folder.read_dir().into_iter().flatten().flatten();
    entries.filter_map(move |entry| {
        let other = entry.path();
        let meta = other.metadata().ok()?;
        let is_addition = meta.is_file() && adds_to(path, &other);
        is_addition.then_some((meta.modified().ok()?, other))
    })
}

/// The file for which the one at `path` was rotated: the one in the same folder of which `path` is the
/// [`rotated`] one.
pub(super) fn successor(path: &Path) -> Option<PathBuf> {
    let entries = path.parent()?.read_dir().ok()?.flatten();
    let mut others = entries.map(|entry| entry.path());
    others.find(|other| adds_to(other, path) && rotated(other).as_deref() == Some(path))
}

/// Whether the name of `other` is that of `path` with an addition, after the name or before its
/// extension.
fn adds_to(path: &Path, other: &Path) -> bool {
    let text =
        |part: Option<&std::ffi::OsStr>| part.map(|part| part.to_string_lossy().into_owned());
    let (Some(name), Some(stem), Some(other)) = (
        text(path.file_name()),
        text(path.file_stem()),
        text(other.file_name()),
    ) else {
        return false;
    };
    let added = |start: &str| {
        let rest = other.strip_prefix(start);
        rest.filter(|rest| rest.starts_with(['.', '-', '_']))
    };
    let extension = text(path.extension()).map(|extension| format!(".{extension}"));
    let before = |rest: &str| {
        let middle = rest.strip_suffix(extension.as_deref().unwrap_or_default());
        middle
            .is_some_and(|middle| !middle.is_empty() && middle.chars().any(|c| c.is_ascii_digit()))
    };
    other != name && (added(&name).is_some() || added(&stem).is_some_and(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rotated_log_has_a_successor() {
        let folder = tempfile::TempDir::new().unwrap();
        let [old, new] = ["games.log.1", "games.log"].map(|name| folder.path().join(name));
        std::fs::write(&old, "x").unwrap();
        assert_eq!(successor(&old), None);
        std::fs::write(&new, "y").unwrap();
        assert_eq!(successor(&old), Some(new.clone()));
        assert_eq!(successor(&new), None);
    }

    #[test]
    fn names_of_rotated_logs() {
        let adds = |other: &str| adds_to(Path::new("/x/games.log"), &Path::new("/x").join(other));
        for other in [
            "games.log.1",
            "games.log-20261120",
            "games-1.log",
            "games.log.2.gz",
        ] {
            assert!(adds(other), "{other}");
        }
        for other in [
            "games.log",
            "games2.log",
            "other.log",
            "games-x.log",
            "games.txt",
        ] {
            assert!(!adds(other), "{other}");
        }
    }
}
