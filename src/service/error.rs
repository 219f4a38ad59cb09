//! The errors of opening the service.

use crate::{
    domain::PatternError, learning::LearningError, matchmaking::QueueError, queues::AllocatorError,
};

/// Why the service cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The learned state cannot be opened.
    #[error(transparent)]
    Learning(#[from] LearningError),
    /// The session settings contain an invalid pattern.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// The allocator cannot be asked.
    #[error(transparent)]
    Allocator(#[from] AllocatorError),
    /// The settings of a queue contradict each other.
    #[error("a queue: {0}")]
    Queue(#[from] QueueError),
}
