//! The errors of reading logs.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::format_names;
use crate::store::StoreError;

/// Why a log cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// Path of the file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file has no content.
    #[error("{}: the file is empty", path.display())]
    Empty {
        /// Path of the file.
        path: PathBuf,
    },
    /// The content belongs to no known format.
    #[error("{}: not a log of any known format ({}); it begins with: {first}", path.display(), format_names().join(", "))]
    Unknown {
        /// Path of the file.
        path: PathBuf,
        /// The beginning of the first line, readable on a terminal.
        first: String,
    },
    /// The content is known, and not supported.
    #[error("{}: {why}", path.display())]
    NotRead {
        /// Path of the file.
        path: PathBuf,
        /// What it is, and what to read instead.
        why: &'static str,
    },
    /// A format was given, and the content does not belong to it.
    #[error("{}: not a log of the format {format}", path.display())]
    NotThis {
        /// Path of the file.
        path: PathBuf,
        /// Name of the given format.
        format: &'static str,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The thread that reads the log panicked or was cancelled.
    #[error("a task was cancelled or panicked")]
    Task(#[from] tokio::task::JoinError),
    /// The operating system refused to start a thread.
    #[error("cannot start the thread that reads logs: {0}")]
    Thread(io::Error),
    /// Reading was stopped before the end.
    #[error("reading was stopped")]
    Stopped,
}

impl LogError {
    /// Converts an error of the operating system to one that names the file.
    pub(super) fn file(path: &Path) -> impl Fn(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::File {
            path: path.clone(),
            source,
        }
    }
}
