//! Tickets that are left out of rounds for some time, because a search with them has panicked.
//!
//! A ticket is left out for a second after the first time, and for twice as long after each further one, up
//! to a minute. It keeps its place and its wait meanwhile, and expires like any other.

use std::{collections::BTreeMap, time::Duration};

use tokio::time::Instant;

use super::pool::Waiting;
use crate::lifecycle::{Lifecycle, TicketNumber};

/// How long a ticket is left out after the first panic.
const FIRST: Duration = Duration::from_secs(1);
/// The longest time for which a ticket is left out.
const LONGEST: Duration = Duration::from_secs(60);

/// A ticket with which a search has panicked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Faulty {
    pub ticket: TicketNumber,
    /// The ticket from which the search started.
    pub seed: TicketNumber,
    /// The message of the panic.
    pub fault: String,
}

impl Faulty {
    /// Logs the ids of the tickets and the message.
    pub fn log(&self, life: &Lifecycle) {
        let id = |number| life.ticket(number).map(|one| one.ticket.id.as_str());
        let owner = life.ticket(self.ticket);
        let owner = owner.map(|one| one.ticket.owner.as_str());
        let (ticket, seed) = (id(self.ticket), id(self.seed));
        let fault = &self.fault;
        tracing::error!(%fault, ?owner, ?ticket, ?seed, "a search has failed: the ticket is set aside");
    }
}

/// The tickets of a queue that are left out.
#[derive(Debug, Default)]
pub(super) struct Aside(BTreeMap<TicketNumber, (Instant, u32)>);

impl Aside {
    /// Leaves these tickets out from now on.
    pub fn add(&mut self, faulty: &[Faulty], now: Instant) {
        for one in faulty {
            let (until, times) = self.0.entry(one.ticket).or_insert((now, 0));
            *until = now + LONGEST.min(FIRST * (1 << (*times).min(6)));
            *times = times.saturating_add(1);
        }
    }

    /// Takes those that are left out now from the tickets of a round, which are in the order of their
    /// numbers. Forgets those that do not wait any more.
    pub fn take_out(&mut self, waiting: &mut Vec<Waiting>, now: Instant) {
        self.0.retain(|ticket, _| {
            waiting
                .binary_search_by_key(ticket, |one| one.number)
                .is_ok()
        });
        if !self.0.is_empty() {
            waiting.retain(|one| self.left(one.number, now).is_none());
        }
    }

    /// For how long a ticket is still left out, if it is.
    pub fn left(&self, ticket: TicketNumber, now: Instant) -> Option<Duration> {
        let (until, _) = self.0.get(&ticket)?;
        until
            .checked_duration_since(now)
            .filter(|left| !left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(numbers: &[TicketNumber]) -> Vec<Waiting> {
        let one = |number: &TicketNumber| Waiting {
            number: *number,
            waited: 0,
            content: String::new(),
        };
        numbers.iter().map(one).collect()
    }

    #[test]
    fn a_ticket_is_left_out_for_longer_each_time_and_up_to_a_minute() {
        let mut now = Instant::now();
        let faulty = Faulty {
            ticket: 7,
            seed: 3,
            fault: "oh".to_owned(),
        };
        let mut aside = Aside::default();
        let numbers = |aside: &mut Aside, now| {
            let mut all = waiting(&[3, 7, 9]);
            aside.take_out(&mut all, now);
            all.iter().map(|one| one.number).collect::<Vec<_>>()
        };
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
            assert_eq!(numbers(&mut aside, now), [3, 7, 9]);
            aside.add(std::slice::from_ref(&faulty), now);
            assert_eq!(aside.left(7, now), Some(Duration::from_secs(seconds)));
            now += Duration::from_secs(seconds) - Duration::from_millis(1);
            assert_eq!(numbers(&mut aside, now), [3, 9]);
            now += Duration::from_millis(1);
        }
        let mut others = waiting(&[3]);
        aside.take_out(&mut others, now);
        aside.add(std::slice::from_ref(&faulty), now);
        assert_eq!(
            aside.left(7, now),
            Some(Duration::from_secs(1)),
            "forgotten meanwhile"
        );
    }
}
