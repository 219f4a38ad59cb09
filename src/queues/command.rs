//! What clients and instances ask for, and what they are answered.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{QueuesError, configured::Configured, links::InstanceCommand};
use crate::{
    matchmaking::Queue,
    matchmaking::lifecycle::Submission,
    model::MatchId,
    protocol::{QueueLine, TicketReply},
    session::HostedGame,
};

/// What a client asks for, as JSON in a request to another daemon. The first text is the client's name.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Command {
    List,
    /// The ticket, and the queue that has checked it; `None` if another daemon has checked it.
    Submit(#[serde(skip)] Option<Arc<Queue>>, Submission),
    Cancel(String, String),
    /// Of the daemon alone that runs the queue; the others read it.
    #[serde(skip)]
    Ticket(String, String),
    Answer {
        owner: String,
        id: MatchId,
        player: String,
        accepts: bool,
    },
    /// The client listens from now on. Of its daemon alone.
    #[serde(skip)]
    Listen(String),
    Explain(String, String),
    Host(InstanceCommand),
    /// Other queues. Of each daemon alone.
    #[serde(skip)]
    Configure(Configured),
}

impl Command {
    /// Whether the call may change something.
    pub fn changes(&self) -> bool {
        !matches!(self, Self::List | Self::Ticket(..) | Self::Explain(..))
    }
}

/// The answer to a call, or why it has failed.
pub(super) type Outcome = Result<Answer, QueuesError>;

/// What a client is answered.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    List(Vec<QueueLine>),
    Ticket(TicketReply),
    /// The state of the ticket is to be read from the database.
    #[serde(skip)]
    Stored,
    Reasons(Vec<String>),
    Game(Box<HostedGame>),
    Seats(u32),
    /// Whether a player was on the way to a match.
    WasComing(bool),
    Done,
}
