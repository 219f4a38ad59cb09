//! What the daemon that runs the queues knows of the others: who listens at them, and their instances.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;

use super::{Outbox, Push, Receipt, ToDaemon};
use crate::{
    lifecycle::{Lifecycle, TicketNumber},
    queues::{
        Link,
        link::{Notices, RemoteLink},
        view::notices,
    },
};

/// After how long a change of a ticket is sent again that no client has taken.
const AGAIN: Duration = Duration::from_secs(5);

/// The other daemons that have sent letters.
#[derive(Debug, Default)]
pub(in crate::queues) struct Remote {
    /// The letters to them.
    pub outbox: Outbox,
    /// When each sent its last letter.
    daemons: BTreeMap<String, Instant>,
    /// The daemons at which clients of each name listen.
    listeners: BTreeMap<String, BTreeSet<String>>,
    /// What was sent of each ticket, and when.
    sent: HashMap<TicketNumber, (Receipt, Instant)>,
    pushes: u64,
    links: BTreeMap<(String, u64), RemoteLink>,
    /// What their connections are sent with the next write.
    notices: Notices,
}

impl Remote {
    /// A daemon has sent a letter.
    pub fn is_there(&mut self, daemon: &str) {
        let now = Instant::now();
        match self.daemons.get_mut(daemon) {
            Some(at) => *at = now,
            None => {
                self.daemons.insert(daemon.to_owned(), now);
            }
        }
    }

    /// Clients with these names listen at a daemon. What they may have missed is sent again.
    pub fn listens(&mut self, life: &Lifecycle, daemon: &str, owners: Vec<String>) {
        for owner in owners {
            for number in life.unsent(&owner) {
                self.sent.remove(&number);
            }
            let daemons = self.listeners.entry(owner).or_default();
            daemons.insert(daemon.to_owned());
        }
    }

    /// No client with these names listens at a daemon any more.
    pub fn is_deaf(&mut self, daemon: &str, owners: &[String]) {
        for owner in owners {
            if let Some(daemons) = self.listeners.get_mut(owner) {
                daemons.remove(daemon);
                if daemons.is_empty() {
                    self.listeners.remove(owner);
                }
            }
        }
    }

    /// Clients have taken changes of tickets. A ticket that has changed since is sent again.
    pub fn heard(&mut self, life: &mut Lifecycle, receipts: &[Receipt]) {
        for receipt in receipts {
            let sent = self.sent.get(&receipt.ticket);
            if sent.is_some_and(|(sent, _)| sent == receipt) {
                self.sent.remove(&receipt.ticket);
                let record = life.ticket(receipt.ticket);
                if record.is_some_and(|record| record.changed_at == receipt.at) {
                    life.sent(receipt.ticket);
                }
            }
        }
    }

    /// Sends each change of a ticket, which are written together with this, to the daemons at which its owner
    /// listens; and the notices for instances.
    pub fn push_changes(&mut self, lease: &str, life: &Lifecycle) {
        for (daemon, number, notice) in self.notices.lock().drain(..) {
            self.outbox.add(&daemon, ToDaemon::Notice(number, notice));
        }
        let now = Instant::now();
        for (owner, daemons) in &self.listeners {
            for number in life.unsent(owner) {
                let Some(record) = life.ticket(number) else {
                    continue;
                };
                let sent = self.sent.get(&number);
                if sent.is_some_and(|(sent, at)| {
                    sent.at == record.changed_at && now.duration_since(*at) < AGAIN
                }) {
                    continue;
                }
                self.pushes += 1;
                let receipt = Receipt {
                    ticket: number,
                    at: record.changed_at,
                    push: self.pushes,
                };
                self.sent.insert(number, (receipt, now));
                let notices = notices(life, record);
                for daemon in daemons {
                    let push = Push {
                        lease: lease.to_owned(),
                        owner: owner.clone(),
                        receipt,
                        notices: notices.clone(),
                    };
                    self.outbox.add(daemon, ToDaemon::Push(Box::new(push)));
                }
            }
        }
    }

    /// Whether another daemon has registered this connection before, and has not reported its end.
    pub fn has_link(&self, daemon: &str, number: u64) -> bool {
        self.links.contains_key(&(daemon.to_owned(), number))
    }

    /// The connection of an instance to another daemon, which it knows by this number. `millis` is the time now.
    pub fn link(&mut self, daemon: &str, number: u64, millis: u64) -> Link {
        let link = RemoteLink {
            daemon: daemon.to_owned(),
            number,
            notices: self.notices.clone(),
            is_open: Arc::new(AtomicBool::new(true)),
            heard: Arc::new(AtomicU64::new(millis)),
        };
        let known = (daemon.to_owned(), number);
        self.links.insert(known, link.clone());
        Link::there(link)
    }

    /// A daemon reports how many milliseconds ago its instances sent their last lines, and which of their
    /// connections are closed.
    pub fn report(&mut self, daemon: &str, heard: &[(u64, u64)], closed: &[u64], millis: u64) {
        let mut known = (daemon.to_owned(), 0);
        for (number, ago) in heard {
            known.1 = *number;
            if let Some(connection) = self.links.get(&known) {
                let at = millis.saturating_sub(*ago);
                connection.heard.fetch_max(at, Ordering::Relaxed);
            }
        }
        for number in closed {
            known.1 = *number;
            if let Some(connection) = self.links.remove(&known) {
                connection.is_open.store(false, Ordering::Relaxed);
            }
        }
    }

    /// Forgets what was sent of tickets that are gone.
    pub fn forget(&mut self, life: &Lifecycle) {
        self.sent.retain(|number, _| life.ticket(*number).is_some());
    }

    /// Forgets the daemons that have ended: their connections are closed, and nobody listens there.
    pub fn keep(&mut self, alive: &BTreeSet<String>, patience: Duration) {
        let ended = self.daemons.extract_if(.., |name, at| {
            !alive.contains(name) && at.elapsed() > patience
        });
        let ended: BTreeSet<String> = ended.map(|(name, _)| name).collect();
        if ended.is_empty() {
            return;
        }
        tracing::info!(?ended, "daemons have ended");
        self.listeners.retain(|_, daemons| {
            daemons.retain(|daemon| !ended.contains(daemon));
            !daemons.is_empty()
        });
        // What was sent to them may have been lost.
        self.sent.clear();
        self.links.retain(|(daemon, _), connection| {
            let is_open = !ended.contains(daemon);
            connection.is_open.store(is_open, Ordering::Relaxed);
            is_open
        });
    }

    /// Forgets the other daemons, because another one runs the queues now. Their connections count as closed: they
    /// must never be registered with that one as connections of this daemon.
    pub fn close(&mut self) {
        for connection in self.links.values() {
            connection.is_open.store(false, Ordering::Relaxed);
        }
        *self = Self::default();
    }

    /// Forgets what was to be sent with a write that has failed.
    pub fn write_failed(&mut self) {
        self.sent.clear();
        self.notices.lock().clear();
        drop(self.outbox.take(""));
    }
}
