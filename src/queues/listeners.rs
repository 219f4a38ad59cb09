//! The connections that have sent LISTEN, by the name of their client.

use std::{collections::BTreeMap, fmt};

use super::view::notices;
use crate::{lifecycle::Lifecycle, protocol::Notice};

/// Whether a connection has taken a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The push is in the connection's queue.
    Yes,
    /// The client reads too slowly, and its queue is full.
    Full,
    /// The connection has ended.
    Gone,
}

/// Takes the notices of a change, and says what became of them.
type Hear = dyn Fn(&[Notice]) -> Heard + Send;

/// Sends to one connection that listens. Sending never waits.
pub struct Listener(Box<Hear>);

impl Listener {
    /// A listener that calls `hear` with the notices of each change of a ticket.
    pub fn new(hear: impl Fn(&[Notice]) -> Heard + Send + 'static) -> Self {
        Self(Box::new(hear))
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}

/// The listening connections of all names.
#[derive(Debug, Default)]
pub(super) struct Listeners(BTreeMap<String, Vec<Listener>>);

impl Listeners {
    pub fn add(&mut self, owner: String, listener: Listener) {
        self.0.entry(owner).or_default().push(listener);
    }

    /// The names for which connections listen.
    pub fn owners(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    /// Sends a change of a ticket of this client to the connections that listen for it.
    pub fn hear(&mut self, owner: &str, notices: &[Notice]) -> Heard {
        let Some(listeners) = self.0.get_mut(owner) else {
            return Heard::Gone;
        };
        let mut heard = false;
        listeners.retain(|listener| {
            let now = (listener.0)(notices);
            heard |= now == Heard::Yes;
            now != Heard::Gone
        });
        match (heard, listeners.is_empty()) {
            (true, _) => Heard::Yes,
            (false, false) => Heard::Full,
            (false, true) => {
                self.0.remove(owner);
                Heard::Gone
            }
        }
    }

    /// Sends all changes of tickets, which are on disk, to the connections that listen for their client. A
    /// change that no connection takes is kept, and is sent the next time.
    pub fn send_changes(&mut self, life: &mut Lifecycle) {
        let unsent = |owner: &&String| !life.unsent(owner).is_empty();
        let owners: Vec<String> = self.0.keys().filter(unsent).cloned().collect();
        for owner in owners {
            for number in life.unsent(&owner) {
                let Some(record) = life.ticket(number) else {
                    continue;
                };
                let notices = notices(life, record);
                if self.hear(&owner, &notices) != Heard::Yes {
                    break;
                }
                life.sent(number);
            }
        }
    }
}
