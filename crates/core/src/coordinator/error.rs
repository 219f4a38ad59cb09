//! The errors of events: an instance has sent what its matches do not allow.

use serde::{Deserialize, Serialize};

/// Why an event was refused. It has changed nothing.
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
