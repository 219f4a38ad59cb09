//! The errors of events: a client has sent what its tickets do not allow.

use serde::{Deserialize, Serialize};

/// Why an event was refused. It has changed nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum TicketRefused {
    /// The name has a ticket of this id, with other content.
    #[error("there is another ticket with this id")]
    OtherContent,
    /// No queue of this name is configured.
    #[error("there is no queue {0}")]
    NoQueue(String),
    /// Too many tickets wait.
    #[error("too many tickets wait")]
    Full,
    /// A player of the ticket is in another one that waits.
    #[error("{0} is in another ticket")]
    InAnother(String),
    /// A player of the ticket is in a hosted match that is being played.
    #[error("{0} is in a match that is being played")]
    InMatch(String),
    /// The name has no ticket of this id, or its state is no longer kept.
    #[error("there is no such ticket")]
    NoTicket,
    /// No match with this id waits to be accepted.
    #[error("no such match waits to be accepted")]
    NoCheck,
    /// The player is in no ticket of the match that belongs to the name.
    #[error("the player is in no ticket of yours in this match")]
    NotInMatch,
}
