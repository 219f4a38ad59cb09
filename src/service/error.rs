//! The errors of opening the service.

use crate::{domain::PatternError, learning::LearningError};

/// Why the service cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The learned state cannot be opened.
    #[error(transparent)]
    Learning(#[from] LearningError),
    /// The session settings contain an invalid pattern.
    #[error(transparent)]
    Pattern(#[from] PatternError),
}
