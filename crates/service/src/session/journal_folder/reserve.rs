//! Room on the disk that is kept for journals, and given to them when the disk is full: a game that begins then has a
//! journal, and so has a match that cannot be written to the database.

use std::{
    fs::{File, OpenOptions},
    io::{self, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use parking_lot::Mutex;

use crate::files::{FileMode, is_full, room};

/// The file that takes up the room. Its content means nothing.
const NAME: &str = "reserve";
/// The most bytes in reserve: enough for the running games of five hundred servers.
const MOST: u64 = 4 << 20;
/// The part of the room on a small disk that is not taken.
const SHARE: u64 = 16;
/// Room is given back in multiples of this, the usual block of a file system.
const BLOCK: u64 = 4_096;

/// Room on the disk of a folder.
#[derive(Debug)]
pub(super) struct Reserve {
    folder: PathBuf,
    /// `None` if there is no reserve.
    file: Mutex<Option<File>>,
    /// Whether some of it was used since it was last complete.
    used: AtomicBool,
}

impl Reserve {
    /// Opens the reserve of a folder. Without one, journals are written as long as the disk has room.
    pub(super) fn open(folder: &Path, mode: FileMode) -> Self {
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(false);
        let opened = mode.open(options, &folder.join(NAME));
        if let Err(error) = &opened {
            tracing::warn!(%error, "no room on the disk is kept for journals");
        }
        Self {
            folder: folder.to_owned(),
            file: Mutex::new(opened.ok()),
            used: AtomicBool::new(false),
        }
    }

    /// Takes up room, as far as the disk has much more. Blocks.
    pub(super) fn fill(&self) {
        let file = self.file.lock();
        let Some(file) = file.as_ref() else { return };
        match fill(file, room(&self.folder)) {
            Ok(true) if self.used.swap(false, Ordering::Relaxed) => {
                tracing::info!("the disk has room again, and some of it is kept for journals");
            }
            Ok(_) => {}
            Err(error) => tracing::debug!(%error, "no more room can be kept for journals"),
        }
    }

    /// Gives room for `bytes` bytes back to the disk if `error` says that it is full. Returns whether to try the write again.
    pub(super) fn is_released(&self, error: &io::Error, bytes: u64) -> bool {
        let file = self.file.lock();
        let Some(file) = file.as_ref().filter(|_| is_full(error)) else {
            return false;
        };
        let length = file.metadata().map_or(0, |found| found.len());
        // A block more, for the name of a new file.
        let shorter = length.saturating_sub(bytes.next_multiple_of(BLOCK) + BLOCK);
        let released = length > 0 && file.set_len(shorter).is_ok();
        if released && !self.used.swap(true, Ordering::Relaxed) {
            tracing::warn!(
                "the disk is full: journals are written to the room that is kept for them"
            );
        }
        released
    }
}

/// Extends the reserve if the disk has `room` bytes left. Returns whether the reserve is complete.
fn fill(mut file: &File, room: u64) -> io::Result<bool> {
    let length = file.metadata()?.len();
    let goal = MOST.min((room.saturating_add(length)) / SHARE);
    let goal = goal - goal % BLOCK;
    if length >= goal {
        return Ok(length >= MOST);
    }
    // Bytes that a file system cannot store in less room.
    let mut drawn = 0x9e37_79b9_7f4a_7c15_u64;
    let noise: Vec<u8> = (0..BLOCK).map(|_| next(&mut drawn)).collect();
    file.seek(SeekFrom::Start(length - length % BLOCK))?;
    for _ in 0..(goal - (length - length % BLOCK)) / BLOCK {
        file.write_all(&noise)?;
    }
    Ok(true)
}

/// The next byte of a sequence without patterns: Marsaglia's xorshift.
fn next(state: &mut u64) -> u8 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    state.to_le_bytes()[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_part_of_a_small_disk_is_taken_and_given_back_in_blocks() {
        let folder = tempfile::TempDir::new().unwrap();
        let reserve = Reserve::open(folder.path(), FileMode::default());
        let length = || std::fs::metadata(folder.path().join(NAME)).unwrap().len();
        let file = File::options()
            .write(true)
            .open(folder.path().join(NAME))
            .unwrap();
        assert!(fill(&file, 16 * 50_000).unwrap());
        assert_eq!(length(), 12 * BLOCK);
        fill(&file, 0).unwrap();
        assert_eq!(length(), 12 * BLOCK, "what is taken is not given back");
        let full = io::Error::from(io::ErrorKind::StorageFull);
        assert!(!reserve.is_released(&io::Error::other("broken"), 1));
        assert!(reserve.is_released(&full, 1));
        assert_eq!(length(), 10 * BLOCK);
        assert!(reserve.is_released(&full, 9 * BLOCK));
        assert_eq!(length(), 0);
        assert!(!reserve.is_released(&full, 1), "nothing is left");
        assert!(fill(&file, u64::MAX).unwrap());
        assert_eq!(length(), MOST);
    }
}
