//! What clients and instances ask for, and what they are answered.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{QueuesError, configured::Configured, instance_command::InstanceCommand};
use crate::{
    domain::MatchId,
    lifecycle::Submission,
    matchmaking::Queue,
    protocol::{QueueLine, TicketReply},
    session::HostedGame,
};

/// What a client asks for, as JSON in a letter to another daemon. The first text is the client's name.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Command {
    List,
    /// The ticket, and the queue that has checked it; `None` if another daemon has checked it.
    Submit(#[serde(skip)] Option<Arc<Queue>>, Submission),
    Cancel(String, String),
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

/// The answer to a call, or why it has failed.
pub(super) type Outcome = Result<Answer, QueuesError>;

/// What a client is answered.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    List(Vec<QueueLine>),
    Ticket(TicketReply),
    Reasons(Vec<String>),
    Game(Box<HostedGame>),
    Seats(u32),
    /// Whether a player was on the way to a match.
    WasComing(bool),
    Done,
}
