//! Queues whose clients and instances are connected to several daemons.
//!
//! One daemon holds the lease of a partition and runs it. A request of a client or an instance of another daemon is a
//! row of the shared database. The holder of the lease applies the requests in order, and writes the answer to a
//! request in the transaction of the changes that it has made: each is carried out once or not at all, whichever
//! daemon ends meanwhile. The daemon that asked reads the answer, and removes the row. A request that is not answered
//! in time is withdrawn: its row is removed, unless it is answered by then.
//!
//! What the holder decides are rows as well. Each daemon reads the tickets of its own clients that have changed,
//! sends the changes to those that listen, and notes that they were sent. A change may hence be sent twice, and is
//! never lost. The lines for instances of other daemons are written with the change that they follow from.
//!
//! A daemon registers the connections of its instances with the holder; whenever another daemon takes over, it does
//! so again.

mod exchange;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::{Mutex, RwLock};
use serde::{Deserialize, Serialize};
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::Instant,
};

use crate::{
    learning::leases::LeaseSettings,
    matchmaking::lifecycle::{State, TicketNumber},
    model::record::MatchId,
    queues::{
        InstanceLink, QueuesError,
        command::{ClientCommand, Outcome},
        links::RemoteLink,
    },
    store::{DecidedRequest, TicketKey},
};

/// The most requests that wait to be written.
const REQUESTS: usize = 4_096;

/// A request that waits to be written.
#[derive(Debug)]
struct Outgoing {
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
    lasts: Duration,
    outgoing: mpsc::Sender<Outgoing>,
    /// Taken by [`run`](Self::run).
    receiver: Mutex<Option<mpsc::Receiver<Outgoing>>>,
    pending: Mutex<Pending>,
    /// The connections of instances that the daemon of a partition knows, by their numbers.
    links: Mutex<BTreeMap<u64, (String, InstanceLink)>>,
    alive: RwLock<BTreeSet<String>>,
    announced: Mutex<AnnouncedTickets>,
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
            announced: Mutex::default(),
            wake: watch::Sender::new(()),
            forgotten: watch::Sender::new(0),
            since: Instant::now(),
        }
    }

    /// Asks the daemon that runs a partition. The call is answered in any case: if that daemon does not answer in time,
    /// as if it had not been made.
    pub fn call(&self, partition: &str, command: ClientCommand, answer: oneshot::Sender<Outcome>) {
        let patience = self.lasts + Duration::from_secs(5);
        let until = self.millis() + patience.as_millis() as u64;
        let key = self.pending.lock().add(answer, until);
        if !self.ask(partition, key, Asked::Call(command)) {
            self.pending.lock().answer(key, Err(QueuesError::Busy));
        }
    }

    /// Reports an event of an instance, whose answer nobody waits for.
    pub fn report(&self, partition: &str, command: ClientCommand) {
        let (answer, _) = oneshot::channel();
        self.call(partition, command, answer);
    }

    /// Sends notices for this connection to it from now on, and reports whether it is open.
    pub fn link(&self, partition: &str, link: &InstanceLink) {
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
    fn report_links(&self, partition: &str, links: Asked) {
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

    fn is_forgotten(&self) {
        self.forgotten.send_modify(|times| *times += 1);
    }

    fn millis(&self) -> u64 {
        u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// What a daemon asks the one that runs a partition.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::queues) enum Asked {
    /// A client or an instance asks for something.
    Call(ClientCommand),
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
pub(in crate::queues) struct DecisionOutbox(Arc<Mutex<Vec<DecidedRequest>>>);

impl DecisionOutbox {
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
        self.0.lock().push(DecidedRequest {
            daemon: asker.daemon,
            key: asker.key,
            answer,
            is_binding: asker.is_binding,
        });
    }

    /// Takes everything.
    pub fn take(&self) -> Vec<DecidedRequest> {
        std::mem::take(&mut *self.0.lock())
    }
}

/// How many milliseconds it may take to read an answer that is written.
const GRACE: u64 = 2_000;

/// The calls that wait for their answers, by the keys of their requests.
#[derive(Debug, Default)]
struct Pending {
    calls: BTreeMap<u64, AwaitedAnswer>,
    next: u64,
}

#[derive(Debug)]
struct AwaitedAnswer {
    answer: oneshot::Sender<Outcome>,
    /// When the call is withdrawn.
    until: u64,
    /// Whether its request had an answer when it was to be withdrawn.
    is_answered: bool,
}

impl Pending {
    /// A key that no other request of this daemon has.
    pub fn next(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Adds a call, and returns the key of its request.
    pub fn add(&mut self, answer: oneshot::Sender<Outcome>, until: u64) -> u64 {
        let waiting = AwaitedAnswer {
            answer,
            until,
            is_answered: false,
        };
        let key = self.next();
        self.calls.insert(key, waiting);
        key
    }

    /// Whether a call waits for its answer.
    pub fn waits(&self, key: u64) -> bool {
        self.calls.contains_key(&key)
    }

    /// Answers a call. One that was withdrawn is answered already.
    pub fn answer(&mut self, key: u64, outcome: Outcome) {
        if let Some(waiting) = self.calls.remove(&key) {
            let _ = waiting.answer.send(outcome);
        }
    }

    /// The calls whose time is over.
    pub fn late(&self, now: u64) -> Vec<u64> {
        let late = self.calls.iter().filter(|(_, one)| one.until <= now);
        late.map(|(key, _)| *key).collect()
    }

    /// Withdraws a call whose time is over. If its request has an answer, reading it may take a little more time.
    pub fn withdraw(&mut self, key: u64, is_answered: bool, now: u64) {
        match self.calls.get_mut(&key) {
            Some(waiting) if is_answered && !waiting.is_answered => {
                waiting.is_answered = true;
                waiting.until = now.saturating_add(GRACE);
            }
            _ => self.answer(key, Err(QueuesError::Moved)),
        }
    }
}

/// For how long it is known that a client was sent a match.
const KNOWN: Duration = Duration::from_secs(3_600);

/// The last state of each ticket that a client of this daemon was sent, of those that other daemons decided.
#[derive(Debug, Default)]
struct AnnouncedTickets(BTreeMap<TicketNumber, Announced>);

#[derive(Debug)]
struct Announced {
    key: TicketKey,
    at: Instant,
    /// Whether the database says so, too.
    is_noted: bool,
}

impl Announced {
    /// The match of which the client knows by this.
    fn known(&self) -> Option<MatchId> {
        match self.key.state {
            State::Hosted(id) | State::Called(id) => Some(id),
            _ => None,
        }
    }
}

impl AnnouncedTickets {
    /// Notes that a client was sent this now.
    pub fn add(&mut self, key: TicketKey, now: Instant) {
        let announced = Announced {
            key,
            at: now,
            is_noted: false,
        };
        self.0.insert(key.number, announced);
    }

    /// Whether a client was sent this, and nothing since.
    pub fn has(&self, key: TicketKey) -> bool {
        self.0
            .get(&key.number)
            .is_some_and(|announced| announced.key == key)
    }

    /// Whether a ticket's client was sent this match.
    pub fn knows(&self, ticket: TicketNumber, id: MatchId) -> bool {
        let announced = self.0.get(&ticket);
        announced.is_some_and(|announced| announced.known() == Some(id))
    }

    /// How many tickets these are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// What was sent until this time, and is not noted in the database.
    pub fn due(&self, until: Instant) -> Vec<TicketKey> {
        let due = self.0.values();
        let due = due.filter(|announced| !announced.is_noted && announced.at <= until);
        due.map(|announced| announced.key).collect()
    }

    /// The database says now that this was sent. Forgets what is of no use any more.
    pub fn noted(&mut self, keys: &[TicketKey], now: Instant) {
        for key in keys {
            if let Some(announced) = self.0.get_mut(&key.number) {
                announced.is_noted |= announced.key == *key;
            }
        }
        let is_of_use =
            |announced: &Announced| announced.known().is_some() && now - announced.at < KNOWN;
        self.0
            .retain(|_, announced| !announced.is_noted || is_of_use(announced));
    }
}

/// The other daemons that have asked something.
#[derive(Debug, Default)]
pub(in crate::queues) struct Remote {
    /// The answers to them.
    pub outbox: DecisionOutbox,
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
    pub fn link(&mut self, daemon: &str, number: u64, millis: u64) -> InstanceLink {
        let link = RemoteLink {
            daemon: daemon.to_owned(),
            is_open: Arc::new(AtomicBool::new(true)),
            heard: Arc::new(AtomicU64::new(millis)),
        };
        let known = (daemon.to_owned(), number);
        self.links.insert(known, link.clone());
        InstanceLink::there(number, link)
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
        self.outbox = DecisionOutbox::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::{model::Timestamp, queues::command::ClientAnswer};

    #[test]
    fn a_call_is_answered_once_or_withdrawn_in_time() {
        let mut pending = Pending::default();
        let mut call = |until| {
            let (answer, answered) = oneshot::channel();
            (pending.add(answer, until), answered)
        };
        let (one, mut first) = call(100);
        let (two, mut second) = call(200);
        let (three, mut third) = call(300);
        pending.answer(one, Ok(ClientAnswer::Done));
        assert!(matches!(first.try_recv(), Ok(Ok(ClientAnswer::Done))));
        assert!(pending.late(199).is_empty());
        assert_eq!(pending.late(300), [two, three]);
        pending.withdraw(two, false, 300);
        assert!(matches!(second.try_recv(), Ok(Err(QueuesError::Moved))));
        // The third one has an answer: it is read a little late, or never.
        pending.withdraw(three, true, 300);
        assert!(pending.late(300 + GRACE - 1).is_empty());
        assert!(third.try_recv().is_err());
        assert_eq!(pending.late(300 + GRACE), [three]);
        pending.withdraw(three, true, 300 + GRACE);
        assert!(matches!(third.try_recv(), Ok(Err(QueuesError::Moved))));
        pending.answer(three, Ok(ClientAnswer::Done));
        assert!(pending.late(u64::MAX).is_empty());
    }

    #[test]
    fn what_was_sent_is_known_until_it_is_noted_and_a_match_for_longer() {
        let key = |number, state| TicketKey {
            number,
            state,
            at: Timestamp(7),
        };
        let (waits, hosted) = (key(1, State::Queued), key(2, State::Hosted(5)));
        let (mut announced, now) = (AnnouncedTickets::default(), Instant::now());
        announced.add(waits, now);
        announced.add(hosted, now + Duration::from_secs(1));
        assert!(announced.has(waits) && !announced.has(key(1, State::Expired)));
        assert!(announced.knows(2, 5) && !announced.knows(2, 6) && !announced.knows(1, 5));
        assert_eq!(announced.due(now), [waits]);
        let due = announced.due(now + Duration::from_secs(1));
        assert_eq!(due, [waits, hosted]);
        // One has another state by now, of which the database does not know.
        announced.add(key(1, State::Cancelled), now);
        announced.noted(&due, now);
        assert_eq!(announced.due(now), [key(1, State::Cancelled)]);
        assert_eq!(announced.len(), 2);
        assert!(announced.knows(2, 5));
        announced.noted(&announced.due(now), now + 2 * KNOWN);
        assert_eq!(announced.len(), 0);
    }
}
