//! Sends the clients of a daemon the changes of tickets in partitions that other daemons run.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use tokio::time::Instant;

use super::Fleet;
use crate::{
    domain::MatchId,
    lifecycle::{State, TicketNumber},
    protocol::Notice,
    queues::{
        Shared,
        view::{Seen, match_before_call, notices},
        wait_clock::WaitClock,
    },
    store::{Standing, StoreError, TicketKey},
};

/// The most tickets that are read together, apart from those that were sent.
const BATCH: usize = 1_000;
/// When it is noted that a change was sent. Until then, other daemons at which the client listens send it, too.
const NOTED: Duration = Duration::from_secs(2);
/// For how long it is known that a client was sent a match.
const KNOWN: Duration = Duration::from_secs(3_600);

/// A state of a ticket that a client was sent.
#[derive(Debug)]
struct Told {
    key: TicketKey,
    at: Instant,
    is_noted: bool,
}

impl Told {
    /// The match, of which the client knows by this.
    fn known(&self) -> Option<MatchId> {
        match self.key.state {
            State::Hosted(id) | State::Called(id) => Some(id),
            _ => None,
        }
    }
}

/// What clients were sent.
struct Telling<'a> {
    shared: &'a Shared,
    clock: WaitClock,
    /// The slots of the partitions.
    slots: BTreeMap<String, i64>,
    told: BTreeMap<TicketNumber, Told>,
    noted: Instant,
}

impl Fleet {
    /// Sends clients what has changed, until the queues are stopped. Without the database, later.
    pub async fn tell(&self, shared: &Shared) {
        let mut telling = Telling {
            shared,
            clock: WaitClock::new(shared),
            slots: BTreeMap::new(),
            told: BTreeMap::new(),
            noted: Instant::now(),
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
        let slots = match owners.is_empty() {
            true => Vec::new(),
            false => self.slots_of_others().await?,
        };
        if !slots.is_empty() {
            self.clock = self.clock.of_database(self.shared).await?;
        }
        while !owners.is_empty() {
            let most = BATCH + self.told.len();
            let standings = self.shared.store.untold(&slots, &owners, most).await?;
            let slow = self.send(&standings);
            if standings.len() < most {
                break;
            }
            owners.retain(|owner| !slow.contains(owner));
        }
        match self.noted.elapsed() >= NOTED {
            true => self.note(NOTED).await,
            false => Ok(()),
        }
    }

    /// The slots of the partitions that this daemon does not run.
    async fn slots_of_others(&mut self) -> Result<Vec<i64>, StoreError> {
        let mut slots = Vec::new();
        for name in self.shared.tasks.run_elsewhere() {
            let slot = match self.slots.get(&name) {
                Some(slot) => *slot,
                None => self.shared.store.slot(&name).await?,
            };
            self.slots.insert(name, slot);
            slots.push(slot);
        }
        Ok(slots)
    }

    /// Sends what clients were not sent yet. Returns the clients that do not take it now.
    fn send(&mut self, standings: &[Standing]) -> BTreeSet<String> {
        let mut slow = BTreeSet::new();
        for standing in standings {
            let key = TicketKey::from(&standing.ticket);
            let owner = &standing.ticket.ticket.owner;
            let last = self.told.get(&key.number);
            if slow.contains(owner) || last.is_some_and(|last| last.key == key) {
                continue;
            }
            let notices = self.notices(standing);
            match self.shared.listeners.lock().hear(owner, &notices) {
                Ok(()) => {
                    let told = Told {
                        key,
                        at: Instant::now(),
                        is_noted: false,
                    };
                    self.told.insert(key.number, told);
                }
                Err(_) => drop(slow.insert(owner.clone())),
            }
        }
        slow
    }

    /// What a client is sent. Of two changes that are read together, only the last one is there: a client that is
    /// called to a match of which it does not know is sent the match first.
    fn notices(&self, standing: &Standing) -> Vec<Notice> {
        let seen = Seen {
            record: &standing.ticket,
            in_match: standing.in_match.as_ref(),
            now: self.clock.now(self.shared),
            median: None,
        };
        let known = self
            .told
            .get(&standing.ticket.number)
            .and_then(|told| told.known());
        let before = match known.is_some() && known == standing.ticket.state.match_id() {
            true => None,
            false => match_before_call(&seen),
        };
        before.into_iter().chain(notices(&seen)).collect()
    }

    /// Notes which changes clients were sent at least this time ago.
    async fn note(&mut self, after: Duration) -> Result<(), StoreError> {
        self.noted = Instant::now();
        let due = self.told.values();
        let due = due.filter(|told| !told.is_noted && told.at.elapsed() >= after);
        let keys: Vec<TicketKey> = due.map(|told| told.key).collect();
        self.shared.store.note_told(&keys).await?;
        for key in keys {
            if let Some(told) = self.told.get_mut(&key.number) {
                told.is_noted = true;
            }
        }
        let is_of_use = |told: &Told| told.known().is_some() && told.at.elapsed() < KNOWN;
        self.told
            .retain(|_, told| !told.is_noted || is_of_use(told));
        Ok(())
    }
}
