//! The errors of calls of queue clients.

use crate::{coordinator, matchmaking::TicketError, tickets::Refused};

/// Why a call failed. It has changed nothing.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum QueuesError {
    /// The event was refused.
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The queue's declarations do not allow the ticket.
    #[error(transparent)]
    Ticket(#[from] TicketError),
    /// The event of an instance was refused.
    #[error(transparent)]
    Host(#[from] coordinator::Refused),
    /// A ticket has too many players or attributes to be read.
    #[error("the ticket is too large")]
    TooLarge,
    /// The change could not be written; the log has the details.
    #[error("the change could not be written")]
    NotWritten,
    /// The daemon is stopping.
    #[error("the queues have stopped")]
    Stopped,
}
