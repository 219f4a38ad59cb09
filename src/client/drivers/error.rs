//! Why a sidecar or an agent could not start, or ended.

use std::{io, path::PathBuf};

/// Why a sidecar or an agent could not start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// A file cannot be read or written, or a program cannot be started.
    #[error("{}: {source}", path.display())]
    File {
        /// The file, or the program.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The operator has to change something.
    #[error("{0}")]
    Input(String),
    /// A socket cannot be opened, or a line cannot be printed.
    #[error(transparent)]
    Io(#[from] io::Error),
}
