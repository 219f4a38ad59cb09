//! A folder of daily backups: when the next one is due, and which ones are removed.
//!
//! A backup has its time in its name, so that the folder is all the state there is. It is written under
//! another name, and gets its own once it is on the disk: a file with a backup's name is whole. So is the copy of a database
//! of which a file was taken away.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use super::{Backend, SqliteFile, Store, StoreError, open_file, sqlite::beside};
use crate::{
    files::{FileMode, folder_of},
    model::{Timestamp, time::DAY},
};

/// What the name of each backup begins with and ends with. In between is the time, in UTC, without
/// colons, which some file systems do not allow.
const PREFIX: &str = "evenkeel-";
const SUFFIX: &str = ".db";
/// The end of the name of a backup that is being written.
const PARTIAL: &str = ".partial";

/// The daily backups of one database.
#[derive(Clone, Debug)]
pub struct Backups {
    /// The file of the database.
    pub database: PathBuf,
    /// Where the backups are. The folder is created if it is missing.
    pub folder: PathBuf,
    /// How many backups are kept, the latest ones.
    pub keep: usize,
    /// How long a backup waits for a locked database.
    pub busy: Duration,
    /// The mode of a new backup.
    pub mode: FileMode,
}

/// What a backup has changed in its folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BackedUp {
    /// The name of the new backup.
    pub name: String,
    /// How many backups were removed because there are enough newer ones.
    pub removed: usize,
    /// How many were removed because they contain players who were forgotten since.
    pub outdated: usize,
}

/// Why there is no backup.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// The folder or a file in it cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The folder or the file.
        path: PathBuf,
        /// The error of the file system.
        source: io::Error,
    },
    /// The file that is to be written exists.
    #[error("{} exists; choose another name", .0.display())]
    Exists(PathBuf),
    /// The database cannot be read, or the disk is full.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The thread that made it has ended.
    #[error(transparent)]
    Ended(tokio::task::JoinError),
}

impl Backups {
    /// Makes a backup if the latest one is a day old, and removes those that are no longer kept. Returns
    /// `None` if none is due.
    ///
    /// # Errors
    /// Fails if the folder cannot be used, or the database cannot be read. The older backups stay then.
    pub async fn make_if_due(&self, now: Timestamp) -> Result<Option<BackedUp>, BackupError> {
        fs::create_dir_all(&self.folder).map_err(|source| fault(&self.folder, source))?;
        let names = self.names()?;
        if !is_due(&names, now) {
            return Ok(None);
        }
        let name = name_at(now);
        let database = open_file(&self.database, self.busy).await?;
        back_up(&database, &self.folder.join(&name), self.mode).await?;
        let outdated = self.remove_outdated(&database, &names).await?;
        let names = self.names()?;
        let old = superfluous(&names, self.keep, &name);
        for name in &old {
            self.remove(name)?;
        }
        Ok(Some(BackedUp {
            name,
            removed: old.len(),
            outdated,
        }))
    }

    /// When the latest backup in the folder was made; `None` if there is none.
    ///
    /// # Errors
    /// Fails if the folder cannot be read.
    pub fn latest(&self) -> Result<Option<Timestamp>, BackupError> {
        if !self.folder.exists() {
            return Ok(None);
        }
        let names = self.names()?;
        Ok(names.iter().filter_map(|name| time_of(name)).max())
    }

    /// Removes the backups that contain players whom the database has forgotten since.
    async fn remove_outdated(
        &self,
        database: &SqliteFile,
        names: &[String],
    ) -> Result<usize, BackupError> {
        let now = database.forgotten().await?;
        let mut removed = 0;
        for name in names {
            // What cannot be read is no backup, and an operator may want to look at it.
            let Ok(copy) = open_file(&self.folder.join(name), self.busy).await else {
                continue;
            };
            if copy.forgotten().await.is_ok_and(|copy| now.outdates(copy)) {
                self.remove(name)?;
                removed += 1;
            }
        }
        Ok(removed)
    }

    fn remove(&self, name: &str) -> Result<(), BackupError> {
        let path = self.folder.join(name);
        fs::remove_file(&path).map_err(|source| fault(&path, source))
    }

    /// The names of all backups, the oldest first. Removes what a backup that was interrupted has left.
    fn names(&self) -> Result<Vec<String>, BackupError> {
        let fail = |source| fault(&self.folder, source);
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(fail)? {
            let Ok(name) = entry.map_err(fail)?.file_name().into_string() else {
                continue;
            };
            if name
                .strip_suffix(PARTIAL)
                .is_some_and(|name| time_of(name).is_some())
            {
                self.remove(&name)?;
            } else if time_of(&name).is_some() {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }
}

/// Writes a copy of the database to a new file, which appears whole or not at all, and is on the disk when
/// this returns.
///
/// # Errors
/// Fails if the file exists or cannot be written, or the database cannot be read.
pub async fn back_up(database: &SqliteFile, to: &Path, mode: FileMode) -> Result<(), BackupError> {
    write_whole(to, mode, async |partial| database.back_up(partial).await).await
}

/// What comes after the name of the database in that of a copy of it, before a number.
const RESCUED: &str = ".rescued-";

/// Copies a database of which a file was taken away, as [`Store::gone`] says, through a connection that has it open: to a
/// new file beside it, which is returned. A later call returns the same one.
///
/// # Errors
/// Fails if the file cannot be written.
pub async fn rescue(store: &Store) -> Result<Option<PathBuf>, BackupError> {
    let Backend::Sqlite(file) = &store.backend else {
        return Ok(None);
    };
    if let Some(done) = file.rescued().get() {
        return Ok(Some(done.clone()));
    }
    let mut number = 1_u32;
    let to = loop {
        let to = beside(file.watch().database(), &format!("{RESCUED}{number}"));
        if fs::symlink_metadata(&to).is_err() {
            break to;
        }
        number += 1;
    };
    write_whole(&to, file.mode(), async |partial| {
        file.copy_to(partial).await
    })
    .await?;
    Ok(Some(file.rescued().get_or_init(|| to).clone()))
}

/// Writes a new file, which appears whole or not at all, and is on the disk when this returns.
async fn write_whole(
    to: &Path,
    mode: FileMode,
    write: impl AsyncFnOnce(&Path) -> Result<(), StoreError>,
) -> Result<(), BackupError> {
    if fs::symlink_metadata(to).is_ok() {
        return Err(BackupError::Exists(to.to_owned()));
    }
    let mut name = to.file_name().unwrap_or_default().to_owned();
    name.push(PARTIAL);
    let partial = to.with_file_name(name);
    let _ = fs::remove_file(&partial);
    // SQLite does not say what is wrong with the folder.
    let folder = folder_of(to);
    let created = mode.create(fs::OpenOptions::new().write(true), &partial);
    created.map_err(|source| match folder.is_dir() {
        true => fault(to, source),
        false => fault(folder, io::Error::other("there is no such folder")),
    })?;
    let written = match write(&partial).await {
        Ok(()) => keep(&partial, to).map_err(|source| fault(to, source)),
        Err(error) => Err(error.into()),
    };
    if written.is_err() {
        let _ = fs::remove_file(&partial);
    }
    written
}

/// Forces the file to the disk, and gives it its name.
fn keep(partial: &Path, to: &Path) -> io::Result<()> {
    fs::File::open(partial)?.sync_all()?;
    fs::rename(partial, to)?;
    match fs::File::open(folder_of(to)) {
        Ok(folder) => folder.sync_all(),
        Err(_) => Ok(()), // not every system opens folders
    }
}

fn fault(path: &Path, source: io::Error) -> BackupError {
    BackupError::File {
        path: path.to_owned(),
        source,
    }
}

/// Whether no backup was made within the last day. One with a time to come, made before the clock was set
/// back, does not count.
fn is_due(names: &[String], now: Timestamp) -> bool {
    let times = names.iter().filter_map(|name| time_of(name));
    let latest = times.filter(|time| *time <= now).max();
    latest.is_none_or(|latest| now.0.saturating_sub(latest.0) >= DAY)
}

/// The backups beyond those that are kept, the oldest ones. `new` is always kept.
fn superfluous<'a>(names: &'a [String], keep: usize, new: &str) -> Vec<&'a String> {
    let others = names.iter().filter(|name| *name != new);
    let surplus = names.len().saturating_sub(keep.max(1));
    others.take(surplus).collect()
}

/// The name of a backup that is made at this time.
fn name_at(now: Timestamp) -> String {
    let time = now.to_string().replace(':', "-");
    format!("{PREFIX}{time}{SUFFIX}")
}

/// The time in the name of a backup; `None` if it is not a backup's name.
fn time_of(name: &str) -> Option<Timestamp> {
    let text = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    let (date, time) = text.split_once('T')?;
    let time = Timestamp::parse(&format!("{date}T{}", time.replace('-', ":")))?;
    (name_at(time) == name).then_some(time)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp(1_795_176_000_000);

    fn names(ages_in_hours: &[i64]) -> Vec<String> {
        let at = |hours: &i64| name_at(NOON.plus_millis(-hours * 60 * 60 * 1_000));
        let mut names: Vec<String> = ages_in_hours.iter().map(at).collect();
        names.sort();
        names
    }

    #[test]
    fn a_name_has_its_time() {
        assert_eq!(name_at(NOON), "evenkeel-2026-11-20T12-00-00Z.db");
        assert_eq!(time_of(&name_at(NOON)), Some(NOON));
        for other in [
            "evenkeel.db",
            "evenkeel-2026-11-20.db",
            "evenkeel-2026-11-20T12-00-00Z.db.partial",
            "evenkeel-2026-11-20T12:00:00Z.db",
            "evenkeel-before-the-update.db",
        ] {
            assert_eq!(time_of(other), None, "{other}");
        }
    }

    #[test]
    fn one_backup_a_day() {
        assert!(is_due(&[], NOON));
        assert!(!is_due(&names(&[0]), NOON));
        assert!(!is_due(&names(&[23, 47]), NOON));
        assert!(is_due(&names(&[24, 48]), NOON));
        // The clock was set back by a week: the backup from then neither counts nor hides the others.
        assert!(is_due(&names(&[-168]), NOON));
        assert!(!is_due(&names(&[-168, 1]), NOON));
    }

    #[test]
    fn the_newest_are_kept() {
        let all = names(&[0, 24, 48, 72]);
        let new = name_at(NOON);
        assert_eq!(superfluous(&all, 7, &new), Vec::<&String>::new());
        assert_eq!(superfluous(&all, 3, &new), [&all[0]]);
        assert_eq!(superfluous(&all, 1, &new), [&all[0], &all[1], &all[2]]);
        // Even if the others have later times.
        let all = names(&[0, -24, -48]);
        assert_eq!(superfluous(&all, 1, &new), [&all[1], &all[2]]);
    }
}
