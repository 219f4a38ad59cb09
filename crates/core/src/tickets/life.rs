//! All tickets, and the events that change them.

use std::collections::{BTreeMap, HashMap};

use super::{
    Change, FormedMatch, MAX_WAITING, Proposal, QueueTerms, Reason, Seat, State, Submission,
    TicketNumber, TicketRecord, TicketRefused,
    index::{Due, Index},
    matches::Matches,
    waits::Waits,
};
use crate::domain::{MatchId, Timestamp};

/// All tickets whose state is kept, and their matches.
#[derive(Debug, Default)]
pub struct Life {
    pub(super) queues: BTreeMap<String, QueueTerms>,
    pub(super) tickets: BTreeMap<TicketNumber, TicketRecord>,
    pub(super) matches: Matches,
    pub(super) index: Index,
    pub(super) waits: HashMap<String, Waits>,
    /// The queue and the wait in milliseconds of each ticket that was matched since the last call of
    /// [`take_waits`](Self::take_waits).
    pub(super) new_waits: Vec<(String, i64)>,
    /// Number of tickets in no final state.
    pub(super) waiting: usize,
    pub(super) next: TicketNumber,
    pub(super) now: Timestamp,
    pub(super) changes: Vec<Change>,
    /// Matches formed since the last call of [`take_unhosted`](Self::take_unhosted) that need an instance.
    pub(super) unhosted: Vec<MatchId>,
}

impl Life {
    /// Moves the time forward to `now` and does everything that is due: tickets expire, ready checks
    /// end, and states that were kept for a day are removed. An earlier time changes nothing.
    pub fn at(&mut self, now: Timestamp) {
        self.now = self.now.max(now);
        while let Some(&(at, due)) = self.index.due.first()
            && at <= self.now
        {
            self.index.due.remove(&(at, due));
            match due {
                Due::Check(id) => self.check_is_over(id),
                Due::Ticket(number) => match self.tickets.get(&number).map(|t| t.state) {
                    Some(State::Queued) => self.become_state(number, State::Expired, Reason::None),
                    Some(state) if state.is_final() => self.forget(number),
                    _ => {}
                },
            }
        }
    }

    /// The time of the last event.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// The changes since the last call, in order.
    pub fn take_changes(&mut self) -> Vec<Change> {
        std::mem::take(&mut self.changes)
    }

    /// Whether any of the changes must be written before the answers are sent.
    pub fn must_write(&self) -> bool {
        self.changes.iter().any(|change| !change.can_wait())
    }

    /// Whether there are changes.
    pub fn has_changed(&self) -> bool {
        !self.changes.is_empty()
    }

    /// Adds a ticket to its queue. The same ticket submitted again changes nothing, whatever its state
    /// is now.
    ///
    /// # Errors
    /// Fails if the name has another ticket of this id, there is no such queue or no room in it, or a
    /// player is in another ticket.
    pub fn submit(&mut self, ticket: Submission) -> Result<TicketNumber, TicketRefused> {
        if let Some(number) = self.index.id(&ticket.owner, &ticket.id) {
            let same = self
                .tickets
                .get(&number)
                .is_some_and(|known| known.ticket == ticket);
            return match same {
                true => Ok(number),
                false => Err(TicketRefused::OtherContent),
            };
        }
        let Some(terms) = self.queues.get(&ticket.queue) else {
            return Err(TicketRefused::NoQueue(ticket.queue));
        };
        if self.waiting >= MAX_WAITING {
            return Err(TicketRefused::Full);
        }
        let is_taken = |player: &&String| self.index.player(&terms.group, player).is_some();
        if let Some(player) = ticket.players.iter().find(is_taken) {
            return Err(TicketRefused::InAnother(player.clone()));
        }
        let number = self.next;
        self.next += 1;
        let record = TicketRecord {
            number,
            ticket,
            submitted_at: self.now,
            state: State::Queued,
            reason: Reason::None,
            changed_at: self.now,
            is_sent: true,
        };
        self.changes
            .push(Change::Submitted(Box::new(record.clone())));
        self.enter(record);
        Ok(number)
    }

    /// Takes a ticket out of the queue, or out of a match that not all players have accepted. A ticket in
    /// a final state keeps it.
    ///
    /// # Errors
    /// Fails if the name has no such ticket.
    pub fn cancel(&mut self, owner: &str, id: &str) -> Result<TicketNumber, TicketRefused> {
        let number = self.index.id(owner, id).ok_or(TicketRefused::NoTicket)?;
        match self.tickets.get(&number).map(|ticket| ticket.state) {
            Some(State::Queued) => self.become_state(number, State::Cancelled, Reason::None),
            Some(State::Proposed(id)) => {
                self.dissolve(id, &[number].into(), Reason::None, Reason::Cancelled);
            }
            _ => {}
        }
        Ok(number)
    }

    /// Forms matches of the proposals of a round, in the order of their oldest tickets, with ids from
    /// `first` on. Drops a proposal if one of its tickets is not in the queue any more; its other
    /// tickets stay where they are. Returns the number of matches formed.
    pub fn propose(&mut self, queue: &str, mut found: Vec<Proposal>, first: MatchId) -> usize {
        let oldest = |proposal: &Proposal| proposal.teams.iter().flatten().min().copied();
        found.sort_by_key(oldest);
        let mut formed = 0;
        for proposal in found {
            let id = first.saturating_add(formed as MatchId);
            if self.matches.get(id).is_none() && self.form(queue, proposal, id, first) {
                formed += 1;
            }
        }
        formed
    }

    fn form(&mut self, queue: &str, mut proposal: Proposal, id: MatchId, pool_id: MatchId) -> bool {
        let Some(terms) = self.queues.get(queue) else {
            return false;
        };
        let Some(seats) = self.seats(queue, &proposal) else {
            return false;
        };
        let open_until = (terms.ready_check > 0).then(|| self.now.plus_millis(terms.ready_check));
        let pool = proposal.pool.take();
        let has_pool = pool.is_some();
        if let (Some(pool), true) = (pool, id == pool_id) {
            self.changes.push(Change::Searched(pool_id, pool));
        }
        let mut formed = FormedMatch {
            id,
            queue: queue.to_owned(),
            proposal,
            seats,
            formed_at: self.now,
            open_until,
            accepted: Default::default(),
            pool_id: has_pool.then_some(pool_id),
        };
        self.changes.push(Change::Formed(Box::new(formed.clone())));
        formed.proposal.why.clear();
        let state = match open_until {
            Some(until) => {
                self.index.due.insert((until, Due::Check(id)));
                State::Proposed(id)
            }
            None if terms.hosted => State::Hosted(id),
            None => State::Matched(id),
        };
        if state == State::Hosted(id) {
            self.unhosted.push(id);
        }
        let tickets = formed.tickets();
        self.matches.insert(formed);
        for ticket in tickets {
            self.become_state(ticket, state, Reason::None);
        }
        true
    }

    /// The seats of a proposal; `None` if a ticket has left the queue, or is in it twice.
    fn seats(&self, queue: &str, proposal: &Proposal) -> Option<Vec<Seat>> {
        let mut seats = Vec::new();
        for (team, tickets) in (0u8..).zip(&proposal.teams) {
            for &number in tickets {
                let record = self.tickets.get(&number)?;
                let twice = seats.iter().any(|seat: &Seat| seat.ticket == number);
                if record.state != State::Queued || record.ticket.queue != queue || twice {
                    return None;
                }
                seats.extend(record.ticket.players.iter().map(|player| Seat {
                    player: player.clone(),
                    ticket: number,
                    team,
                    later: false,
                }));
            }
        }
        (!seats.is_empty()).then_some(seats)
    }

    /// The ticket with this number.
    pub fn ticket(&self, number: TicketNumber) -> Option<&TicketRecord> {
        self.tickets.get(&number)
    }

    /// The number of a client's ticket.
    ///
    /// # Errors
    /// Fails if the name has no such ticket.
    pub fn find(&self, owner: &str, id: &str) -> Result<TicketNumber, TicketRefused> {
        self.index.id(owner, id).ok_or(TicketRefused::NoTicket)
    }

    /// The match with this id, while any of its tickets is kept.
    pub fn formed(&self, id: MatchId) -> Option<&FormedMatch> {
        self.matches.get(id)
    }

    /// The tickets in a queue that wait for a match, in the order of their places.
    pub fn queued<'a>(&'a self, queue: &'a str) -> impl Iterator<Item = &'a TicketRecord> {
        let waits = move |ticket: &&TicketRecord| {
            ticket.state == State::Queued && ticket.ticket.queue == queue
        };
        self.tickets.values().filter(waits)
    }

    /// The tickets of all queues that wait for a match.
    pub fn waiting_tickets(&self) -> impl Iterator<Item = &TicketRecord> {
        let tickets = self.tickets.values();
        tickets.filter(|ticket| ticket.state == State::Queued)
    }

    /// How long a ticket has waited, in milliseconds: until now, until it was in a match that is hosted,
    /// or until its final state.
    pub fn waited(&self, ticket: &TicketRecord) -> i64 {
        let until = match ticket.state {
            State::Hosted(id) | State::Called(id) => {
                let formed = self.matches.get(id);
                formed.map_or(self.now, |formed| match formed.is_later(ticket.number) {
                    true => ticket.changed_at,
                    false => formed.formed_at,
                })
            }
            state if state.is_final() => ticket.changed_at,
            _ => self.now,
        };
        until.0.saturating_sub(ticket.submitted_at.0).max(0)
    }

    /// Number of tickets in no final state.
    pub fn waiting(&self) -> usize {
        self.waiting
    }

    /// The median wait of the tickets of a queue's last matches, in milliseconds.
    pub fn median_wait(&self, queue: &str) -> Option<i64> {
        self.waits.get(queue)?.median()
    }

    /// The queue and the wait, in milliseconds, of each ticket that was matched since the last call.
    pub fn take_waits(&mut self) -> Vec<(String, i64)> {
        std::mem::take(&mut self.new_waits)
    }

    /// Tickets of a client that have changed since the client was last sent their state.
    pub fn unsent(&self, owner: &str) -> Vec<TicketNumber> {
        let unsent = self.index.unsent.get(owner);
        unsent.map_or(Vec::new(), |unsent| unsent.iter().copied().collect())
    }

    /// Notes that a client was sent the state of a ticket.
    pub fn sent(&mut self, number: TicketNumber) {
        let Some(record) = self.tickets.get_mut(&number) else {
            return;
        };
        if !std::mem::replace(&mut record.is_sent, true) {
            self.index.remove_unsent(&record.ticket.owner, number);
            self.changes.push(Change::Sent(number));
        }
    }
}
