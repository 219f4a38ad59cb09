//! Tickets: what a client sent, and the checked form.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::attribute::{Raw, Value};

/// A player of a ticket, as a client or a file states them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlayerSpec {
    /// The player's identity.
    pub id: String,
    /// What the player states.
    #[serde(flatten)]
    pub attributes: BTreeMap<String, Raw>,
}

/// A ticket, as a client or a file states it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TicketSpec {
    /// The client's own identifier of the ticket.
    pub ticket: String,
    /// How long it has waited, in seconds.
    #[serde(default)]
    pub waited: f64,
    /// The players, who queue and play together.
    pub players: Vec<PlayerSpec>,
}

/// What the caller knows of a player: the attributes whose names begin with `@`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct KnownAttributes {
    /// Numbers by name, such as `@weight`. A name that is missing has `unknown`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub numbers: BTreeMap<String, f64>,
    /// The players met in the last matches, the latest match first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub met: Vec<Vec<String>>,
    /// The maps of the last matches, the latest match first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub maps: Vec<String>,
}

/// The number of an `@` attribute for a player whom the caller knows nothing of.
pub(crate) fn unknown(name: &str) -> f64 {
    match name {
        "@weight" => 50.0,
        _ => 0.0,
    }
}

/// A checked player.
#[derive(Clone, Debug, PartialEq)]
pub struct TicketPlayer {
    /// The player's identity.
    pub id: String,
    /// A value for each declared attribute, in the order of the queue's settings.
    pub values: Vec<Value>,
    /// What the caller knows of the player.
    pub known: KnownAttributes,
}

/// A checked ticket: 1 or more players who queue and play together.
#[derive(Clone, Debug, PartialEq)]
pub struct Ticket {
    /// The client's own identifier of the ticket.
    pub id: String,
    /// How long it has waited, in seconds.
    pub waited: f64,
    /// The players of the ticket, who stay together.
    pub players: Vec<TicketPlayer>,
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
