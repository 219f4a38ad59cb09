//! Notices changes in a file that is no longer read.

use std::{path::Path, time::SystemTime};

use file_id::{FileId, get_file_id};

/// Size, time and id of a file, to notice changes in a file that is no longer read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct FileStamp {
    pub(super) id: FileId,
    pub(super) length: u64,
    written: Option<SystemTime>,
}

impl FileStamp {
    /// The stamp of the file at `path`; `None` if there is none.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let meta = path.metadata().ok()?;
        Some(Self {
            id: get_file_id(path).ok()?,
            length: meta.len(),
            written: meta.modified().ok(),
        })
    }
}
