//! The newest log of a folder.

use std::{
    fs, io,
    path::{Path, PathBuf},
    time::{Duration, Instant, SystemTime},
};

use super::read_tail;
use crate::{ingest::Lines, logs::Tail};

/// How often a folder is searched for a newer log.
const SEARCH: Duration = Duration::from_secs(1);

/// The newest log of a folder, to which a game server adds one for each map or match.
pub(super) struct NewestFile {
    pub(super) folder: PathBuf,
    tail: Option<Tail>,
    pub(super) searched: Option<Instant>,
}

impl NewestFile {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            tail: None,
            searched: None,
        }
    }

    pub(super) fn read(
        &mut self,
        lines: &mut Lines,
        each: &mut impl FnMut(&[u8]),
    ) -> io::Result<()> {
        let due = self.searched.is_none_or(|at| at.elapsed() >= SEARCH);
        let newest = match due {
            true => {
                self.searched = Some(Instant::now());
                newest_in(&self.folder)?
            }
            false => None,
        };
        // The server has finished the old file before it began a newer one.
        if let Some(tail) = &mut self.tail {
            read_tail(tail, lines, each)?;
        }
        if let Some(newest) = newest
            && self.tail.as_ref().is_none_or(|tail| tail.path() != newest)
        {
            lines.interrupt();
            read_tail(self.tail.insert(Tail::new(newest)), lines, each)?;
        }
        Ok(())
    }
}

/// The `.log` of a folder that was written last.
pub(super) fn newest_in(folder: &Path) -> io::Result<Option<PathBuf>> {
    let mut newest: Option<(SystemTime, PathBuf)> = None;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        // A file may be removed at any time.
        let Ok(meta) = path.metadata() else { continue };
        let is_log = path.extension().is_some_and(|extension| extension == "log");
        if !is_log || !meta.is_file() || meta.len() == 0 {
            continue;
        }
        let found = (meta.modified()?, path);
        if newest.as_ref().is_none_or(|newest| *newest < found) {
            newest = Some(found);
        }
    }
    Ok(newest.map(|(_, path)| path))
}
