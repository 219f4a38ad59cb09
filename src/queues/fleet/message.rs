//! What requests and their answers say, as JSON.

use std::sync::Arc;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::{
    queues::command::{Command, Outcome},
    store::Decided,
};

/// What a daemon asks the one that runs a partition.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::queues) enum Asked {
    /// A client or an instance asks for something.
    Call(Command),
    /// How many milliseconds ago each connection of an instance sent its last line, and which are closed. Nobody waits
    /// for an answer.
    Links {
        heard: Vec<(u64, u64)>,
        closed: Vec<u64>,
    },
}

/// Who waits for the answer to a request.
#[derive(Clone, Debug)]
pub(in crate::queues) struct Asker {
    pub daemon: String,
    /// The number of the request at that daemon.
    pub key: i64,
    /// Whether the request changes something.
    pub is_binding: bool,
}

/// What was decided of requests, and is written with the next write.
#[derive(Clone, Debug, Default)]
pub(in crate::queues) struct Outbox(Arc<Mutex<Vec<Decided>>>);

impl Outbox {
    /// Answers a request.
    pub fn add(&self, asker: Asker, outcome: &Outcome) {
        let answer = serde_json::to_string(outcome);
        if let Err(error) = &answer {
            tracing::error!(%error, "an answer cannot be written");
        }
        self.end(asker, answer.ok());
    }

    /// Removes a request for whose answer nobody waits.
    pub fn drop(&self, asker: Asker) {
        self.end(asker, None);
    }

    fn end(&self, asker: Asker, answer: Option<String>) {
        self.0.lock().push(Decided {
            daemon: asker.daemon,
            key: asker.key,
            answer,
            is_binding: asker.is_binding,
        });
    }

    /// Takes everything.
    pub fn take(&self) -> Vec<Decided> {
        std::mem::take(&mut *self.0.lock())
    }
}
