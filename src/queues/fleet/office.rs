//! What a daemon sends to the others, and what it knows of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use parking_lot::{Mutex, RwLock};
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::Instant,
};

use super::{ToHolder, pending::Pending};
use crate::{
    learning::leases::LeaseSettings,
    queues::{
        Link, QueuesError,
        command::{Command, Outcome},
    },
};

/// The most letters that wait to be sent.
const LETTERS: usize = 4_096;
/// The most names in one letter.
const NAMES: usize = 1_000;

/// A letter that waits to be sent to the holder of a lease, and the call that it is.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub to: String,
    pub message: ToHolder,
    pub call: Option<u64>,
}

/// What this daemon sends to the others and receives from them.
#[derive(Debug)]
pub(in crate::queues) struct PostOffice {
    /// The name of this daemon.
    pub name: Arc<str>,
    /// For how long a sign of life counts.
    pub(super) lasts: Duration,
    outgoing: mpsc::Sender<Outgoing>,
    /// Taken by [`run`](Self::run).
    pub(super) receiver: Mutex<Option<mpsc::Receiver<Outgoing>>>,
    pub(super) pending: Mutex<Pending>,
    /// The connections of instances that the holder of a lease knows, by their numbers.
    pub(super) links: Mutex<BTreeMap<u64, (String, Link)>>,
    pub(super) alive: RwLock<BTreeSet<String>>,
    /// Changes whenever there may be letters.
    pub(super) wake: watch::Sender<()>,
    /// Counts the times when others may have forgotten this daemon.
    forgotten: watch::Sender<u64>,
    since: Instant,
}

impl PostOffice {
    /// The post office of the daemon that takes leases by this name.
    pub fn new(leases: &LeaseSettings) -> Self {
        let (outgoing, receiver) = mpsc::channel(LETTERS);
        Self {
            name: leases.holder.clone(),
            lasts: leases.lasts,
            outgoing,
            receiver: Mutex::new(Some(receiver)),
            pending: Mutex::default(),
            links: Mutex::default(),
            alive: RwLock::default(),
            wake: watch::Sender::new(()),
            forgotten: watch::Sender::new(0),
            since: Instant::now(),
        }
    }

    /// Sends a call to the holder of a lease. It is answered in any case: if no holder does so in time, as if it
    /// had not been made.
    pub fn call(&self, lease: &str, command: Command, answer: oneshot::Sender<Outcome>) {
        let patience = self.lasts + Duration::from_secs(5);
        let until = self.millis() + patience.as_millis() as u64;
        let call = self.pending.lock().add(answer, until);
        if !self.post(lease, ToHolder::Call(call, command), Some(call)) {
            self.pending.lock().answer(call, Err(QueuesError::Busy));
        }
    }

    /// Registers connections with the holder of a lease.
    pub fn register(&self, lease: &str, owners: Vec<String>) {
        let mut owners = owners;
        while !owners.is_empty() {
            let rest = owners.split_off(owners.len().min(NAMES));
            self.post(lease, ToHolder::Listens(owners), None);
            owners = rest;
        }
    }

    /// Sends the holder of a lease an event of an instance, whose answer nobody waits for.
    pub fn report(&self, lease: &str, command: Command) {
        let (answer, _) = oneshot::channel();
        self.call(lease, command, answer);
    }

    /// Sends news for this connection to it from now on, and reports whether it is open.
    pub fn link(&self, lease: &str, link: &Link) {
        let known = (lease.to_owned(), link.clone());
        self.links.lock().insert(link.number(), known);
    }

    /// The daemons that are alive.
    pub fn alive(&self) -> BTreeSet<String> {
        self.alive.read().clone()
    }

    /// How often the others may have forgotten this daemon.
    pub fn forgotten(&self) -> u64 {
        *self.forgotten.borrow()
    }

    /// Becomes ready whenever there may be letters.
    pub fn wakes(&self) -> watch::Receiver<()> {
        self.wake.subscribe()
    }

    pub(super) fn post(&self, to: &str, message: ToHolder, call: Option<u64>) -> bool {
        let to = to.to_owned();
        let sent = self.outgoing.try_send(Outgoing { to, message, call });
        if sent.is_err() && call.is_none() {
            self.is_forgotten();
        }
        sent.is_ok()
    }

    pub(super) fn is_forgotten(&self) {
        self.forgotten.send_modify(|times| *times += 1);
    }

    pub(super) fn millis(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
