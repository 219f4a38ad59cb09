//! The errors of learning from the stored matches.

use crate::{model::PatternError, store::StoreError};

/// Why learning failed. The published weights are the same as before.
#[derive(Debug, thiserror::Error)]
pub enum LearningError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The rulebook has an invalid pattern.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// The settings cannot be serialised, so that they cannot be compared with those of stored
    /// weights.
    #[error("the settings cannot be serialised")]
    Settings(#[from] serde_json::Error),
    /// The learned state cannot be encoded.
    #[error("the learned state cannot be encoded")]
    Encode(#[from] std::io::Error),
    /// The thread that folds matches panicked or was cancelled.
    #[error("a task was cancelled or panicked")]
    Task(#[from] tokio::task::JoinError),
}
