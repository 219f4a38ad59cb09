//! The folder of the checkpoints of one database.

use std::{
    ffi::OsStr,
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
    time::Duration,
};

use super::{Point, write};

/// How the name of a checkpoint ends.
const SUFFIX: &str = ".checkpoint";
/// How the name of a file ends that is being written.
const UNFINISHED: &str = ".unfinished";
/// How many checkpoints of the same settings are kept: if the newest is damaged, or a match comes late, the one before it is
/// used.
const KEPT: usize = 2;
/// How many are kept in all, of daemons with other settings as well.
const MOST: usize = 8;
/// After this time, nobody writes an unfinished file any more.
const ABANDONED: Duration = Duration::from_secs(3_600);

/// Where the daemons of a database keep their checkpoints, each named after its number of matches and its key, which is that
/// of the settings, a hyphen, and that of the overrides. Nothing is lost without them: all matches are learned again.
#[derive(Clone, Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub fn new(path: PathBuf) -> Self {
        Self(path)
    }

    /// The checkpoints of a key, the one with most matches first.
    pub fn checkpoints(&self, key: &str) -> io::Result<Vec<PathBuf>> {
        let mut files = self.files(|name| is_of(name, key))?;
        files.sort();
        files.reverse();
        Ok(files)
    }

    fn files(&self, wanted: impl Fn(&str) -> bool) -> io::Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(&self.0) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry?;
            if entry.file_name().to_str().is_some_and(&wanted) {
                files.push(entry.path());
            }
        }
        Ok(files)
    }

    /// Writes a checkpoint, and deletes older ones.
    pub fn save(&self, key: &str, point: &Point) -> io::Result<()> {
        fs::create_dir_all(&self.0)?;
        let builder = &mut tempfile::Builder::new();
        let mut file = builder.suffix(UNFINISHED).tempfile_in(&self.0)?;
        write(file.as_file_mut(), key, point)?;
        file.as_file().sync_all()?;
        let name = format!("{:012}-{key}{SUFFIX}", point.at.matches);
        let written = file.persist(self.0.join(name));
        written.map_err(|error| error.error)?;
        self.tidy(key)
    }

    /// Deletes the checkpoints of other overrides than those of this key, which may contain players who were forgotten since,
    /// all but the newest ones of each settings, and what was left unfinished.
    pub fn tidy(&self, key: &str) -> io::Result<()> {
        let mut files = Vec::new();
        for path in self.files(|name| name.ends_with(SUFFIX) || name.ends_with(UNFINISHED))? {
            match fs::metadata(&path).and_then(|data| data.modified()) {
                Ok(written) => files.push((written, path)),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        files.sort();
        let mut kept: Vec<&str> = Vec::new();
        for (written, path) in files.iter().rev() {
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
            let keeps = match settings_of(name, key) {
                Some(settings) => {
                    let of_these = kept.iter().filter(|own| **own == settings).count();
                    kept.push(settings);
                    of_these < KEPT && kept.len() <= MOST
                }
                None if name.ends_with(SUFFIX) => false,
                None => written.elapsed().is_ok_and(|age| age < ABANDONED),
            };
            if !keeps {
                remove(path)?;
            }
        }
        Ok(())
    }
}

/// Whether a file with this name is a checkpoint of the key.
fn is_of(name: &str, key: &str) -> bool {
    key_of(name) == Some(key)
}

/// The key of the settings, if a file with this name is a checkpoint with the overrides of a key.
fn settings_of<'a>(name: &'a str, key: &str) -> Option<&'a str> {
    let (settings, overrides) = key_of(name)?.split_once('-')?;
    let (_, own) = key.split_once('-')?;
    (overrides == own).then_some(settings)
}

fn key_of(name: &str) -> Option<&str> {
    let (_, key) = name.strip_suffix(SUFFIX)?.split_once('-')?;
    Some(key)
}

/// Removes a file, if another process has not done so.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    fn names(folder: &Folder) -> Vec<String> {
        let files = folder.files(|_| true).unwrap().into_iter();
        let names = files.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// Files whose names are given, each written a minute after the one before it; the last one was written `ago`.
    fn with(names: &[&str], ago: Duration) -> (tempfile::TempDir, Folder) {
        let place = tempfile::tempdir().unwrap();
        for (age, name) in (0..).zip(names.iter().rev()) {
            let file = File::create(place.path().join(name)).unwrap();
            let age = ago + age * Duration::from_secs(60);
            let now = file.metadata().unwrap().modified().unwrap();
            file.set_modified(now - age).unwrap();
        }
        let folder = Folder::new(place.path().to_owned());
        (place, folder)
    }

    #[test]
    fn the_newest_of_each_settings_are_kept() {
        let all = [
            "000000000900-a-x.checkpoint",
            "000000000100-b-x.checkpoint",
            "000000000300-a-x.checkpoint",
            "000000000200-b-x.checkpoint",
            "000000000301-a-x.checkpoint",
            "000000000302-a-y.checkpoint",
            "000000000303-a.checkpoint",
            "notes.txt",
        ];
        let (_place, folder) = with(&all, Duration::ZERO);
        folder.tidy("a-x").unwrap();
        let mut kept = [all[1], all[2], all[3], all[4], all[7]];
        kept.sort_unstable();
        assert_eq!(names(&folder), kept);
        let newest = folder.checkpoints("a-x").unwrap();
        assert!(newest[0].ends_with(all[4]) && newest.len() == 2);
    }

    #[test]
    fn there_are_few_however_many_settings_there_are() {
        let all: Vec<String> = (10..22)
            .map(|own| format!("{own:012}-{own}-x.checkpoint"))
            .collect();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        let (_place, folder) = with(&all, Duration::ZERO);
        folder.tidy("21-x").unwrap();
        assert_eq!(names(&folder), all[4..]);
    }

    #[test]
    fn a_file_that_another_daemon_writes_stays_until_it_is_old() {
        for (ago, left) in [(Duration::ZERO, 1), (2 * ABANDONED, 0)] {
            let (_place, folder) = with(&["1.unfinished"], ago);
            folder.tidy("a-x").unwrap();
            assert_eq!(names(&folder).len(), left);
        }
    }
}
