//! What events lead to: what to store, and then what to send, to ask for and to count.

use std::sync::Arc;

use super::{
    Instance, Match, MatchSeat, QueuedPlayer, Reason, SearchedPool, State, TicketNumber,
    TicketRecord, Why,
};
use evenkeel_model::{MatchId, Timestamp};

/// What is to be done after events, in this order: store [`write`](Self::write) in one transaction, and only
/// then do the rest. If the write fails, the state is [restored](super::Lifecycle::restore) from what is stored, where
/// nothing has changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effects {
    /// The changes, which apply in order. Empty as long as all of them can wait.
    pub write: Vec<Change>,
    /// What instances are sent, in order. If it is lost, nothing else is: an instance that comes back is sent its
    /// matches again.
    pub send: Vec<Message>,
    /// The matches for which the allocator is asked for a game server.
    pub allocate: Vec<MatchId>,
    /// What has happened, to be counted and logged.
    pub count: Vec<Happened>,
}

impl Effects {
    /// Whether any of the changes cannot wait for the next write.
    pub(super) fn must_write(&self) -> bool {
        self.write.iter().any(|change| !change.can_wait())
    }

    /// The players who did not come to their match. This is stored together with the changes.
    pub fn no_shows(&self) -> Vec<String> {
        let of = |happened: &Happened| match happened {
            Happened::NotHosted { absent, .. } => absent.clone(),
            Happened::NoShow { players, .. } => players.clone(),
            _ => Vec::new(),
        };
        self.count.iter().flat_map(of).collect()
    }
}

/// What an instance is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// It is asked to host the match.
    Open {
        /// The name of the instance.
        instance: String,
        /// The match that it is to host.
        id: MatchId,
    },
    /// It does not host the match any more.
    Close {
        /// The name of the instance.
        instance: String,
        /// The match that it hosts no longer.
        id: MatchId,
        /// Why it hosts the match no longer.
        why: Why,
    },
    /// The game of a match in play gets these players, who are expected from now on.
    Admit(MatchId, Vec<String>),
    /// These players, whom the game of a match in play was to get, do not come.
    Dismiss(MatchId, Vec<String>),
}

/// Something that operators can count or read in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened {
    /// A ticket of this queue is in a match that is final, after this time in milliseconds.
    Waited(String, i64),
    /// A match whose play has not begun has failed.
    NotHosted {
        /// The match that failed.
        id: MatchId,
        /// Why it failed.
        why: Why,
        /// The players who did not come to it, as far as that is known.
        absent: Vec<String>,
    },
    /// Players who were sent to a match in play have not come in time.
    NoShow {
        /// The match in play.
        id: MatchId,
        /// Those who have not come.
        players: Vec<String>,
    },
    /// Players who were sent to a match in play need not come.
    Released {
        /// The match in play.
        id: MatchId,
        /// Those who need not come.
        players: Vec<String>,
    },
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
    Entered(QueuedPlayer),
    /// A player is not in this ticket of the group any more.
    Left(QueuedPlayer),
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
        seats: Vec<MatchSeat>,
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
    Finalised {
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
            | Self::Finalised { .. } => true,
        }
    }
}
