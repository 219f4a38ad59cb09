//! The errors of events: a client has sent what its tickets do not allow, or an instance what its matches do not.

use serde::{Deserialize, Serialize};

/// Why an event of a client was refused. It has changed nothing.
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

/// Why an event of an instance was refused. It has changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum HostRefused {
    /// There are as many instances as the daemon allows.
    #[error("there are too many instances")]
    TooMany,
    /// The instance hosts no such match, or hosts it no longer.
    #[error("this instance does not host this match")]
    NotYours,
    /// The instance has not sent READY for this match.
    #[error("send READY for this match first")]
    NotReady,
    /// Players for free seats are sought only during play.
    #[error("send START before BACKFILL")]
    NotPlaying,
    /// The match has no such team.
    #[error("the match has no such team")]
    NoTeam,
    /// Nobody is in the match any more with whom a player of the queue could play.
    #[error("everybody has left the match: send END, and its slot is free for another one")]
    Deserted,
    /// The queue was removed from the configuration while the match is played.
    #[error("the configuration no longer has the queue of this match")]
    NoQueue,
    /// The queue does not give away free seats.
    #[error("the queue of this match has backfill = false")]
    NoBackfill,
}
