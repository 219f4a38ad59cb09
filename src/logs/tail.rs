//! One file that another program writes, read as it grows.
//!
//! Plain blocking reads without a clock or a task: whoever owns a [`Tail`] decides when to look again.
//! A file that was renamed and made anew (rotated) is read to its end before the new one is begun; one
//! that was truncated, or written anew in place, is begun anew.

use std::{
    fs::{File, Metadata},
    io,
    os::unix::fs::{FileExt, MetadataExt},
    path::{Path, PathBuf},
    time::SystemTime,
};

/// How many of the last bytes read are compared before more are believed to follow upon them.
const MARK: usize = 64;

/// What [`Tail::read`] came upon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tailed {
    /// So many further bytes.
    Bytes(usize),
    /// What follows is the beginning of another file: a line begun before has no end.
    Fresh,
    /// Nothing new for now, or no such file yet.
    Nothing,
}

/// See the module.
#[derive(Debug)]
pub struct Tail {
    path: PathBuf,
    /// Whether what the first file held before its first reading is passed over.
    skip: bool,
    open: Option<Open>,
}

#[derive(Debug)]
struct Open {
    file: File,
    /// Device and number: what tells it from another file of the same name.
    id: (u64, u64),
    offset: u64,
    /// The bytes before `offset`.
    mark: Vec<u8>,
    /// Whether all there was has been read, so that the file may have changed since.
    idle: bool,
}

impl Tail {
    /// Of this file, which need not exist yet, from its beginning.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let (skip, open) = (false, None);
        Self { path, skip, open }
    }

    /// Of this file, from where it ends at the first reading.
    pub fn from_end(path: impl Into<PathBuf>) -> Self {
        let skip = true;
        Self {
            skip,
            ..Self::new(path)
        }
    }

    /// The file's name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// When the file being read was last written.
    pub fn written(&self) -> Option<SystemTime> {
        let open = self.open.as_ref()?;
        open.file.metadata().ok()?.modified().ok()
    }

    /// How many bytes of it were read.
    pub fn offset(&self) -> u64 {
        self.open.as_ref().map_or(0, |open| open.offset)
    }

    /// Device and number of the file being read.
    pub fn id(&self) -> Option<(u64, u64)> {
        self.open.as_ref().map(|open| open.id)
    }

    /// Reads on, at most as much as `chunk` holds. To be called until there is [`Tailed::Nothing`].
    ///
    /// # Errors
    /// Of the file system, and `InvalidInput` for what is no file (a pipe, a folder).
    pub fn read(&mut self, chunk: &mut [u8]) -> io::Result<Tailed> {
        if self.open.is_none() && !self.begin()? {
            return Ok(Tailed::Nothing);
        }
        let Some(open) = &mut self.open else {
            return Ok(Tailed::Nothing);
        };
        if std::mem::take(&mut open.idle) && !open.goes_on()? {
            open.rewind();
            return Ok(Tailed::Fresh);
        }
        let count = open.read(chunk)?;
        if count > 0 {
            return Ok(Tailed::Bytes(count));
        }
        // Whether another file has taken its place is asked first, so that what was written before
        // is not missed.
        if let Some(next) = successor(&self.path, open.id)? {
            let count = open.read(chunk)?;
            if count > 0 {
                return Ok(Tailed::Bytes(count));
            }
            *open = next;
            return Ok(Tailed::Fresh);
        }
        open.idle = true;
        Ok(Tailed::Nothing)
    }

    /// Opens the file, if there is any.
    fn begin(&mut self) -> io::Result<bool> {
        let Some(mut open) = Open::new(&self.path)? else {
            // What comes to be after this was not there before.
            self.skip = false;
            return Ok(false);
        };
        if std::mem::take(&mut self.skip) {
            open.offset = open.file.metadata()?.len();
            let from = open.offset.saturating_sub(MARK as u64);
            let mut mark = vec![0; usize::try_from(open.offset - from).unwrap_or(0)];
            open.file.read_exact_at(&mut mark, from)?;
            open.mark = mark;
        }
        self.open = Some(open);
        Ok(true)
    }
}

/// The file that has taken the place of the one with this id, once something is in it: a writer may
/// go on in the old one until then.
fn successor(path: &Path, id: (u64, u64)) -> io::Result<Option<Open>> {
    match path.metadata() {
        Ok(meta) if id_of(&meta) != id && meta.len() > 0 => Open::new(path),
        Ok(_) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn id_of(meta: &Metadata) -> (u64, u64) {
    (meta.dev(), meta.ino())
}

impl Open {
    fn new(path: &Path) -> io::Result<Option<Self>> {
        let missing = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        match path.metadata() {
            Ok(meta) if meta.is_file() => {}
            // Opening a pipe would wait for its other end.
            Ok(_) => return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a file")),
            Err(error) if missing(&error) => return Ok(None),
            Err(error) => return Err(error),
        }
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if missing(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        let id = id_of(&file.metadata()?);
        Ok(Some(Self {
            file,
            id,
            offset: 0,
            mark: Vec::new(),
            idle: false,
        }))
    }

    /// Whether what was read is still what the file holds before `offset`.
    fn goes_on(&self) -> io::Result<bool> {
        let length = self.file.metadata()?.len();
        if length <= self.offset {
            return Ok(length == self.offset);
        }
        let mut now = [0; MARK];
        let now = &mut now[..self.mark.len()];
        match self
            .file
            .read_exact_at(now, self.offset - self.mark.len() as u64)
        {
            Ok(()) => Ok(*now == self.mark),
            // It was truncated this very moment.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn rewind(&mut self) {
        self.offset = 0;
        self.mark.clear();
    }

    fn read(&mut self, chunk: &mut [u8]) -> io::Result<usize> {
        let count = loop {
            match self.file.read_at(chunk, self.offset) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => break done?,
            }
        };
        self.offset += count as u64;
        let read = &chunk[..count];
        self.mark.extend(&read[count.saturating_sub(MARK)..]);
        let excess = self.mark.len().saturating_sub(MARK);
        self.mark.drain(..excess);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, io::Write};

    use tempfile::TempDir;

    use super::*;

    /// All there is to read now; `|` where another file begins.
    fn all(tail: &mut Tail) -> String {
        let mut text = String::new();
        let mut chunk = [0; 7];
        loop {
            match tail.read(&mut chunk).unwrap() {
                Tailed::Bytes(count) => text += std::str::from_utf8(&chunk[..count]).unwrap(),
                Tailed::Fresh => text.push('|'),
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
    fn it_grows() {
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
        // The new file is there, and the writer has not noticed yet.
        append(&path, "");
        append(&old, "three\n");
        assert_eq!(all(&mut tail), "three\n");
        append(&old, "four\n");
        append(&path, "five\n");
        assert_eq!(all(&mut tail), "four\n|five\n");
    }

    #[test]
    fn a_truncated_file_begins_anew() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("log");
        let mut tail = Tail::new(&path);
        append(&path, "one\ntwo\n");
        assert_eq!(all(&mut tail), "one\ntwo\n");
        fs::write(&path, "x\n").unwrap();
        assert_eq!(all(&mut tail), "|x\n");
        // Longer than before, by the time it is looked at.
        fs::write(&path, "something else\n").unwrap();
        assert_eq!(all(&mut tail), "|something else\n");
        fs::write(&path, "").unwrap();
        assert_eq!(all(&mut tail), "|");
        append(&path, "y\n");
        assert_eq!(all(&mut tail), "y\n");
    }

    #[test]
    fn from_the_end() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("log");
        append(&path, "old\n");
        let mut tail = Tail::from_end(&path);
        assert_eq!(all(&mut tail), "");
        append(&path, "new\n");
        assert_eq!(all(&mut tail), "new\n");
        let later = folder.path().join("later");
        let mut tail = Tail::from_end(&later);
        assert_eq!(all(&mut tail), "");
        append(&later, "all of it\n");
        assert_eq!(all(&mut tail), "all of it\n");
    }

    #[test]
    fn what_is_no_file_is_refused() {
        let folder = TempDir::new().unwrap();
        let error = Tail::new(folder.path()).read(&mut [0; 4]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
    }
}
