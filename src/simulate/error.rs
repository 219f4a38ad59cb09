//! Why a simulation failed.

use std::io;

use crate::{
    learning::LearningError, server::ServiceError, session::SessionError, store::StoreError,
};

/// Why a simulation failed.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// The service of a season could not be opened.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// A season could not be learned from.
    #[error(transparent)]
    Learning(#[from] LearningError),
    /// A simulated game was refused.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The database of a season failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no temporary folder for the database of a season.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A task has ended by itself.
    #[error(transparent)]
    Task(#[from] tokio::task::JoinError),
}
