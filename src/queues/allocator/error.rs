//! The errors of opening the allocator: certificates that cannot be used.

use std::{io, path::PathBuf};

/// Why the allocator cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum AllocatorError {
    /// A file cannot be read.
    #[error("coordinator.agones.{key}: cannot read {}: {source}", path.display())]
    Read {
        /// The key that names the file.
        key: &'static str,
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file does not contain what it should.
    #[error("coordinator.agones.{key}: {} has no {what} in PEM", path.display())]
    Content {
        /// The key that names the file.
        key: &'static str,
        /// The path of the file.
        path: PathBuf,
        /// What it should contain.
        what: &'static str,
    },
}
