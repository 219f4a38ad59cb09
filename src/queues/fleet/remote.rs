//! What the daemon that runs a partition knows of the others: the connections of their instances.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;

use super::Outbox;
use crate::queues::{Link, links::RemoteLink};

/// The other daemons that have asked something.
#[derive(Debug, Default)]
pub(in crate::queues) struct Remote {
    /// The answers to them.
    pub outbox: Outbox,
    /// When each asked last.
    daemons: BTreeMap<String, Instant>,
    links: BTreeMap<(String, u64), RemoteLink>,
}

impl Remote {
    /// A daemon has asked something.
    pub fn is_there(&mut self, daemon: &str) {
        let now = Instant::now();
        match self.daemons.get_mut(daemon) {
            Some(at) => *at = now,
            None => {
                self.daemons.insert(daemon.to_owned(), now);
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
            is_open: Arc::new(AtomicBool::new(true)),
            heard: Arc::new(AtomicU64::new(millis)),
        };
        let known = (daemon.to_owned(), number);
        self.links.insert(known, link.clone());
        Link::there(number, link)
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

    /// Forgets the daemons that have ended: their connections are closed.
    pub fn keep(&mut self, alive: &BTreeSet<String>, patience: Duration) {
        let ended = self.daemons.extract_if(.., |name, at| {
            !alive.contains(name) && at.elapsed() > patience
        });
        let ended: BTreeSet<String> = ended.map(|(name, _)| name).collect();
        if ended.is_empty() {
            return;
        }
        tracing::info!(?ended, "daemons have ended");
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

    /// Forgets the answers to requests that are not carried out, because a write has failed. Whoever still works on an
    /// answer gives it to nobody: the request is read again.
    pub fn write_failed(&mut self) {
        self.outbox = Outbox::default();
    }
}
