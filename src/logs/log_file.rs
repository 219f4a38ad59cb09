//! A log file and its bytes, compressed or not.

use std::{
    fs::File,
    io::{self, BufReader, Read},
    path::{Path, PathBuf},
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
        match formats::why_unread(head) {
            Some(why) => LogError::NotRead { path, why },
            None => LogError::Unknown {
                path,
                first: formats::first_line(head),
            },
        }
    })
}
