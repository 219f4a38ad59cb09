//! The connections that have sent LISTEN, by the name of their client.

use std::{collections::BTreeMap, fmt};

use super::TicketView;
use crate::{coordinator::Coordinator, tickets::Life};

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

/// Sends to one connection that listens. Sending never waits.
pub struct Listener(Box<dyn Fn(&TicketView) -> Heard + Send>);

impl Listener {
    /// A listener that calls `hear` with each change of a ticket.
    pub fn new(hear: impl Fn(&TicketView) -> Heard + Send + 'static) -> Self {
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

    /// Sends all changes of tickets, which are on disk, to the connections that listen for their client. A
    /// change that no connection takes is kept, and is sent the next time.
    pub fn send_changes(&mut self, life: &mut Life, coordinator: &Coordinator) {
        self.0.retain(|owner, listeners| {
            for number in life.unsent(owner) {
                let Some(record) = life.ticket(number) else {
                    continue;
                };
                let view = TicketView::new(life, coordinator, record);
                let mut heard = false;
                listeners.retain(|listener| {
                    let now = (listener.0)(&view);
                    heard |= now == Heard::Yes;
                    now != Heard::Gone
                });
                if !heard {
                    break;
                }
                life.sent(number);
            }
            !listeners.is_empty()
        });
    }
}
