//! A file that an operator has named, and that a command writes: it is whole or as it was before, and keeps its kind,
//! its owner and its mode.
//!
//! A file is replaced by a new one beside it, which has the same owner and mode. What is behind a symbolic link is
//! replaced, and not the link. Where no file can be put in the place of another (a device, a pipe, a file with several
//! names, or one of an owner whom only root can give it), the content is written into what is there: into a file only
//! when all of it is known.

use std::{
    fs::{self, File, Metadata, OpenOptions},
    io::{self, Read, Seek, Write},
    path::{Path, PathBuf},
};

/// A file that is being written. Without [`commit`](Self::commit), what was there before stays.
#[derive(Debug)]
pub(super) struct OutputFile {
    /// `None` once it is committed.
    file: Option<File>,
    end: OutputEnd,
}

/// What happens to the content in the end.
#[derive(Debug)]
enum OutputEnd {
    /// It is where it belongs already: in a device, in a pipe, or in a new file behind a link.
    There,
    /// This file gets the place of the other.
    Replaces { fresh: PathBuf, path: PathBuf },
    /// It is copied into this file.
    Copied(PathBuf),
}

impl OutputFile {
    /// Begins to write a file.
    ///
    /// # Errors
    /// Fails if nothing can be written there.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        match fs::metadata(path) {
            Ok(there) if there.is_file() && !is_of_system(path) => Self::replace(path, &there),
            Ok(there) => {
                // Whatever a shell has opened as standard output may have content of others.
                let mut options = File::options();
                options.write(true).append(there.is_file());
                Ok(Self::there(options.open(path)?))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => match path.is_symlink() {
                true => Ok(Self::there(File::create(path)?)),
                false => Self::beside(path.to_owned(), &mut File::options()),
            },
            Err(error) => Err(error),
        }
    }

    /// Begins to write a new file that only its owner may read: it contains secrets.
    ///
    /// # Errors
    /// Fails if something of this name is there, or if nothing can be written there.
    pub(super) fn create_private(path: &Path) -> io::Result<Self> {
        if fs::symlink_metadata(path).is_ok() {
            let why = "it exists; choose another name";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, why));
        }
        let mut options = File::options();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Self::beside(path.to_owned(), &mut options)
    }

    fn there(file: File) -> Self {
        Self {
            file: Some(file),
            end: OutputEnd::There,
        }
    }

    /// Writes what comes in the place of a file.
    fn replace(path: &Path, there: &Metadata) -> io::Result<Self> {
        // Nobody may replace what they may not write.
        File::options().append(true).open(path)?;
        if is_database(path) {
            let why = "it is a database, and is not overwritten";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let path = fs::canonicalize(path)?;
        if names_of(there) == 1
            && let Ok(fresh) = Self::alike(path.clone(), there)
        {
            return Ok(fresh);
        }
        Ok(Self {
            file: Some(tempfile::tempfile()?),
            end: OutputEnd::Copied(path),
        })
    }

    /// Writes a new file beside the one at the path, whose place it gets, and like that one.
    fn alike(path: PathBuf, there: &Metadata) -> io::Result<Self> {
        let begun = Self::beside(path, &mut File::options())?;
        if let Some(file) = &begun.file {
            make_alike(file, there)?;
        }
        Ok(begun)
    }

    /// Writes a new file beside the path, which becomes that of the path.
    fn beside(path: PathBuf, options: &mut OpenOptions) -> io::Result<Self> {
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}", std::process::id()));
        let fresh = path.with_file_name(name);
        // What a process of this number has left that was killed.
        let _ = fs::remove_file(&fresh);
        let file = options.write(true).create_new(true).open(&fresh)?;
        Ok(Self {
            file: Some(file),
            end: OutputEnd::Replaces { fresh, path },
        })
    }

    /// Puts the content in its place. It is on the disk when this returns.
    ///
    /// # Errors
    /// Fails if the disk does.
    pub(super) fn commit(mut self) -> io::Result<()> {
        let Some(mut file) = self.file.take() else {
            return Ok(());
        };
        let done = match &self.end {
            OutputEnd::There => match file.metadata()?.is_file() {
                true => file.sync_all(),
                false => file.flush(), // a pipe or a device cannot be synchronised
            },
            OutputEnd::Replaces { fresh, path } => {
                let synced = file.sync_all();
                synced.and_then(|()| fs::rename(fresh, path))
            }
            OutputEnd::Copied(path) => copy(&mut file, path),
        };
        if done.is_err() {
            self.discard();
        }
        done
    }

    fn discard(&self) {
        if let OutputEnd::Replaces { fresh, .. } = &self.end {
            let _ = fs::remove_file(fresh);
        }
    }

    fn file(&mut self) -> io::Result<&mut File> {
        let gone = || io::Error::other("the file is complete");
        self.file.as_mut().ok_or_else(gone)
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file()?.flush()
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if self.file.is_some() {
            self.discard();
        }
    }
}

/// Whether this names an open file of a process, such as `/dev/stdout`, rather than a place on a disk.
fn is_of_system(path: &Path) -> bool {
    let roots = ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"];
    roots.iter().any(|root| path.starts_with(root))
}

/// Whether a file is an SQLite database, as that of the command itself is.
fn is_database(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(16).read_to_end(&mut head));
    read.is_ok() && head == b"SQLite format 3\0"
}

/// Copies all of a file over what is at the path.
fn copy(file: &mut File, path: &Path) -> io::Result<()> {
    file.rewind()?;
    let mut to = File::options().write(true).truncate(true).open(path)?;
    io::copy(file, &mut to)?;
    to.sync_all()
}

/// The number of names of a file.
#[cfg(unix)]
fn names_of(file: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(file)
}

#[cfg(not(unix))]
fn names_of(_file: &Metadata) -> u64 {
    1
}

/// Gives a new file the owner and the mode of another.
#[cfg(unix)]
fn make_alike(file: &File, other: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};
    let own = file.metadata()?;
    if (own.uid(), own.gid()) != (other.uid(), other.gid()) {
        fchown(file, Some(other.uid()), Some(other.gid()))?;
    }
    file.set_permissions(other.permissions())
}

#[cfg(not(unix))]
fn make_alike(file: &File, other: &Metadata) -> io::Result<()> {
    file.set_permissions(other.permissions())
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn write(path: &Path, text: &str) -> io::Result<()> {
        let mut file = OutputFile::create(path)?;
        file.write_all(text.as_bytes())?;
        file.commit()
    }

    fn names(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn a_file_is_whole_or_as_it_was() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("out");
        drop(OutputFile::create(&path).unwrap());
        assert_eq!(names(folder.path()), 0, "nothing is left");
        write(&path, "one").unwrap();
        let mut second = OutputFile::create(&path).unwrap();
        second.write_all(b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one");
        drop(second);
        assert_eq!(
            (fs::read(&path).unwrap(), names(folder.path())),
            (b"one".to_vec(), 1)
        );
        write(&path, "three").unwrap();
        assert_eq!(
            (fs::read(&path).unwrap(), names(folder.path())),
            (b"three".to_vec(), 1)
        );
        assert!(write(folder.path(), "x").is_err(), "it is a folder");
        fs::write(&path, b"SQLite format 3\0...").unwrap();
        assert!(write(&path, "x").is_err(), "it is a database");
        assert_eq!(fs::read(&path).unwrap()[..6], *b"SQLite");
    }

    #[cfg(unix)]
    #[test]
    fn a_private_file_is_new_and_only_its_owner_can_read_it() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = TempDir::new().unwrap();
        let path = |name: &str| folder.path().join(name);
        let begun = |name: &str| OutputFile::create_private(&path(name));
        let mut file = begun("out").unwrap();
        file.write_all(b"secret").unwrap();
        let mode = |name: String| fs::metadata(path(&name)).unwrap().permissions().mode() & 0o7777;
        assert_eq!(mode(format!("out.{}", std::process::id())), 0o600);
        file.commit().unwrap();
        assert_eq!(mode("out".into()), 0o600);
        symlink("elsewhere", path("link")).unwrap();
        for taken in ["out", "link", "."] {
            let error = begun(taken).unwrap_err();
            assert_eq!(error.to_string(), "it exists; choose another name");
        }
        assert_eq!(fs::read(path("out")).unwrap(), b"secret");
        assert_eq!(names(folder.path()), 2);
    }

    #[cfg(unix)]
    #[test]
    fn what_is_there_keeps_its_kind_its_mode_and_its_names() {
        use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
        let folder = TempDir::new().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("out"), "old").unwrap();
        fs::set_permissions(path("out"), fs::Permissions::from_mode(0o640)).unwrap();
        symlink("out", path("link")).unwrap();
        symlink("new", path("dangling")).unwrap();
        write(&path("link"), "through the link").unwrap();
        write(&path("dangling"), "new").unwrap();
        assert!(path("link").is_symlink() && path("dangling").is_symlink());
        assert_eq!(fs::read(path("out")).unwrap(), b"through the link");
        assert_eq!(fs::read(path("new")).unwrap(), b"new");
        let mode = fs::metadata(path("out")).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o640);
        fs::hard_link(path("out"), path("other")).unwrap();
        write(&path("out"), "two names").unwrap();
        assert_eq!(fs::read(path("other")).unwrap(), b"two names");
        write(Path::new("/dev/null"), "nothing").unwrap();
        let null = fs::metadata("/dev/null").unwrap().file_type();
        assert!(null.is_char_device());
    }
}
