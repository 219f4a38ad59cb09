//! The folder of the checkpoints of one database.

use std::{
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use super::{Point, write};

/// How the name of a checkpoint ends.
const SUFFIX: &str = ".checkpoint";
/// How the name of a file ends that is being written.
const UNFINISHED: &str = ".unfinished";
/// How many checkpoints are kept: if the newest is damaged, or a match comes late, the one before it is used.
const KEPT: usize = 2;

/// Where a daemon keeps its checkpoints, each named after its number of matches and its key. Nothing is lost without
/// them: all matches are learned again.
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
        let mut old = self.checkpoints(key)?.into_iter().skip(KEPT);
        old.try_for_each(|path| remove(&path))
    }

    /// Deletes the checkpoints of other keys, which may contain players who were forgotten since, and what was left
    /// unfinished.
    pub fn retain(&self, key: &str) -> io::Result<()> {
        let is_other = |name: &str| {
            name.ends_with(UNFINISHED) || (name.ends_with(SUFFIX) && !is_of(name, key))
        };
        let mut others = self.files(is_other)?.into_iter();
        others.try_for_each(|path| remove(&path))
    }
}

/// Whether a file with this name is a checkpoint of the key.
fn is_of(name: &str, key: &str) -> bool {
    let name = name.strip_suffix(SUFFIX);
    name.and_then(|name| name.split_once('-'))
        .is_some_and(|(_, of)| of == key)
}

/// Removes a file, if another process has not done so.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
