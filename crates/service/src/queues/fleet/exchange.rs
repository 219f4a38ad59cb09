//! The tasks that write and read what daemons tell each other: requests, answers, notices, and the changes of tickets
//! in partitions that other daemons run.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    sync::mpsc,
    time::{Instant, sleep},
};

use super::{AnnouncedTickets, Asked, Fleet, Outgoing};
use crate::{
    protocol::push::Notice,
    queues::{
        QueueShared, QueuesError, WaitClock,
        view::{SeenTicket, match_before_call, notices},
    },
    store::{Changes, HostNoticeRow, NewRequest, Store, StoreError, StoredTicket, TicketKey},
};

/// The most rows that are written or read together.
const BATCH: usize = 256;
/// How often the database is looked at without a notification, and connections of instances are reported.
const LOOK: Duration = Duration::from_secs(1);
/// How often calls are looked for whose time is over.
const TICK: Duration = Duration::from_millis(200);
/// The delay before a database that failed is tried again.
const RETRY: Duration = Duration::from_millis(500);

impl Fleet {
    /// Asks, and reads what is answered, until the queues are stopped. A database that fails is tried again.
    pub async fn run(&self, shared: &QueueShared) {
        let Some(mut outgoing) = self.receiver.lock().take() else {
            return;
        };
        while !shared.stop.is_cancelled() {
            if let Err(error) = self.exchange(shared, &mut outgoing).await {
                tracing::warn!(%error, "other daemons cannot be asked");
                self.fail_late();
                let retry = sleep(RETRY);
                shared.stop.run_until_cancelled(retry).await;
            }
        }
        if let Err(error) = shared.store.queues().is_gone(&self.name).await {
            tracing::debug!(%error, "this daemon is missed only later");
        }
    }

    async fn exchange(
        &self,
        shared: &QueueShared,
        outgoing: &mut mpsc::Receiver<Outgoing>,
    ) -> Result<(), StoreError> {
        let store = &*shared.store;
        self.give_sign(store).await?;
        let mut wakes: Box<dyn Changes> = store.queues().wakes().await?;
        let (mut signed, mut looked) = (Instant::now(), Instant::now());
        let mut batch = Vec::new();
        while !shared.stop.is_cancelled() {
            let mut woken = tokio::select! {
                () = shared.stop.cancelled() => return Ok(()),
                _ = outgoing.recv_many(&mut batch, BATCH) => false,
                woken = wakes.next() => woken.map(|()| true)?,
                () = sleep(TICK) => false,
            };
            if signed.elapsed() >= self.lasts / 3 {
                signed = Instant::now();
                self.give_sign(store).await?;
            }
            if looked.elapsed() >= LOOK {
                (looked, woken) = (Instant::now(), true);
                self.report_all_links(shared.clock.millis());
            }
            if !batch.is_empty() {
                self.write(store, std::mem::take(&mut batch)).await?;
            }
            if woken {
                self.wake();
                self.read_answers(store).await?;
                self.read_notices(store).await?;
            }
            self.withdraw(store).await?;
        }
        Ok(())
    }

    /// Notes in the database that this daemon is alive.
    async fn give_sign(&self, store: &Store) -> Result<(), StoreError> {
        let (was_alive, all) = store.queues().is_alive(&self.name, self.lasts).await?;
        let is_first = std::mem::replace(&mut *self.alive.write(), all).is_empty();
        if !(was_alive || is_first) {
            self.is_forgotten();
        }
        Ok(())
    }

    fn report_all_links(&self, now: u64) {
        let mut reports: BTreeMap<String, (Vec<_>, Vec<_>)> = BTreeMap::new();
        self.links.lock().retain(|number, (partition, link)| {
            let (heard, closed) = reports.entry(partition.clone()).or_default();
            let is_open = link.is_open();
            match is_open {
                true => heard.push((*number, now.saturating_sub(link.heard()))),
                false => closed.push(*number),
            }
            is_open
        });
        for (partition, (heard, closed)) in reports {
            self.report_links(&partition, Asked::Links { heard, closed });
        }
    }

    /// Writes requests. Those that cannot be written are answered at once; those that are withdrawn by now are left
    /// out.
    async fn write(&self, store: &Store, batch: Vec<Outgoing>) -> Result<(), StoreError> {
        let mut requests = Vec::<NewRequest>::new();
        for Outgoing {
            partition,
            key,
            asked,
        } in batch
        {
            let is_withdrawn = matches!(asked, Asked::Call(_)) && !self.pending.lock().waits(key);
            match serde_json::to_string(&asked) {
                Ok(body) if !is_withdrawn => requests.push(NewRequest {
                    partition,
                    key: key as i64,
                    body,
                }),
                Ok(_) => {}
                Err(error) => {
                    tracing::error!(%error, "a request cannot be written");
                    self.pending
                        .lock()
                        .answer(key, Err(QueuesError::NotWritten));
                }
            }
        }
        let (written, why) = match store.queues().ask(&self.name, &requests).await {
            Ok(written) => (Ok(written), QueuesError::Busy),
            Err(error) => (Err(error), QueuesError::NotWritten),
        };
        let mut pending = self.pending.lock();
        for (at, request) in requests.iter().enumerate() {
            let is_written = written
                .as_ref()
                .is_ok_and(|written| written.get(at) == Some(&true));
            let key = request.key as u64;
            match pending.waits(key) {
                _ if is_written => {}
                true => pending.answer(key, Err(why.clone())),
                false => self.is_forgotten(),
            }
        }
        written.map(drop)
    }

    /// Answers calls, and then removes the rows: an answer that is read twice does no harm.
    async fn read_answers(&self, store: &Store) -> Result<(), StoreError> {
        loop {
            let answers = store.queues().answers(&self.name, BATCH).await?;
            for (key, answer) in &answers {
                match serde_json::from_str(answer) {
                    Ok(outcome) => self.pending.lock().answer(*key as u64, outcome),
                    Err(error) => tracing::warn!(%error, "an answer cannot be read"),
                }
            }
            let keys: Vec<i64> = answers.iter().map(|(key, _)| *key).collect();
            store.queues().has_read(&self.name, &keys).await?;
            if keys.len() < BATCH {
                return Ok(());
            }
        }
    }

    /// Sends notices to the instances that are connected here, and then removes the rows.
    async fn read_notices(&self, store: &Store) -> Result<(), StoreError> {
        loop {
            let notices = store.queues().host_notices(&self.name, BATCH).await?;
            for HostNoticeRow { link, body, .. } in &notices {
                let links = self.links.lock();
                let link = links.get(&(*link as u64)).map(|(_, link)| link.clone());
                drop(links);
                match (serde_json::from_str(body), link) {
                    (Ok(notice), Some(link)) => link.send(&notice),
                    (Ok(_), None) => {}
                    (Err(error), _) => tracing::warn!(%error, "a notice cannot be read"),
                }
            }
            let numbers: Vec<i64> = notices.iter().map(|notice| notice.number).collect();
            store.queues().has_sent(&numbers).await?;
            if numbers.len() < BATCH {
                return Ok(());
            }
        }
    }

    /// Withdraws the calls that nobody has answered in time.
    async fn withdraw(&self, store: &Store) -> Result<(), StoreError> {
        let now = self.millis();
        let late = self.pending.lock().late(now);
        if late.is_empty() {
            return Ok(());
        }
        let keys: Vec<i64> = late.iter().map(|key| *key as i64).collect();
        let waited = store.queues().withdraw(&self.name, &keys).await?;
        let mut pending = self.pending.lock();
        for key in late {
            let was_answered = !waited.contains(&(key as i64));
            pending.withdraw(key, was_answered, now);
        }
        Ok(())
    }

    /// While the database is away, calls whose time is over are not known to be undone.
    fn fail_late(&self) {
        let mut pending = self.pending.lock();
        for key in pending.late(self.millis()) {
            pending.answer(key, Err(QueuesError::NotWritten));
        }
    }
}

/// The most tickets that are read together, apart from those that were sent.
const TICKETS_AT_ONCE: usize = 1_000;
/// When it is noted that a change was sent. Until then, other daemons at which the client listens send it, too.
const NOTED: Duration = Duration::from_secs(2);

/// What the clients of a daemon are sent.
struct Announcing<'a> {
    shared: &'a QueueShared,
    announced: &'a Mutex<AnnouncedTickets>,
    clock: WaitClock,
    /// The slots of the partitions.
    slots: BTreeMap<String, i64>,
    /// When it was last noted what was sent.
    noted: Option<Instant>,
}

impl Fleet {
    /// Whether a client of this daemon was sent this state of a ticket lately.
    pub fn was_announced(&self, key: TicketKey) -> bool {
        self.announced.lock().has(key)
    }

    /// Sends clients what has changed, until the queues are stopped. Without the database, later.
    pub async fn announce(&self, shared: &QueueShared) {
        let mut announcing = Announcing {
            shared,
            announced: &self.announced,
            clock: WaitClock::new(shared),
            slots: BTreeMap::new(),
            noted: None,
        };
        let mut wakes = self.wakes();
        while let Some(Ok(())) = shared.stop.run_until_cancelled(wakes.changed()).await {
            if let Err(error) = announcing.look().await {
                tracing::debug!(%error, "the changes of tickets cannot be read");
            }
        }
        if let Err(error) = announcing.note(Duration::ZERO).await {
            tracing::debug!(%error, "changes of tickets will be sent again");
        }
    }
}

impl Announcing<'_> {
    async fn look(&mut self) -> Result<(), StoreError> {
        let mut owners = self.shared.listeners.lock().owners();
        if owners.is_empty() && self.announced.lock().len() == 0 {
            return Ok(());
        }
        if self.noted.is_none_or(|at| at.elapsed() >= NOTED) {
            self.clock = self.clock.of_database(self.shared).await?;
            self.note(NOTED).await?;
        }
        let slots = self.slots_of_others().await?;
        while !owners.is_empty() {
            let most = TICKETS_AT_ONCE + self.announced.lock().len();
            let changed = self
                .shared
                .store
                .queues()
                .unannounced(&slots, &owners, most)
                .await?;
            let slow = self.send(&changed);
            if changed.len() < most {
                break;
            }
            owners.retain(|owner| !slow.contains(owner));
        }
        Ok(())
    }

    /// The slots of the partitions that this daemon does not run.
    async fn slots_of_others(&mut self) -> Result<Vec<i64>, StoreError> {
        let mut slots = Vec::new();
        for name in self.shared.tasks.run_elsewhere() {
            if let Some(slot) = self.slots.get(&name) {
                slots.push(*slot);
                continue;
            }
            let slot = self.shared.store.queues().slot(&name).await?;
            self.slots.insert(name, slot);
            slots.push(slot);
        }
        Ok(slots)
    }

    /// Sends what clients were not sent yet. Returns the clients that do not take it now.
    fn send(&self, changed: &[StoredTicket]) -> BTreeSet<String> {
        let mut slow = BTreeSet::new();
        let mut announced = self.announced.lock();
        for stored in changed {
            let key = TicketKey::from(&stored.ticket);
            let owner = &stored.ticket.ticket.owner;
            if slow.contains(owner) || announced.has(key) {
                continue;
            }
            let notices = self.notices(stored, &announced);
            match self.shared.listeners.lock().hear(owner, &notices) {
                Ok(()) => announced.add(key, Instant::now()),
                Err(_) => drop(slow.insert(owner.clone())),
            }
        }
        slow
    }

    /// What a client is sent. Of two changes that are read together, only the last one is there: a client that is
    /// called to a match of which it does not know is sent the match first.
    fn notices(&self, stored: &StoredTicket, announced: &AnnouncedTickets) -> Vec<Notice> {
        let ticket = &stored.ticket;
        let seen = SeenTicket {
            record: ticket,
            in_match: stored.in_match.as_ref(),
            now: self.clock.now(self.shared),
            median: None,
        };
        let id = ticket.state.match_id();
        let before = match id.is_some_and(|id| announced.knows(ticket.number, id)) {
            true => None,
            false => match_before_call(&seen),
        };
        before.into_iter().chain(notices(&seen)).collect()
    }

    /// Notes in the database what clients were sent at least this time ago.
    async fn note(&mut self, after: Duration) -> Result<(), StoreError> {
        let now = Instant::now();
        self.noted = Some(now);
        let due = match now.checked_sub(after) {
            Some(until) => self.announced.lock().due(until),
            None => Vec::new(),
        };
        self.shared.store.queues().note_announced(&due).await?;
        self.announced.lock().noted(&due, now);
        Ok(())
    }
}
