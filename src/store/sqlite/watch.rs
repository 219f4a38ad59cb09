//! Whether the three files of an open database are still at their paths: the main file, the write-ahead log and the index of
//! that log. SQLite does not look: it goes on with the files that it has open, and a connection that is opened later, by
//! this process or another, uses those that it finds.
//!
//! Once one of them was removed or replaced, it stays so, even if it is put back: other processes may have used what was
//! there meanwhile. From then on nothing is committed, no connection is opened, and the write-ahead log is not copied to
//! the main file. What was committed before is all in the files that are open: an operator gets it as a new file.

use std::{
    io,
    path::{Path, PathBuf, absolute},
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use file_id::{FileId, get_file_id};

use crate::store::StoreError;

/// What the names of the files end with, after that of the database.
const SUFFIXES: [&str; 3] = ["", "-wal", "-shm"];

/// The files of a database, as they were when it was opened.
#[derive(Debug)]
pub(in crate::store) struct Watch {
    /// `None` if the file system does not tell which file it is.
    files: [(PathBuf, Option<FileId>); 3],
    /// The first one that was found removed or replaced.
    gone: OnceLock<PathBuf>,
    /// Whether the last connection is closed, so that SQLite itself removes two of the files.
    is_over: AtomicBool,
}

impl Watch {
    /// Notes which files these are. They stay until the last connection is closed, so one must be open.
    pub fn begin(database: &Path) -> Self {
        let database = absolute(database).unwrap_or_else(|_| database.to_owned());
        let file = |suffix| {
            let path = beside(&database, suffix);
            let id = get_file_id(&path).ok();
            (path, id)
        };
        Self {
            files: SUFFIXES.map(file),
            gone: OnceLock::new(),
            is_over: AtomicBool::new(false),
        }
    }

    /// The main file.
    pub fn database(&self) -> &Path {
        let [(main, _), ..] = &self.files;
        main
    }

    /// The file that was removed or replaced; `None` if all are in place.
    pub fn gone(&self) -> Option<&Path> {
        self.gone.get().map(PathBuf::as_path)
    }

    /// Ends the watch: the last connection is about to be closed.
    pub fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// # Errors
    /// One of the files is not in place.
    pub fn check(&self) -> Result<(), StoreError> {
        if self.gone.get().is_some() {
            return Err(StoreError::Removed);
        }
        if self.is_over.load(Ordering::Relaxed) {
            return Ok(());
        }
        for (path, opened) in &self.files {
            let Some(opened) = opened else { continue };
            match get_file_id(path) {
                Ok(found) if found == *opened => continue,
                // It may be there, and cannot be looked at just now.
                Err(error) if error.kind() != io::ErrorKind::NotFound => {}
                _ => {
                    let _ = self.gone.set(path.clone());
                }
            }
            return Err(StoreError::Removed);
        }
        Ok(())
    }
}

/// The path of a file beside the database, whose name has this more at its end.
pub(in crate::store) fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// A folder with three files that stand for those of a database.
    fn files() -> (tempfile::TempDir, [PathBuf; 3]) {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("a.db");
        let paths = SUFFIXES.map(|suffix| beside(&database, suffix));
        for path in &paths {
            fs::write(path, "x").unwrap();
        }
        (folder, paths)
    }

    #[test]
    fn each_file_that_is_removed_or_replaced_is_noticed_and_named() {
        for at in 0..3 {
            for replaces in [false, true] {
                let (folder, paths) = files();
                let watch = Watch::begin(&paths[0]);
                assert!(watch.check().is_ok());
                assert_eq!(watch.gone(), None);
                // The old one is kept, so that the new one is another.
                let away = folder.path().join("away");
                fs::rename(&paths[at], &away).unwrap();
                if replaces {
                    fs::write(&paths[at], "x").unwrap();
                }
                assert!(matches!(watch.check(), Err(StoreError::Removed)));
                assert_eq!(watch.gone(), Some(&*paths[at]));
                fs::rename(&away, &paths[at]).unwrap();
                assert!(watch.check().is_err(), "it stays so");
            }
        }
    }

    #[test]
    fn what_happens_after_the_end_is_not_noticed() {
        let (_folder, paths) = files();
        let watch = Watch::begin(&paths[0]);
        watch.end();
        fs::remove_file(&paths[1]).unwrap();
        assert!(watch.check().is_ok());
        assert_eq!(watch.gone(), None);
    }

    #[test]
    fn a_file_whose_content_changes_is_in_place() {
        let (_folder, paths) = files();
        let watch = Watch::begin(&paths[0]);
        for path in &paths {
            fs::write(path, "another content").unwrap();
        }
        assert!(watch.check().is_ok());
    }
}
