//! The errors of a session's commands and of its mailbox.

use crate::{
    learning::BehaviourError,
    lobby::LobbyError,
    partition::{ProblemError, StatedError},
    store::StoreError,
};

/// Why a command failed. It has changed nothing, except for [`Deferred`](Self::Deferred).
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The lobby refused the command.
    #[error(transparent)]
    Lobby(#[from] LobbyError),
    /// The client may not send the command, or may not send it now.
    #[error("{0}")]
    NotAllowed(&'static str),
    /// Another connection reports the same game server.
    #[error("{0}")]
    Reported(String),
    /// An argument is invalid.
    #[error("{0}")]
    BadArgument(String),
    /// A weight that the asker of a question has stated cannot count.
    #[error("a stated weight {0}")]
    Stated(#[from] StatedError),
    /// The game server has sent too many reports about behaviour today.
    #[error("{0}")]
    TooManyReports(String),
    /// The weights that this needs are being derived from the stored matches. Once they are, the same command
    /// succeeds.
    #[error("the weights are being derived from the stored matches: try again")]
    NotReady,
    /// No core was free before the deadline.
    #[error("there was no time to choose teams")]
    Overloaded,
    /// The match of a game that has ended cannot be written now. It is kept in the backlog and
    /// written as soon as possible.
    #[error("kept")]
    Deferred,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A task panicked or was cancelled.
    #[error("a task was cancelled or panicked")]
    Task(#[from] tokio::task::JoinError),
}

impl From<BehaviourError> for SessionError {
    fn from(error: BehaviourError) -> Self {
        match error {
            BehaviourError::NotAReporter => {
                SessionError::NotAllowed("this game server may not report behaviour")
            }
            BehaviourError::TooManyPoints(_) => SessionError::BadArgument(error.to_string()),
            BehaviourError::TooManyReports => SessionError::TooManyReports(error.to_string()),
            BehaviourError::Store(error) => SessionError::Store(error),
        }
    }
}

impl From<ProblemError> for SessionError {
    fn from(error: ProblemError) -> Self {
        SessionError::BadArgument(error.to_string())
    }
}

/// Why a line was not queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MailboxError {
    /// The peer reads too slowly, or not at all.
    #[error("too many lines wait for this connection")]
    Full,
    /// The connection has ended.
    #[error("the connection has ended")]
    Closed,
}
