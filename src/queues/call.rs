//! The calls that clients and instances make, and where their answers go.

use tokio::sync::oneshot;

use super::{
    command::{Command, Outcome},
    fleet::{Outbox, ToDaemon},
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
