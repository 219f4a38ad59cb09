//! The errors of opening the listeners.

use std::{io, path::PathBuf};

/// Why a certificate and its key cannot be used. No error contains anything of the key.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("{}: {source}", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file does not contain what it should, or the key is not that of the certificate.
    #[error("{}: {why}", path.display())]
    Content {
        /// The path of the file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}
