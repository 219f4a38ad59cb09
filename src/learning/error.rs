//! Why learning from the stored matches failed.

use crate::{domain::PatternError, store::StoreError};

/// Why learning failed. The published weights are the same as before.
#[derive(Debug, thiserror::Error)]
pub enum LearningError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The rulebook has an invalid pattern.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// The settings cannot be written down, so that stored weights cannot be compared with them.
    #[error("the settings cannot be serialised")]
    Settings(#[from] serde_json::Error),
    /// The thread that folds matches panicked or was cancelled.
    #[error("a task was cancelled or panicked")]
    Task(#[from] tokio::task::JoinError),
}
