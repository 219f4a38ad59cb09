//! What several rooms do with files: new ones that others may not read, the room on a disk, the folder of a path. It never
//! reads or changes the content of a file.

use std::{
    fs::{File, OpenOptions},
    io,
    path::Path,
};

use serde::Deserialize;

/// Who may read and write the files that this program makes, as `chmod` has it in octal digits. Files that are there
/// already keep their mode. It means nothing where there is no such mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct FileMode(u32);

impl Default for FileMode {
    fn default() -> Self {
        Self(0o600)
    }
}

impl TryFrom<String> for FileMode {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let digits = (3..=4).contains(&text.len()) && text.bytes().all(|c| c.is_ascii_digit());
        let mode = u32::from_str_radix(&text, 8).ok().filter(|_| digits);
        // The user of the daemon must be able to read and write, and nothing here is a program.
        let mode = mode.filter(|mode| mode & 0o600 == 0o600 && mode & !0o666 == 0);
        mode.map(Self).ok_or(
            "must be octal digits as for chmod: \"0600\", or \"0640\" for a group that may read",
        )
    }
}

impl FileMode {
    /// Opens a file by these options, which say that it is created if it is missing. A new one has this mode, whatever the
    /// umask.
    ///
    /// # Errors
    /// Those of opening a file.
    pub fn open(self, options: &OpenOptions, path: &Path) -> io::Result<File> {
        match self.create(options, path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => options.open(path),
            created => created,
        }
    }

    /// Creates a file by these options.
    ///
    /// # Errors
    /// Those of opening a file; also if it exists.
    pub fn create(self, options: &OpenOptions, path: &Path) -> io::Result<File> {
        let mut options = options.clone();
        options.create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, self.0);
        let file = options.open(path)?;
        self.set(&file)?;
        Ok(file)
    }

    /// Gives a new file this mode.
    ///
    /// # Errors
    /// The operating system refuses it.
    #[cfg(unix)]
    pub fn set(self, file: &File) -> io::Result<()> {
        use std::os::unix::fs::PermissionsExt;
        let mut permissions = file.metadata()?.permissions();
        if permissions.mode() & 0o777 == self.0 {
            return Ok(());
        }
        permissions.set_mode(self.0);
        file.set_permissions(permissions)
    }

    /// There are no modes here.
    ///
    /// # Errors
    /// None.
    #[cfg(not(unix))]
    pub fn set(self, _: &File) -> io::Result<()> {
        Ok(())
    }
}

/// Whether every user of this machine may read a file: by its mode and by that of its folder.
#[cfg(unix)]
pub fn is_open_to_all(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let allows = |path: &Path, bit| path.metadata().is_ok_and(|found| found.mode() & bit != 0);
    path.is_file() && allows(path, 0o004) && allows(folder_of(path), 0o001)
}

/// There are no modes here.
#[cfg(not(unix))]
pub fn is_open_to_all(_: &Path) -> bool {
    false
}

/// The folder in which a file is.
pub fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|own| !own.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Whether a disk has no room, or the user may have no more of it.
pub fn is_full(error: &io::Error) -> bool {
    use io::ErrorKind::{QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded)
}

/// The bytes that this user may still write to the disk of a folder; 0 if that is not known.
#[cfg(unix)]
pub fn room(folder: &Path) -> u64 {
    let found = rustix::fs::statvfs(folder);
    found.map_or(0, |found| found.f_bavail.saturating_mul(found.f_frsize))
}

/// Here, the room on a disk is not known.
#[cfg(not(unix))]
pub fn room(_: &Path) -> u64 {
    0
}

/// The smallest room that a file can take on the disk of a folder, in bytes; `None` if that is not known.
#[cfg(unix)]
pub fn block(folder: &Path) -> Option<u64> {
    rustix::fs::statvfs(folder).ok().map(|found| found.f_frsize)
}

/// Here, that is not known.
#[cfg(not(unix))]
pub fn block(_: &Path) -> Option<u64> {
    None
}

/// Gives a file all its blocks up to a length, without a change of its content.
///
/// # Errors
/// The disk is full. A file system or an operating system that cannot give blocks beforehand is no error.
#[cfg(unix)]
pub fn allocate(file: &File, length: u64) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        let flags = rustix::fs::FallocateFlags::empty();
        let done = rustix::fs::fallocate(file, flags, 0, length).map_err(io::Error::from);
        if let Err(error) = done
            && is_full(&error)
        {
            return Err(error);
        }
    }
    let _ = (file, length);
    Ok(())
}

/// Here, no blocks are given beforehand.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn allocate(_: &File, _: u64) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(text: &str) -> Result<FileMode, &'static str> {
        FileMode::try_from(text.to_owned())
    }

    #[test]
    fn only_modes_with_which_the_daemon_can_work_are_taken() {
        assert_eq!(mode("0600"), Ok(FileMode::default()));
        for (text, number) in [
            ("600", 0o600),
            ("0640", 0o640),
            ("0660", 0o660),
            ("0644", 0o644),
        ] {
            assert_eq!(mode(text), Ok(FileMode(number)), "{text}");
        }
        for text in [
            "", "0", "0400", "0200", "0700", "0601", "4600", "0o600", "+600", "00600", "9600",
        ] {
            assert!(mode(text).is_err(), "{text}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_new_file_has_the_mode_and_an_old_one_keeps_its_own() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        let of = |file: File| file.metadata().unwrap().permissions().mode() & 0o777;
        // The umask of this process takes the right to write from the others.
        for (text, number) in [("0600", 0o600), ("0666", 0o666), ("0640", 0o640)] {
            let mode = mode(text).unwrap();
            assert_eq!(of(mode.open(&options, &path).unwrap()), number);
            assert!(mode.create(&options, &path).is_err(), "it is there");
            let other = FileMode(0o660).open(&options, &path).unwrap();
            assert_eq!(of(other), number, "as it was");
            std::fs::remove_file(&path).unwrap();
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_gets_its_blocks_and_keeps_its_content() {
        use std::{io::Read, os::unix::fs::MetadataExt};
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("index");
        std::fs::write(&path, "abc").unwrap();
        let file = OpenOptions::new().read(true).write(true).open(&path);
        let mut file = file.unwrap();
        allocate(&file, 65_536).unwrap();
        let mut content = Vec::new();
        file.read_to_end(&mut content).unwrap();
        assert!(content.starts_with(b"abc"));
        if cfg!(any(target_os = "linux", target_os = "android")) {
            let found = file.metadata().unwrap();
            assert_eq!(found.len(), 65_536);
            assert!(found.blocks() * 512 >= 65_536, "{}", found.blocks());
        }
    }
}
