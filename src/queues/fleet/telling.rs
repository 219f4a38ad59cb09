//! Sends the clients of a daemon the changes of tickets in partitions that other daemons run.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::time::Instant;

use super::{Fleet, told::ToldTickets};
use crate::{
    protocol::Notice,
    queues::{
        Shared,
        view::{Seen, match_before_call, notices},
        wait_clock::WaitClock,
    },
    store::{StoreError, StoredTicket, TicketKey},
};

/// The most tickets that are read together, apart from those that were sent.
const BATCH: usize = 1_000;
/// When it is noted that a change was sent. Until then, other daemons at which the client listens send it, too.
const NOTED: Duration = Duration::from_secs(2);

/// What the clients of a daemon are sent.
struct Telling<'a> {
    shared: &'a Shared,
    told: &'a Mutex<ToldTickets>,
    clock: WaitClock,
    /// The slots of the partitions.
    slots: BTreeMap<String, i64>,
    /// When it was last noted what was sent.
    noted: Option<Instant>,
}

impl Fleet {
    /// Whether a client of this daemon was sent this state of a ticket lately.
    pub fn was_told(&self, key: TicketKey) -> bool {
        self.told.lock().has(key)
    }

    /// Sends clients what has changed, until the queues are stopped. Without the database, later.
    pub async fn tell(&self, shared: &Shared) {
        let mut telling = Telling {
            shared,
            told: &self.told,
            clock: WaitClock::new(shared),
            slots: BTreeMap::new(),
            noted: None,
        };
        let mut wakes = self.wakes();
        while let Some(Ok(())) = shared.stop.run_until_cancelled(wakes.changed()).await {
            if let Err(error) = telling.look().await {
                tracing::debug!(%error, "the changes of tickets cannot be read");
            }
        }
        if let Err(error) = telling.note(Duration::ZERO).await {
            tracing::debug!(%error, "changes of tickets will be sent again");
        }
    }
}

impl Telling<'_> {
    async fn look(&mut self) -> Result<(), StoreError> {
        let mut owners = self.shared.listeners.lock().owners();
        if owners.is_empty() && self.told.lock().len() == 0 {
            return Ok(());
        }
        if self.noted.is_none_or(|at| at.elapsed() >= NOTED) {
            self.clock = self.clock.of_database(self.shared).await?;
            self.note(NOTED).await?;
        }
        let slots = self.slots_of_others().await?;
        while !owners.is_empty() {
            let most = BATCH + self.told.lock().len();
            let changed = self
                .shared
                .store
                .queues()
                .untold(&slots, &owners, most)
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
        let mut told = self.told.lock();
        for stored in changed {
            let key = TicketKey::from(&stored.ticket);
            let owner = &stored.ticket.ticket.owner;
            if slow.contains(owner) || told.has(key) {
                continue;
            }
            let notices = self.notices(stored, &told);
            match self.shared.listeners.lock().hear(owner, &notices) {
                Ok(()) => told.add(key, Instant::now()),
                Err(_) => drop(slow.insert(owner.clone())),
            }
        }
        slow
    }

    /// What a client is sent. Of two changes that are read together, only the last one is there: a client that is
    /// called to a match of which it does not know is sent the match first.
    fn notices(&self, stored: &StoredTicket, told: &ToldTickets) -> Vec<Notice> {
        let ticket = &stored.ticket;
        let seen = Seen {
            record: ticket,
            in_match: stored.in_match.as_ref(),
            now: self.clock.now(self.shared),
            median: None,
        };
        let id = ticket.state.match_id();
        let before = match id.is_some_and(|id| told.knows(ticket.number, id)) {
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
            Some(until) => self.told.lock().due(until),
            None => Vec::new(),
        };
        self.shared.store.queues().note_told(&due).await?;
        self.told.lock().noted(&due, now);
        Ok(())
    }
}
