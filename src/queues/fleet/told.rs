//! Which states of tickets the clients of a daemon were sent, by a clock that is an argument.

use std::{collections::BTreeMap, time::Duration};

use tokio::time::Instant;

use crate::{
    matchmaking::lifecycle::{State, TicketNumber},
    model::MatchId,
    store::TicketKey,
};

/// For how long it is known that a client was sent a match.
const KNOWN: Duration = Duration::from_secs(3_600);

/// The last state of each ticket that a client of this daemon was sent, of those that other daemons decided.
#[derive(Debug, Default)]
pub(super) struct ToldTickets(BTreeMap<TicketNumber, Told>);

#[derive(Debug)]
struct Told {
    key: TicketKey,
    at: Instant,
    /// Whether the database says so, too.
    is_noted: bool,
}

impl Told {
    /// The match of which the client knows by this.
    fn known(&self) -> Option<MatchId> {
        match self.key.state {
            State::Hosted(id) | State::Called(id) => Some(id),
            _ => None,
        }
    }
}

impl ToldTickets {
    /// Notes that a client was sent this now.
    pub fn add(&mut self, key: TicketKey, now: Instant) {
        let told = Told {
            key,
            at: now,
            is_noted: false,
        };
        self.0.insert(key.number, told);
    }

    /// Whether a client was sent this, and nothing since.
    pub fn has(&self, key: TicketKey) -> bool {
        self.0.get(&key.number).is_some_and(|told| told.key == key)
    }

    /// Whether a ticket's client was sent this match.
    pub fn knows(&self, ticket: TicketNumber, id: MatchId) -> bool {
        let told = self.0.get(&ticket);
        told.is_some_and(|told| told.known() == Some(id))
    }

    /// How many tickets these are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// What was sent until this time, and is not noted in the database.
    pub fn due(&self, until: Instant) -> Vec<TicketKey> {
        let due = self.0.values();
        let due = due.filter(|told| !told.is_noted && told.at <= until);
        due.map(|told| told.key).collect()
    }

    /// The database says now that this was sent. Forgets what is of no use any more.
    pub fn noted(&mut self, keys: &[TicketKey], now: Instant) {
        for key in keys {
            if let Some(told) = self.0.get_mut(&key.number) {
                told.is_noted |= told.key == *key;
            }
        }
        let is_of_use = |told: &Told| told.known().is_some() && now - told.at < KNOWN;
        self.0.retain(|_, told| !told.is_noted || is_of_use(told));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Timestamp;

    #[test]
    fn what_was_sent_is_known_until_it_is_noted_and_a_match_for_longer() {
        let key = |number, state| TicketKey {
            number,
            state,
            at: Timestamp(7),
        };
        let (waits, hosted) = (key(1, State::Queued), key(2, State::Hosted(5)));
        let (mut told, now) = (ToldTickets::default(), Instant::now());
        told.add(waits, now);
        told.add(hosted, now + Duration::from_secs(1));
        assert!(told.has(waits) && !told.has(key(1, State::Expired)));
        assert!(told.knows(2, 5) && !told.knows(2, 6) && !told.knows(1, 5));
        assert_eq!(told.due(now), [waits]);
        let due = told.due(now + Duration::from_secs(1));
        assert_eq!(due, [waits, hosted]);
        // One has another state by now, of which the database does not know.
        told.add(key(1, State::Cancelled), now);
        told.noted(&due, now);
        assert_eq!(told.due(now), [key(1, State::Cancelled)]);
        assert_eq!(told.len(), 2);
        assert!(told.knows(2, 5));
        told.noted(&told.due(now), now + 2 * KNOWN);
        assert_eq!(told.len(), 0);
    }
}
