//! The state after a restart, from what is on disk.

use super::{FormedMatch, Life, QueueTerms, Reason, State, TicketNumber, TicketRecord, index::Due};
use crate::domain::Timestamp;

impl Life {
    /// Restores the state from these tickets and matches. `now` is the time of day; if it is before the
    /// last change on disk, because the clock was set back, time goes on from that change.
    ///
    /// Rows that were changed by hand can contradict each other. A ticket whose match is missing goes back
    /// to the queue; of two tickets with the same client and id, the newer one is left out.
    pub fn restore(
        queues: impl IntoIterator<Item = (String, QueueTerms)>,
        tickets: Vec<TicketRecord>,
        matches: Vec<FormedMatch>,
        now: Timestamp,
        fits: impl Fn(&TicketRecord) -> bool,
    ) -> Self {
        let times = tickets.iter().map(|t| t.submitted_at.max(t.changed_at));
        let mut life = Self {
            queues: queues.into_iter().collect(),
            now: times.fold(now, Timestamp::max),
            next: 1,
            ..Self::default()
        };
        for formed in matches {
            if let Some(until) = formed.open_until {
                life.index.due.insert((until, Due::Check(formed.id)));
            }
            life.matches.insert(formed);
        }
        let mut lost = Vec::new();
        let mut tickets = tickets;
        tickets.sort_by_key(|ticket| ticket.number);
        for record in tickets {
            life.next = life.next.max(record.number.saturating_add(1));
            let known = life
                .index
                .id(&record.ticket.owner, &record.ticket.id)
                .is_some();
            if known || life.tickets.contains_key(&record.number) {
                continue;
            }
            if life.is_lost(&record) {
                lost.push(record.number);
            }
            if let State::Matched(_) = record.state {
                let waited = life.waited(&record);
                let waits = life.waits.entry(record.ticket.queue.clone()).or_default();
                waits.add(waited);
            }
            life.enter(record);
        }
        for number in lost {
            life.become_state(number, State::Queued, Reason::Cancelled);
        }
        let ids: Vec<_> = life.matches.iter().map(|formed| formed.id).collect();
        for id in ids {
            life.drop_empty(id);
        }
        let queues = std::mem::take(&mut life.queues);
        life.configure(queues, fits);
        life
    }

    /// Gives all later tickets numbers above this one.
    pub fn number_above(&mut self, number: TicketNumber) {
        self.next = self.next.max(number.saturating_add(1));
    }

    /// Whether the ticket's state names a match that is missing, that does not contain the ticket, or whose
    /// ready check does not agree with that state.
    fn is_lost(&self, record: &TicketRecord) -> bool {
        let (id, waits) = match record.state {
            State::Proposed(id) => (id, true),
            State::Hosted(id) | State::Called(id) => (id, false),
            _ => return false,
        };
        let formed = self.matches.get(id);
        formed.is_none_or(|formed| {
            formed.open_until.is_some() != waits
                || !formed.seats.iter().any(|seat| seat.ticket == record.number)
        })
    }

    /// The configured queues.
    pub fn queues(&self) -> impl Iterator<Item = &str> {
        self.queues.keys().map(String::as_str)
    }
}
