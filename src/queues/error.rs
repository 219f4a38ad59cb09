//! The errors of calls of queue clients.

use serde::{Deserialize, Serialize};

use crate::{
    matchmaking::lifecycle::{HostRefused, TicketRefused},
    matchmaking::{QueueError, TicketError},
};

/// Why a new configuration has not replaced the old one.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConfigureError {
    /// The settings of a queue contradict each other.
    #[error(transparent)]
    Settings(#[from] QueueError),
    /// A queue is in a partition that the daemon does not know since its start.
    #[error("the partition {0} is new: restart the daemon")]
    Partition(String),
    /// The change could not be made.
    #[error(transparent)]
    Call(#[from] QueuesError),
}

/// Why a call failed. It has changed nothing.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
pub enum QueuesError {
    /// The event was refused.
    #[error(transparent)]
    Refused(#[from] TicketRefused),
    /// The queue's declarations do not allow the ticket.
    #[error(transparent)]
    Ticket(#[from] TicketError),
    /// The event of an instance was refused.
    #[error(transparent)]
    Host(#[from] HostRefused),
    /// A ticket has too many players or attributes to be read.
    #[error("the ticket is too large")]
    TooLarge,
    /// The change could not be written; the log has the details.
    #[error("the change could not be written")]
    NotWritten,
    /// The configuration of the queue has changed, and no longer accepts the ticket.
    #[error("the configuration of the queue has changed: begin the ticket again")]
    Reconfigured,
    /// What the queue has to know of the players is being derived from the stored matches.
    #[error("what the queue has to know of the players is being derived: try again")]
    NotReady,
    /// What is asked for could not be read; the log has the details.
    #[error("the database cannot be read: try again")]
    NotRead,
    /// Too many explanations are asked for at once.
    #[error("too many explanations are asked for at once")]
    Busy,
    /// The daemon has lost the lease of the queues, and another one takes over.
    #[error("another daemon takes over the queues: try again")]
    Moved,
    /// Another daemon of this database runs the queues.
    #[error("another daemon runs the queues of this database")]
    Elsewhere,
    /// The daemon that runs the queues has other settings for this queue, or does not have it.
    #[error("another daemon runs the queues of this database, with other settings for {0}")]
    OtherSettings(String),
    /// No queue is in the partition that an instance names.
    #[error("no queue is in the partition {0}")]
    NoPartition(String),
    /// The daemon is stopping.
    #[error("the queues have stopped")]
    Stopped,
}

impl QueuesError {
    /// Whether a hard rule of the queue keeps a player of the ticket out. The same ticket may be accepted
    /// later, once the player has played more.
    pub fn is_barred(&self) -> bool {
        matches!(self, Self::Ticket(TicketError::Barred { .. }))
    }
}
