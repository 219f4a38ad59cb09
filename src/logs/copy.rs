//! The copy of a log that was made before the log was truncated (`copytruncate` of logrotate). It has
//! the lines that were written after the last one that was read.

use std::{
    io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use super::{
    folder::additions,
    log_file::{LogBytes, LogFile},
};

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
pub(super) fn rest_of(path: &Path, seen: &SeenPart<'_>) -> Option<LogBytes> {
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
    let mut window = Window::default();
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
struct Window {
    first: Vec<u8>,
    last: Vec<u8>,
}

impl Window {
    fn take(&mut self, read: &[u8], seen: &SeenPart<'_>) {
        let missing = seen.first.len() - self.first.len();
        self.first.extend(&read[..missing.min(read.len())]);
        self.last
            .extend(&read[read.len().saturating_sub(seen.last.len())..]);
        let excess = self.last.len().saturating_sub(seen.last.len());
        self.last.drain(..excess);
    }
}
