//! What a daemon asks the others, and what it knows of them.

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

use super::{Asked, pending::Pending, told::ToldTickets};
use crate::{
    learning::leases::LeaseSettings,
    queues::{
        Link, QueuesError,
        command::{Command, Outcome},
    },
};

/// The most requests that wait to be written.
const REQUESTS: usize = 4_096;

/// A request that waits to be written.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub partition: String,
    pub key: u64,
    pub asked: Asked,
}

/// The daemons of the database, as this one sees them.
#[derive(Debug)]
pub(in crate::queues) struct Fleet {
    /// The name of this daemon.
    pub name: Arc<str>,
    /// For how long a sign of life counts.
    pub(super) lasts: Duration,
    outgoing: mpsc::Sender<Outgoing>,
    /// Taken by [`run`](Self::run).
    pub(super) receiver: Mutex<Option<mpsc::Receiver<Outgoing>>>,
    pub(super) pending: Mutex<Pending>,
    /// The connections of instances that the daemon of a partition knows, by their numbers.
    pub(super) links: Mutex<BTreeMap<u64, (String, Link)>>,
    pub(super) alive: RwLock<BTreeSet<String>>,
    pub(super) told: Mutex<ToldTickets>,
    /// Changes whenever others may have asked or decided something.
    wake: watch::Sender<()>,
    /// Counts the times when others may have forgotten this daemon.
    forgotten: watch::Sender<u64>,
    since: Instant,
}

impl Fleet {
    /// The fleet of the daemon that takes leases by this name.
    pub fn new(leases: &LeaseSettings) -> Self {
        let (outgoing, receiver) = mpsc::channel(REQUESTS);
        Self {
            name: leases.holder.clone(),
            lasts: leases.lasts,
            outgoing,
            receiver: Mutex::new(Some(receiver)),
            pending: Mutex::default(),
            links: Mutex::default(),
            alive: RwLock::default(),
            told: Mutex::default(),
            wake: watch::Sender::new(()),
            forgotten: watch::Sender::new(0),
            since: Instant::now(),
        }
    }

    /// Asks the daemon that runs a partition. The call is answered in any case: if that daemon does not answer in time,
    /// as if it had not been made.
    pub fn call(&self, partition: &str, command: Command, answer: oneshot::Sender<Outcome>) {
        let patience = self.lasts + Duration::from_secs(5);
        let until = self.millis() + patience.as_millis() as u64;
        let key = self.pending.lock().add(answer, until);
        if !self.ask(partition, key, Asked::Call(command)) {
            self.pending.lock().answer(key, Err(QueuesError::Busy));
        }
    }

    /// Reports an event of an instance, whose answer nobody waits for.
    pub fn report(&self, partition: &str, command: Command) {
        let (answer, _) = oneshot::channel();
        self.call(partition, command, answer);
    }

    /// Sends notices for this connection to it from now on, and reports whether it is open.
    pub fn link(&self, partition: &str, link: &Link) {
        let known = (partition.to_owned(), link.clone());
        self.links.lock().insert(link.number(), known);
    }

    /// The daemons that are alive.
    pub fn alive(&self) -> BTreeSet<String> {
        self.alive.read().clone()
    }

    /// Whether there are other daemons.
    pub fn has_others(&self) -> bool {
        self.alive.read().len() > 1
    }

    /// How often the others may have forgotten this daemon.
    pub fn forgotten(&self) -> u64 {
        *self.forgotten.borrow()
    }

    /// Becomes ready whenever others may have asked or decided something.
    pub fn wakes(&self) -> watch::Receiver<()> {
        self.wake.subscribe()
    }

    /// Has the tasks of this daemon look at what others have asked and decided.
    pub fn wake(&self) {
        self.wake.send_replace(());
    }

    /// Reports connections of instances. If that is not possible now, they are registered again.
    pub(super) fn report_links(&self, partition: &str, links: Asked) {
        let key = self.pending.lock().next();
        if !self.ask(partition, key, links) {
            self.is_forgotten();
        }
    }

    fn ask(&self, partition: &str, key: u64, asked: Asked) -> bool {
        let partition = partition.to_owned();
        let outgoing = Outgoing {
            partition,
            key,
            asked,
        };
        self.outgoing.try_send(outgoing).is_ok()
    }

    pub(super) fn is_forgotten(&self) {
        self.forgotten.send_modify(|times| *times += 1);
    }

    pub(super) fn millis(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}
