//! The calls that clients and instances make, and where their answers go.

use tokio::sync::oneshot;

use super::{
    command::{Command, Outcome},
    fleet::{Asker, Outbox},
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
    /// To another daemon, with the next write.
    There(Asker, Outbox),
}

impl ReplyTo {
    /// Sends the answer, or has it sent with the next write.
    pub fn send(self, outcome: Outcome) {
        match self {
            Self::Here(answer) => drop(answer.send(outcome)),
            Self::There(asker, outbox) => outbox.add(asker, &outcome),
        }
    }

    /// Whether the answer goes to another daemon.
    pub fn is_there(&self) -> bool {
        matches!(self, Self::There(..))
    }
}
