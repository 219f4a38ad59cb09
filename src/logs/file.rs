//! A file of a log's bytes, compressed or not.

use std::{
    fs::File,
    io::{self, BufReader, Read},
    path::{Path, PathBuf},
};

use flate2::bufread::MultiGzDecoder;

use super::{LogError, timestamp};
use crate::{
    domain::Timestamp,
    ingest::{self as formats, Context, Format, HEAD, Reader},
};

/// How compressed files begin.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// A log's file, and what the file system says of it.
#[derive(Debug)]
pub struct LogFile {
    path: PathBuf,
    /// When it was last written.
    pub written: Timestamp,
    /// Whether it can be read twice: a pipe cannot.
    pub is_file: bool,
}

impl LogFile {
    /// Looks at a file.
    ///
    /// # Errors
    /// The file system's.
    pub fn new(path: &Path) -> Result<Self, LogError> {
        let meta = path.metadata().map_err(LogError::file(path))?;
        let written = meta.modified().map_err(LogError::file(path))?;
        Ok(Self {
            path: path.to_owned(),
            written: timestamp(written),
            is_file: meta.is_file(),
        })
    }

    /// Opens it, at its beginning.
    ///
    /// # Errors
    /// The file system's.
    pub fn open(&self) -> io::Result<Bytes> {
        let mut file = BufReader::new(Counted {
            file: File::open(&self.path)?,
            count: 0,
        });
        let compressed = io::BufRead::fill_buf(&mut file)?.starts_with(&GZIP);
        Ok(match compressed {
            true => Bytes::Compressed(Box::new(MultiGzDecoder::new(file))),
            false => Bytes::Plain(file),
        })
    }

    /// How much time its clock tells from beginning to end, in milliseconds.
    ///
    /// # Errors
    /// The file system's.
    pub fn elapsed(&self, format: &Format) -> io::Result<i64> {
        let mut reader = Reader::new(format, &Context::default());
        let (mut chunk, mut items) = (vec![0; HEAD], Vec::new());
        let mut bytes = self.open()?;
        loop {
            let filled = bytes.fill(&mut chunk)?;
            if filled == 0 {
                return Ok(i64::try_from(reader.finish(&mut items)).unwrap_or(0));
            }
            reader.feed(&chunk[..filled], &mut items);
            items.clear();
        }
    }
}

/// A log's bytes as they were written.
pub enum Bytes {
    /// As they stand in the file.
    Plain(BufReader<Counted>),
    /// Uncompressed (gzip).
    Compressed(Box<MultiGzDecoder<BufReader<Counted>>>),
}

/// A file, and how much of it was read.
pub struct Counted {
    file: File,
    count: u64,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.count += read as u64;
        Ok(read)
    }
}

impl Bytes {
    /// Bytes of the file read so far.
    pub fn done(&self) -> u64 {
        match self {
            Self::Plain(file) => file.get_ref().count,
            Self::Compressed(decoder) => decoder.get_ref().get_ref().count,
        }
    }

    /// Fills `chunk` unless the log ends; how much of it is filled.
    ///
    /// # Errors
    /// The file system's, or damaged compression.
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

/// Of what format a log is that begins like this.
pub(super) fn detect(head: &[u8], path: &Path) -> Result<&'static Format, LogError> {
    formats::detect(head).ok_or_else(|| LogError::Unknown {
        path: path.to_owned(),
    })
}
