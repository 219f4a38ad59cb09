//! The calls that clients and instances make, and their answers.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::{
    Configured, HostPlan, QueuesError,
    fleet::{Outbox, ToDaemon},
    instance_command::InstanceCommand,
};
use crate::{
    domain::MatchId,
    lifecycle::Submission,
    matchmaking::Queue,
    protocol::{QueueLine, TicketReply},
};

/// A client's call.
#[derive(Debug)]
pub(super) struct Call {
    pub command: Command,
    pub answer: ReplyTo,
}

/// Where the answer to a call goes.
#[derive(Debug)]
pub(super) enum ReplyTo {
    /// To a client of this daemon.
    Here(oneshot::Sender<Outcome>),
    /// To the daemon of this name, where the call has this number, with the next write.
    There {
        daemon: String,
        call: u64,
        outbox: Outbox,
    },
}

impl ReplyTo {
    /// Sends the answer, or has it sent with the next write.
    pub fn send(self, outcome: Outcome) {
        match self {
            Self::Here(answer) => drop(answer.send(outcome)),
            Self::There {
                daemon,
                call,
                outbox,
            } => outbox.add(&daemon, ToDaemon::Answer(call, outcome)),
        }
    }

    /// Whether the answer goes to another daemon.
    pub fn is_there(&self) -> bool {
        matches!(self, Self::There { .. })
    }
}

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
