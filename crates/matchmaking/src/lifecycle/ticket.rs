//! Tickets, as they are submitted and as they are kept.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Latency, TicketSpec};
use evenkeel_model::{MatchId, Timestamp};

/// The number of a ticket: the order in which tickets were submitted, and thereby its place.
pub type TicketNumber = i64;

/// What applies to the tickets of a queue and to the matches formed of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueTerms {
    /// How long a ticket waits before it expires, in milliseconds.
    pub ttl: i64,
    /// How long players have to accept a match, in milliseconds; 0 for no ready check.
    pub ready_check: i64,
    /// A player may be in one waiting ticket among the queues with the same group.
    pub group: String,
    /// Whether a match of the queue needs an instance that hosts it.
    pub hosted: bool,
    /// How long a match waits for an instance, in milliseconds.
    pub host_wait: i64,
    /// The latency that players state to each region, and the worst one at which they play.
    pub latency: Option<Latency>,
    /// Number of teams of a match.
    pub teams: u8,
    /// Whether players of the queue fill free seats of its matches in play.
    pub backfill: bool,
}

/// A ticket as it is submitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Submission {
    /// The name of the client, which the ticket belongs to.
    pub owner: String,
    /// The client's own id of the ticket, unique for the name.
    pub id: String,
    /// The name of the queue.
    pub queue: String,
    /// The ids of the ticket's players.
    pub players: Vec<String>,
    /// Everything that was stated.
    pub spec: Arc<TicketSpec>,
}

/// A player who is in a ticket that has not ended, and in no other ticket of the group.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TicketPlayer {
    /// The group of the ticket's queue; empty for the queues of a partition that name none.
    pub group: String,
    /// The id of the player.
    pub player: String,
    /// The number of the ticket.
    pub ticket: TicketNumber,
}

/// The state of a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It waits for a match.
    Queued,
    /// It is in a match that its players have not all accepted.
    Proposed(MatchId),
    /// It is in a match for which an instance is sought.
    Hosted(MatchId),
    /// Its players were called to the instance of their match, whose play has not begun.
    Called(MatchId),
    /// It is in a match: one that needs no instance, or whose play has begun. Final.
    Matched(MatchId),
    /// It has left the queue. Final.
    Cancelled,
    /// It has waited for as long as its queue allows. Final.
    Expired,
}

impl State {
    /// Whether the ticket never leaves this state.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Matched(_) | Self::Cancelled | Self::Expired)
    }

    /// Whether the ticket is in a match that needs an instance, and whose play has not begun.
    pub fn is_hosted(self) -> bool {
        matches!(self, Self::Hosted(_) | Self::Called(_))
    }

    /// The match that the ticket is in.
    pub fn match_id(self) -> Option<MatchId> {
        match self {
            Self::Proposed(id) | Self::Hosted(id) | Self::Called(id) | Self::Matched(id) => {
                Some(id)
            }
            Self::Queued | Self::Cancelled | Self::Expired => None,
        }
    }
}

/// Why a ticket has gone back to the queue or has left it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reason {
    /// Nothing out of the ordinary.
    #[default]
    None,
    /// A player declined the match.
    Declined,
    /// A player did not accept the match in time.
    Unanswered,
    /// A ticket of the match was cancelled.
    Cancelled,
    /// The configuration no longer has the queue, or the queue no longer accepts the ticket.
    Reconfigured,
    /// No instance was found for the match in time, or its game did not begin.
    Unhosted,
    /// A player did not come to the instance.
    NoShow,
    /// The match has ended before its new player came.
    Ended,
    /// The match in play has no free seat for its new player any more.
    Released,
}

impl Reason {
    /// All reasons, in the order of their declaration.
    pub const ALL: [Self; 9] = [
        Self::None,
        Self::Declined,
        Self::Unanswered,
        Self::Cancelled,
        Self::Reconfigured,
        Self::Unhosted,
        Self::NoShow,
        Self::Ended,
        Self::Released,
    ];

    /// The word for it, on the wire and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Declined => "declined",
            Self::Unanswered => "unanswered",
            Self::Cancelled => "cancelled",
            Self::Reconfigured => "reconfigured",
            Self::Unhosted => "unhosted",
            Self::NoShow => "no-show",
            Self::Ended => "ended",
            Self::Released => "released",
        }
    }
}

/// A ticket, and its state.
#[derive(Clone, Debug, PartialEq)]
pub struct TicketRecord {
    /// The number of the ticket.
    pub number: TicketNumber,
    /// What was submitted.
    pub ticket: Submission,
    /// When it was submitted.
    pub submitted_at: Timestamp,
    /// The state that the ticket is in.
    pub state: State,
    /// Why it has that state.
    pub reason: Reason,
    /// When it got that state.
    pub changed_at: Timestamp,
    /// Whether the client has been sent that state.
    pub is_sent: bool,
}
