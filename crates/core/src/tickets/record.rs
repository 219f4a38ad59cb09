//! What is known of a ticket and of a match, and the changes to it that are stored.

use std::{collections::BTreeSet, sync::Arc};

use serde::{Deserialize, Serialize};

use crate::domain::{MatchId, Timestamp};

/// The number of a ticket: the order in which tickets were submitted, and thereby its place.
pub type TicketNumber = i64;

/// What applies to the tickets of a queue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueTerms {
    /// How long a ticket waits before it expires, in milliseconds.
    pub ttl: i64,
    /// How long players have to accept a match, in milliseconds; 0 for no ready check.
    pub ready_check: i64,
    /// A player may be in one waiting ticket among the queues with the same group.
    pub group: String,
    /// Whether a match of the queue needs an instance that hosts it.
    pub hosted: bool,
}

/// A ticket as it is submitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submission {
    /// The name of the client, which the ticket belongs to.
    pub owner: String,
    /// The client's own id of the ticket, unique for the name.
    pub id: String,
    /// The name of the queue.
    pub queue: String,
    /// The ids of the ticket's players.
    pub players: Vec<String>,
    /// Everything that was stated, in one text that is the same if the ticket is the same.
    pub content: String,
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
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// Teams that a search has found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Proposal {
    /// The tickets of each team.
    pub teams: Vec<Vec<TicketNumber>>,
    /// Number of players that each team should have.
    pub size: u32,
    /// The mode of the match, if a rule picks one.
    pub mode: Option<String>,
    /// The map of the match, if a rule picks one.
    pub map: Option<String>,
    /// What the violations of rules that are not hard cost together.
    pub penalty: f64,
    /// The predicted chance that team 0 wins.
    pub chance: Option<f64>,
    /// The seed of the round.
    pub seed: u64,
    /// When the round began, until which the waits of these tickets count.
    pub searched_at: Timestamp,
    /// The ruleset whose rating system predicts the chance.
    pub ruleset: String,
    /// What each rule found, one line each. In memory, a match does not keep them.
    pub why: Vec<String>,
    /// What the round searched among; `None` if that is too large to store. In memory, a match does not
    /// keep it.
    #[serde(skip)]
    pub pool: Option<Arc<SearchedPool>>,
}

/// What a round searched among: with the contents of the tickets, enough to find its matches again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchedPool {
    /// The name of the queue.
    pub queue: String,
    /// The configuration of the queue, as JSON.
    pub settings: String,
    /// The seed of all random numbers.
    pub seed: u64,
    /// How much was searched.
    pub effort: u32,
    /// The version of the program.
    pub version: String,
    /// When the round began, until which the waits of the tickets count.
    pub searched_at: Timestamp,
    /// The numbers of the tickets, as in `3-7 9`.
    pub tickets: String,
    /// What was known of their players, as JSON.
    pub known: String,
    /// How the rating system turns strengths into chances, as JSON; `None` before its first rated match.
    pub outlook: Option<String>,
}

/// A player's place in a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seat {
    /// The player's identity.
    pub player: String,
    /// The player's ticket.
    pub ticket: TicketNumber,
    /// The team, counted from 0.
    pub team: u8,
    /// Whether the player has joined the match in play.
    pub later: bool,
}

/// A match that was formed of tickets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FormedMatch {
    /// The id of the match.
    pub id: MatchId,
    /// The queue of its tickets.
    pub queue: String,
    /// What the search found.
    pub proposal: Proposal,
    /// All players, team by team.
    pub seats: Vec<Seat>,
    /// When it was formed.
    pub formed_at: Timestamp,
    /// Until when its players can accept it; `None` once all have, or if they need not.
    pub open_until: Option<Timestamp>,
    /// The players who have accepted it.
    pub accepted: BTreeSet<String>,
    /// The id of the stored pool that it was found in; `None` if that was too large.
    pub pool_id: Option<MatchId>,
}

impl FormedMatch {
    /// The numbers of the match's tickets.
    pub fn tickets(&self) -> BTreeSet<TicketNumber> {
        self.seats.iter().map(|seat| seat.ticket).collect()
    }
}

/// A change to what is stored. Changes apply in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A ticket was submitted.
    Submitted(Box<TicketRecord>),
    /// A ticket is in another state, which its client has not been sent.
    Became {
        /// The number of the ticket.
        ticket: TicketNumber,
        /// Its new state.
        state: State,
        /// Why the ticket has this state.
        reason: Reason,
        /// When the state changed.
        at: Timestamp,
    },
    /// A client was sent the state of a ticket.
    Sent(TicketNumber),
    /// The state of a ticket is no longer kept.
    Forgotten(TicketNumber),
    /// A round has formed the next matches, whose stored pool has this id.
    Searched(MatchId, Arc<SearchedPool>),
    /// A match was formed.
    Formed(Box<FormedMatch>),
    /// A player has accepted a match.
    Accepted {
        /// The id of the match.
        id: MatchId,
        /// The id of the player.
        player: String,
    },
    /// All players have accepted a match, which is final now.
    Closed(MatchId),
    /// Tickets have joined a match in play.
    Seated {
        /// The id of the match.
        id: MatchId,
        /// The seats of their players.
        seats: Vec<Seat>,
        /// What the search found, one line each.
        why: Vec<String>,
    },
    /// A ticket that had joined a match in play is not in it any more.
    Unseated {
        /// The id of the match.
        id: MatchId,
        /// The number of the ticket.
        ticket: TicketNumber,
    },
    /// A match has no tickets any more.
    Dropped(MatchId),
}

impl Change {
    /// Whether the change can wait for the next write: if it is lost, a client is sent a state again,
    /// or a state is kept for longer.
    pub fn can_wait(&self) -> bool {
        matches!(self, Self::Sent(_) | Self::Forgotten(_) | Self::Dropped(_))
    }
}
