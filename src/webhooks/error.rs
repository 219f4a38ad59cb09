//! Why webhooks cannot be used.

use std::{io, path::PathBuf};

use crate::store::StoreError;

/// Why the daemon cannot send events.
#[derive(Debug, thiserror::Error)]
pub enum DeliveryError {
    /// The file of a secret cannot be read.
    #[error("{}: {source}", path.display())]
    SecretFile {
        /// The configured path.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file of a secret does not contain one.
    #[error("{}: the secret {why}", path.display())]
    BadSecret {
        /// The configured path.
        path: PathBuf,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The webhook has neither a secret nor a file of one.
    #[error("webhook {0} has no secret")]
    NoSecret(String),
    /// The database fails.
    #[error(transparent)]
    Store(#[from] StoreError),
}
