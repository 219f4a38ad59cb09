//! The connections that want to hear of tickets, by the name of their client.

use std::{collections::BTreeMap, fmt};

use super::TicketView;
use crate::{coordinator::Coordinator, tickets::Life};

/// Whether a listener has heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// The news is on its way to the client.
    Yes,
    /// The client reads too slowly to hear it now.
    Full,
    /// The connection has ended.
    Gone,
}

/// The way to one connection. It never waits.
pub struct Listener(Box<dyn Fn(&TicketView) -> Heard + Send>);

impl Listener {
    /// A listener that passes on news by this function.
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

    /// Sends all news that is on disk to those who listen. News that no connection of a name hears
    /// stays, for the next time.
    pub fn tell(&mut self, life: &mut Life, coordinator: &Coordinator) {
        self.0.retain(|owner, listeners| {
            for number in life.untold(owner) {
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
                life.told(number);
            }
            !listeners.is_empty()
        });
    }
}
