//! What the letters between daemons say, as JSON.

use std::sync::Arc;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::{
    domain::Timestamp,
    lifecycle::TicketNumber,
    protocol::{HostNotice, Notice},
    queues::command::{Command, Outcome},
    store::NewLetter,
};

/// A letter to the daemon that runs the queues.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::queues) enum ToHolder {
    /// A client or an instance asks for something. The number is that of the call at its daemon.
    Call(u64, Command),
    /// Clients with these names listen.
    Listens(Vec<String>),
    /// No client with these names listens any more.
    Deaf(Vec<String>),
    /// These changes of tickets were taken by clients.
    Heard(Vec<Receipt>),
    /// How many milliseconds ago each connection of an instance sent its last line, and which are closed.
    Links {
        heard: Vec<(u64, u64)>,
        closed: Vec<u64>,
    },
}

/// A letter to another daemon, whose clients or instances it concerns.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::queues) enum ToDaemon {
    /// The answer to a call.
    Answer(u64, Outcome),
    /// A change of a ticket.
    Push(Box<Push>),
    /// What a connection of an instance is sent.
    Notice(u64, HostNotice),
}

/// A change of a ticket, for the clients that listen for its owner.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::queues) struct Push {
    /// The lease of the holder that sends it.
    pub lease: String,
    pub owner: String,
    pub receipt: Receipt,
    pub notices: Vec<Notice>,
}

/// Names a state of a ticket that a client was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::queues) struct Receipt {
    pub ticket: TicketNumber,
    /// When the ticket got the state.
    pub at: Timestamp,
    /// Counts the pushes of the holder.
    pub push: u64,
}

/// The letters that the holder sends with its next write.
#[derive(Clone, Debug, Default)]
pub(in crate::queues) struct Outbox(Arc<Mutex<Vec<(String, ToDaemon)>>>);

impl Outbox {
    /// Adds a letter to a daemon.
    pub fn add(&self, to: &str, message: ToDaemon) {
        self.0.lock().push((to.to_owned(), message));
    }

    /// Takes all letters, as those of this daemon. One that cannot be written as JSON is left out.
    pub fn take(&self, from: &str) -> Vec<NewLetter> {
        let taken = std::mem::take(&mut *self.0.lock());
        let letter = |(to, message)| letter(to, from, &message);
        taken.into_iter().filter_map(letter).collect()
    }
}

/// A letter that says this; `None` if it cannot be written as JSON.
pub(super) fn letter(to: String, from: &str, message: &impl Serialize) -> Option<NewLetter> {
    match serde_json::to_string(message) {
        Ok(body) => Some(NewLetter {
            to,
            from: from.to_owned(),
            body,
        }),
        Err(error) => {
            tracing::error!(%error, to, "a letter cannot be written");
            None
        }
    }
}
