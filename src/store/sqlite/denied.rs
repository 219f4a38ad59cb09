//! Why SQLite cannot open a file, as far as the file system knows.

use std::{fs, io, path::Path};

use super::file::is_read_only;
use crate::store::StoreError;

/// Fails if there is no file, or if this process may not look at it.
pub(super) fn refuse_missing(path: &Path) -> Result<(), StoreError> {
    match path.try_exists() {
        Ok(true) => Ok(()),
        Ok(false) => Err(StoreError::Missing {
            place: path.display().to_string(),
        }),
        Err(error) => {
            let why = why(path).unwrap_or_else(|| error.to_string());
            Err(StoreError::at(&path.display(), StoreError::Denied(why)))
        }
    }
}

/// Makes the error of a file that cannot be opened say why, if the file system knows it.
pub(super) fn explain(path: &Path, error: StoreError) -> StoreError {
    if !matches!(error.bare(), StoreError::CannotOpen(_)) {
        return error;
    }
    match why(path) {
        Some(why) => StoreError::at(&path.display(), StoreError::Denied(why)),
        None if is_read_only(path) => StoreError::at(&path.display(), StoreError::ReadOnlyDisk),
        None => error,
    }
}

/// What keeps this process from opening the file.
fn why(path: &Path) -> Option<String> {
    if path.is_dir() {
        return Some("it is a folder, not a file".to_owned());
    }
    match fs::File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Some(format!("permission denied{}", owner_of(path)))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let folder = path.parent().filter(|one| !one.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new("."));
            let shown = folder.display();
            match folder.try_exists() {
                Ok(false) => Some(format!("the folder {shown} does not exist")),
                _ => Some(format!(
                    "no file can be made in the folder {shown}{}",
                    owner_of(folder)
                )),
            }
        }
        _ => None,
    }
}

/// Whose a file is, or the innermost folder above it that can be looked at.
#[cfg(unix)]
fn owner_of(path: &Path) -> String {
    use std::os::unix::fs::MetadataExt;

    let mut seen = path.ancestors().filter(|one| !one.as_os_str().is_empty());
    let found = seen.find_map(|one| Some((one, one.metadata().ok()?.uid())));
    let Some((one, uid)) = found else {
        return String::new();
    };
    let what = match one == path {
        true => "it".to_owned(),
        false => one.display().to_string(),
    };
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then_some(name)
    });
    match name {
        Some(name) => format!("; {what} belongs to the user {name}"),
        None => format!("; {what} belongs to the user with the number {uid}"),
    }
}

#[cfg(not(unix))]
fn owner_of(_path: &Path) -> String {
    String::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_system_knows_why() {
        let folder = tempfile::TempDir::new().unwrap();
        assert!(why(folder.path()).unwrap().contains("is a folder"));
        let missing = folder.path().join("none/evenkeel.db");
        assert!(why(&missing).unwrap().ends_with("none does not exist"));
        let file = folder.path().join("evenkeel.db");
        fs::write(&file, "").unwrap();
        assert_eq!(why(&file), None);
    }
}
