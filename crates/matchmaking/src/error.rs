//! The errors of this room.

use serde::{Deserialize, Serialize};

/// Why the settings of a queue contradict themselves or refer to what does not exist. The message
/// is a predicate or a sentence about the key that [`key`](Self::key) names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{key} {why}")]
pub struct QueueError {
    /// The path of the key below `[queue.NAME]`, such as `rule[2].of`.
    pub key: String,
    /// What is wrong, as a predicate whose subject is the key.
    pub why: String,
}

impl QueueError {
    pub(super) fn new(key: impl Into<String>, why: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            why: why.into(),
        }
    }
}

/// Why a queue refuses a ticket.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
pub enum TicketError {
    /// The ticket's own identifier is empty, too long or has control characters.
    #[error("the ticket's id must be 1 to {max} bytes without spaces or control characters", max = super::attribute::MAX_ID)]
    Id,
    /// A player's identifier is empty, too long or has control characters.
    #[error("a player's id must be 1 to {max} bytes without control characters", max = super::attribute::MAX_ID)]
    PlayerId,
    /// The ticket has no players, or more than a team.
    #[error("a ticket of {players} players: 1 to {most} fit on a team")]
    Players {
        /// Number of players of the ticket.
        players: usize,
        /// Number of players of a full team.
        most: usize,
    },
    /// A player is in the ticket twice.
    #[error("{0} is in the ticket twice")]
    Twice(String),
    /// The wait is negative or not a number.
    #[error("the ticket waited {0} seconds: it must be a finite number of at least 0")]
    Waited(f64),
    /// The queue declares no such attribute.
    #[error("{player}: the queue has no attribute {attribute}")]
    Unknown {
        /// The player's id.
        player: String,
        /// The name that the player gave.
        attribute: String,
    },
    /// An attribute without a default is missing.
    #[error("{player}: {attribute} is missing")]
    Missing {
        /// The player's id.
        player: String,
        /// The name of the attribute.
        attribute: String,
    },
    /// A hard rule allows the player in no match.
    #[error("{rule}: {player} {why}")]
    Barred {
        /// The player's id.
        player: String,
        /// The name of the rule.
        rule: String,
        /// What the player needs and has, as a predicate.
        why: String,
    },
    /// A value is not of the declared type.
    #[error("{player}: {attribute} must be {expected}")]
    Value {
        /// The player's id.
        player: String,
        /// The name of the attribute.
        attribute: String,
        /// What the declaration allows.
        expected: String,
    },
}
