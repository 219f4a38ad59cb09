//! The changes to what is stored.

use std::sync::Arc;

use super::{
    Instance, Match, Reason, SearchedPool, Seat, State, TicketNumber, TicketPlayer, TicketRecord,
    Why,
};
use crate::domain::{MatchId, Timestamp};

/// A change to what is stored. Changes apply in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A ticket was submitted.
    Submitted(Box<TicketRecord>),
    /// A ticket is in another state, which its client has not been sent.
    Became {
        /// The number of the ticket.
        ticket: TicketNumber,
        /// The state that it had.
        from: State,
        /// Its new state.
        state: State,
        /// Why the ticket has this state.
        reason: Reason,
        /// When the state changed.
        at: Timestamp,
    },
    /// A player is in this ticket, and in no other one of the group.
    Entered(TicketPlayer),
    /// A player is not in this ticket of the group any more.
    Left(TicketPlayer),
    /// A client was sent the state of a ticket.
    Sent(TicketNumber),
    /// The state of a ticket is no longer kept.
    Forgotten(TicketNumber),
    /// A round has formed the next matches, whose stored pool has this id.
    Searched(MatchId, Arc<SearchedPool>),
    /// A match was formed.
    Formed(Box<Match>),
    /// A player has accepted a match.
    Accepted {
        /// The match that they accept.
        id: MatchId,
        /// The id of the player.
        player: String,
    },
    /// All players have accepted a match, which is final now.
    Closed(MatchId),
    /// Tickets have joined a match in play.
    Seated {
        /// The match in play.
        id: MatchId,
        /// The seats of their players.
        seats: Vec<Seat>,
        /// What the search found, one line each.
        why: Vec<String>,
    },
    /// A ticket that had joined a match in play is not in it any more.
    Unseated {
        /// The match in play.
        id: MatchId,
        /// The number of the ticket.
        ticket: TicketNumber,
    },
    /// A match has no tickets any more.
    Dropped(MatchId),
    /// The hosting of a match is new or has changed.
    Hosted(Box<Match>),
    /// The hosting of a match is no longer kept.
    HostingForgotten(MatchId),
    /// An instance is new or has changed. Whether it drains is the operator's to change.
    Instance(Box<Instance>),
    /// An instance is gone.
    InstanceGone(String),
    /// An absent instance must be sent CLOSE for a match when it comes back.
    Owed {
        /// The name of the instance.
        instance: String,
        /// The match that it hosts no longer.
        id: MatchId,
        /// Why it hosts the match no longer.
        why: Why,
    },
    /// The instance need not be sent that CLOSE any more.
    Settled {
        /// The name of the instance.
        instance: String,
        /// The match for which it was owed.
        id: MatchId,
    },
}

impl Change {
    /// Whether the change can wait for the next write: if it is lost, a client or an instance is sent something
    /// again, or something is kept for longer.
    pub fn can_wait(&self) -> bool {
        match self {
            Self::Submitted(_)
            | Self::Became { .. }
            | Self::Entered(_)
            | Self::Left(_)
            | Self::Searched(..)
            | Self::Formed(_)
            | Self::Accepted { .. }
            | Self::Closed(_)
            | Self::Seated { .. }
            | Self::Unseated { .. }
            | Self::Hosted(_) => false,
            Self::Sent(_)
            | Self::Forgotten(_)
            | Self::Dropped(_)
            | Self::HostingForgotten(_)
            | Self::Instance(_)
            | Self::InstanceGone(_)
            | Self::Owed { .. }
            | Self::Settled { .. } => true,
        }
    }
}
