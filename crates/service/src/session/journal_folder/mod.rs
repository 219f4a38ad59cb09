//! The folder of journals: their files, bounded together, and their way to the disk. One daemon has a folder for
//! itself, which a file in it shows.
//!
//! Room on the disk is kept for journals, and given to them when the disk is full: a game that begins then has a
//! journal, and so has a match that cannot be written to the database.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    thread,
};

use parking_lot::Mutex;

use crate::{
    files::{FileMode, is_full, room},
    lobby::journal::{HEADER, copy_of_beginning},
    model::Timestamp,
};

/// The most bytes of all journals together.
const MAX_BYTES: u64 = 64 << 20;
/// The most bytes of one journal.
const MAX_FILE: u64 = 8 << 20;
/// No daemon reaches this number of a journal.
const MAX_NUMBER: u64 = 1 << 62;
/// What the header of every version begins with.
const MAGIC: &[u8] = HEADER.split_at(HEADER.len() - 1).0;
/// The end of a journal's file name; before it stands its number.
const SUFFIX: &str = ".game";

/// An open folder of journals, which no other daemon can open until this is dropped.
#[derive(Debug)]
pub(super) struct JournalFolder {
    path: PathBuf,
    /// The locked file. Held while files are forced to the disk, which happens once at a time.
    lock: Mutex<FolderLock>,
    files: Mutex<Vec<Arc<JournalFile>>>,
    /// The bytes of all files.
    used: AtomicU64,
    next: AtomicU64,
    /// Whether files were created or removed since the folder was last forced to the disk.
    changed: AtomicBool,
    /// Room for journals on a disk that is full otherwise.
    reserve: Reserve,
    /// The mode of new files.
    mode: FileMode,
}

impl JournalFolder {
    /// Opens a folder, creates it if there is none, and locks it until this is dropped. Returns also when a
    /// daemon was last alive that used it.
    ///
    /// # Errors
    /// Another daemon uses the folder, or it cannot be written.
    pub(super) fn open(path: &Path, mode: FileMode) -> io::Result<(Self, Option<Timestamp>)> {
        fs::create_dir_all(path)?;
        let (lock, alive) = FolderLock::take(path, mode)?;
        let folder = Self {
            path: path.to_owned(),
            lock: Mutex::new(lock),
            files: Mutex::default(),
            used: AtomicU64::new(0),
            next: AtomicU64::new(0),
            changed: AtomicBool::new(true),
            reserve: Reserve::open(path, mode),
            mode,
        };
        Ok((folder, alive))
    }

    /// The journals in the folder, the latest first, each with its content. Journals beyond the bounds are
    /// removed, and so are files that cannot be read. A file of another program is left alone, and so is one
    /// that this user may not read or write.
    ///
    /// # Errors
    /// The folder cannot be listed.
    pub(super) fn load(&self) -> io::Result<Vec<(Arc<JournalFile>, Vec<u8>)>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            let number = name.and_then(|name| name.strip_suffix(SUFFIX)?.parse::<u64>().ok());
            found.extend(number.map(|number| (number, path)));
        }
        found.sort_unstable_by(|a, b| b.cmp(a));
        let possible = found.iter().find(|(number, _)| *number < MAX_NUMBER);
        let next = possible.map_or(0, |(number, _)| number + 1);
        self.next.store(next, Ordering::Relaxed);
        let mut loaded = Vec::new();
        for (number, path) in found {
            match self.read(number, &path) {
                Ok(Some(journal)) => loaded.push(journal),
                Ok(None) => {
                    tracing::warn!(path = %path.display(), "a file in the folder of journals belongs to another program and is left alone");
                }
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                    tracing::warn!(
                        %error,
                        path = %path.display(),
                        "a journal is of another user: its game is not resumed, and the file is left alone"
                    );
                }
                Err(error) => {
                    tracing::warn!(%error, path = %path.display(), "a journal is discarded");
                    let _ = fs::remove_file(&path);
                }
            }
        }
        Ok(loaded)
    }

    /// Reads a file; `None` if it is of another program.
    fn read(&self, number: u64, path: &Path) -> io::Result<Option<(Arc<JournalFile>, Vec<u8>)>> {
        let mut file = OpenOptions::new().read(true).append(true).open(path)?;
        let length = file.metadata()?.len();
        if number >= MAX_NUMBER || length > MAX_FILE {
            return Err(io::Error::other("it exceeds the bounds"));
        }
        let mut bytes = Vec::new();
        (&mut file).take(length).read_to_end(&mut bytes)?;
        let is_other = bytes.iter().zip(MAGIC).any(|(found, ours)| found != ours);
        if is_other && copy_of_beginning(&bytes).is_none() {
            return Ok(None);
        }
        self.reserve(bytes.len() as u64)?;
        let journal = JournalFile::new(number, path.to_owned(), file, bytes.len() as u64, None);
        Ok(Some((self.add(journal), bytes)))
    }

    fn add(&self, file: JournalFile) -> Arc<JournalFile> {
        let file = Arc::new(file);
        // The folder must reach the disk before the file that this one replaces is removed.
        self.changed.store(true, Ordering::Relaxed);
        self.files.lock().push(file.clone());
        file
    }

    /// Creates a journal with this content. The one that it replaces is removed once the new one has reached
    /// the disk.
    ///
    /// # Errors
    /// The bounds are reached, or the disk has no room; there is no new file then.
    pub(super) fn create(
        &self,
        content: &[&[u8]],
        replaced: Option<Arc<JournalFile>>,
    ) -> io::Result<Arc<JournalFile>> {
        let length = content.iter().map(|part| part.len() as u64).sum();
        check_length(length)?;
        self.reserve(length)?;
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let path = self.path.join(format!("{number}{SUFFIX}"));
        match create_file(&path, content, &self.reserve, self.mode) {
            Ok(file) => Ok(self.add(JournalFile::new(number, path, file, length, replaced))),
            Err(error) => {
                self.used.fetch_sub(length, Ordering::Relaxed);
                Err(error)
            }
        }
    }

    /// Appends to a journal.
    ///
    /// # Errors
    /// The bounds are reached, or the disk has no room. Part of the bytes may have been written.
    pub(super) fn append(&self, file: &JournalFile, bytes: &[u8]) -> io::Result<()> {
        let more = bytes.len() as u64;
        check_length(file.length() + more)?;
        self.reserve(more)?;
        file.append(bytes, &self.reserve)
    }

    /// Counts bytes that are about to be written.
    ///
    /// # Errors
    /// All journals together would exceed their bound.
    fn reserve(&self, bytes: u64) -> io::Result<()> {
        let add = |used: u64| used.checked_add(bytes).filter(|used| *used <= MAX_BYTES);
        let reserved = (self.used).fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
        reserved
            .map(drop)
            .map_err(|_| io::Error::other("all journals have their largest size"))
    }

    /// Cuts a journal off behind its first `length` bytes.
    ///
    /// # Errors
    /// The file cannot be changed.
    pub(super) fn truncate(&self, file: &JournalFile, length: u64) -> io::Result<()> {
        if file.length() == length {
            return Ok(());
        }
        file.file.set_len(length)?;
        let before = file.length.swap(length, Ordering::Relaxed);
        self.used
            .fetch_sub(before.saturating_sub(length), Ordering::Relaxed);
        Ok(())
    }

    /// Removes a journal, and the one that it has replaced.
    pub(super) fn remove(&self, file: &Arc<JournalFile>) {
        let mut file = Some(file.clone());
        while let Some(gone) = file {
            let mut files = self.files.lock();
            if let Some(at) = files.iter().position(|other| other.number == gone.number) {
                files.swap_remove(at);
                self.used.fetch_sub(gone.length(), Ordering::Relaxed);
            }
            drop(files);
            if let Err(error) = fs::remove_file(&gone.path)
                && error.kind() != io::ErrorKind::NotFound
            {
                tracing::warn!(%error, path = %gone.path.display(), "a journal cannot be removed");
            }
            self.changed.store(true, Ordering::Relaxed);
            file = gone.replaced.lock().take();
        }
    }

    /// Forces all that was written to the disk, and notes that the daemon is alive. Blocks.
    ///
    /// # Errors
    /// The disk fails. What was written before may be lost in a power cut.
    pub(super) fn sync(&self, now: Timestamp) -> io::Result<()> {
        self.reserve.fill();
        let mut lock = self.lock.lock();
        let files = self.files.lock().clone();
        lock.note_alive(now)?;
        if !files.is_empty() {
            lock.force()?;
        }
        force_all(&files, JournalFile::sync)?;
        if self.changed.swap(false, Ordering::Relaxed)
            && let Err(error) = sync_folder(&self.path)
        {
            self.changed.store(true, Ordering::Relaxed);
            return Err(error);
        }
        for file in &files {
            // Whatever round has noticed that the folder has changed, it has forced it by now.
            file.named.store(true, Ordering::Relaxed);
            let replaced = file.replaced.lock().take();
            if let Some(replaced) = replaced {
                self.remove(&replaced);
            }
        }
        Ok(())
    }

    /// Forces one journal to the disk, and its name. Blocks.
    ///
    /// # Errors
    /// The disk fails.
    pub(super) fn sync_one(&self, file: &JournalFile) -> io::Result<()> {
        file.sync()?;
        if !file.named.load(Ordering::Relaxed) {
            sync_folder(&self.path)?;
            file.named.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// The number of journals of which a power cut would lose the last bytes.
    pub(super) fn unforced(&self) -> usize {
        let files = self.files.lock();
        files.iter().filter(|file| file.is_dirty()).count()
    }

    /// Notes when the daemon was last alive, without waiting for the disk.
    pub(super) fn note_alive(&self, now: Timestamp) -> io::Result<()> {
        self.lock.lock().note_alive(now)
    }
}

fn check_length(length: u64) -> io::Result<()> {
    let fits = (length <= MAX_FILE).then_some(());
    fits.ok_or_else(|| io::Error::other("the journal of a game has its largest size"))
}

/// Forces the names in a folder to the disk.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Leaves the names in a folder to the file system: here, a folder cannot be opened.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// The most files that are forced to the disk at the same time.
const THREADS: usize = 32;

/// A journal's file. A later one has a higher number.
#[derive(Debug)]
pub(super) struct JournalFile {
    number: u64,
    path: PathBuf,
    file: File,
    length: AtomicU64,
    /// The first bytes of the file that were forced to the disk: a power cut leaves at least those.
    forced: AtomicU64,
    /// Whether the folder was forced to the disk since the file is in it.
    named: AtomicBool,
    /// The file of the same game that this one replaces, as long as it is needed.
    replaced: Mutex<Option<Arc<JournalFile>>>,
}

impl JournalFile {
    fn new(
        number: u64,
        path: PathBuf,
        file: File,
        length: u64,
        replaced: Option<Arc<JournalFile>>,
    ) -> Self {
        Self {
            number,
            path,
            file,
            length: AtomicU64::new(length),
            forced: AtomicU64::new(0),
            named: AtomicBool::new(false),
            replaced: Mutex::new(replaced),
        }
    }

    /// Whether bytes were written since the file was last forced to the disk.
    fn is_dirty(&self) -> bool {
        self.forced.load(Ordering::Relaxed) < self.length()
    }

    /// Forces what was written to the disk.
    fn sync(&self) -> io::Result<()> {
        let length = self.length();
        if self.is_dirty() {
            self.file.sync_data()?;
            self.forced.fetch_max(length, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Appends bytes. Part of them may have been written if this fails.
    fn append(&self, bytes: &[u8], reserve: &Reserve) -> io::Result<()> {
        let written = write_all(&self.file, bytes, reserve);
        // Only now: `sync` must not take bytes for forced that were written after it.
        self.length.fetch_add(bytes.len() as u64, Ordering::Release);
        written
    }

    pub(super) fn length(&self) -> u64 {
        self.length.load(Ordering::Acquire)
    }
}

/// Creates a file with this content, or none.
fn create_file(
    path: &Path,
    content: &[&[u8]],
    reserve: &Reserve,
    mode: FileMode,
) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let options = options.append(true);
    let file = loop {
        match mode.create(options, path) {
            Err(error) if reserve.is_released(&error, 0) => {}
            opened => break opened?,
        }
    };
    let mut parts = content.iter();
    let written = parts.try_for_each(|part| write_all(&file, part, reserve));
    if let Err(error) = written {
        let _ = fs::remove_file(path);
        return Err(error);
    }
    Ok(file)
}

/// Writes all bytes, also if the disk is full, as long as there is room in reserve.
fn write_all(mut file: &File, mut bytes: &[u8], reserve: &Reserve) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = bytes.get(written..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) if reserve.is_released(&error, bytes.len() as u64) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Forces files to the disk with `force`, several at a time. One after the other, five hundred files would take
/// seconds; a file system commits those together that it gets at the same time. If one fails, the others are
/// forced all the same.
///
/// # Errors
/// The first failure.
fn force_all(
    files: &[Arc<JournalFile>],
    force: impl Fn(&JournalFile) -> io::Result<()> + Sync,
) -> io::Result<()> {
    let dirty: Vec<_> = files.iter().filter(|file| file.is_dirty()).collect();
    let (next, failure) = (AtomicUsize::new(0), Mutex::new(None));
    let work = || {
        while let Some(file) = dirty.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(error) = force(file) {
                failure.lock().get_or_insert(error);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..dirty.len().min(THREADS) {
            // Where there is no other thread, this one does it all.
            let _ = thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
    failure.into_inner().map_or(Ok(()), Err)
}

/// The name of the file. It contains when the daemon was last alive, in milliseconds since 1970, as 8 bytes in
/// little-endian order.
const LOCK: &str = "lock";

/// The locked file.
#[derive(Debug)]
struct FolderLock(File);

impl FolderLock {
    /// Locks a folder until this is dropped. Returns also when a daemon was last alive that used it.
    ///
    /// # Errors
    /// Another daemon uses the folder, or it cannot be written.
    fn take(folder: &Path, mode: FileMode) -> io::Result<(Self, Option<Timestamp>)> {
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut lock = mode.open(options, &folder.join(LOCK))?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => io::Error::other("another daemon uses it"),
            TryLockError::Error(error) => error,
        })?;
        let mut alive = [0; 8];
        let alive = lock.read_exact(&mut alive).map(|()| alive);
        let alive = alive.ok().map(|bytes| Timestamp(i64::from_le_bytes(bytes)));
        Ok((Self(lock), alive))
    }

    /// Notes when the daemon was last alive, without waiting for the disk.
    fn note_alive(&mut self, now: Timestamp) -> io::Result<()> {
        self.0.seek(SeekFrom::Start(0))?;
        self.0.write_all(&now.0.to_le_bytes())
    }

    /// Forces that to the disk. Blocks.
    fn force(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}

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
struct Reserve {
    folder: PathBuf,
    /// `None` if there is no reserve.
    file: Mutex<Option<File>>,
    /// Whether some of it was used since it was last complete.
    used: AtomicBool,
}

impl Reserve {
    /// Opens the reserve of a folder. Without one, journals are written as long as the disk has room.
    fn open(folder: &Path, mode: FileMode) -> Self {
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
    fn fill(&self) {
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
    fn is_released(&self, error: &io::Error, bytes: u64) -> bool {
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
mod tests;
