//! What clients and instances ask for, and what they are answered.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{HostPlan, QueuesError, configured::Configured, instance_command::InstanceCommand};
use crate::{
    domain::MatchId,
    lifecycle::Submission,
    matchmaking::Queue,
    protocol::{QueueLine, TicketReply},
};

/// What a client asks for. The first text is the client's name.
#[derive(Debug)]
pub(super) enum Command {
    List,
    /// The ticket, and the queue that has checked it; `None` if another daemon has checked it.
    Submit(Option<Arc<Queue>>, Submission),
    Cancel(String, String),
    Ticket(String, String),
    Answer {
        owner: String,
        id: MatchId,
        player: String,
        accepts: bool,
    },
    /// The client listens from now on.
    Listen(String),
    Explain(String, String),
    Host(InstanceCommand),
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
    Plan(Box<HostPlan>),
    Seats(u32),
    /// Whether a player was on the way to a match.
    WasComing(bool),
    Done,
}
