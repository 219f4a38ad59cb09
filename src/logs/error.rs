//! Why a log cannot be read.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::format_names;
use crate::store::StoreError;

/// Why a log was not read.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// The file system's fault.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What it says.
        source: io::Error,
    },
    /// It is of no format that is known.
    #[error("{}: this is no log of any known format ({})", path.display(), format_names().join(", "))]
    Unknown {
        /// The file.
        path: PathBuf,
    },
    /// It is not of the format it was said to be.
    #[error("{}: nothing in this is a {format} log", path.display())]
    NotThis {
        /// The file.
        path: PathBuf,
        /// The format.
        format: &'static str,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The thread that reads the log panicked or was cancelled.
    #[error("a task was cancelled or panicked")]
    Task(#[from] tokio::task::JoinError),
}

impl LogError {
    pub(super) fn file(path: &Path) -> impl Fn(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::File {
            path: path.clone(),
            source,
        }
    }
}
