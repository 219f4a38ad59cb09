//! Tickets of matches that an instance hosts, until play begins.

use std::collections::BTreeSet;

use super::{Life, Reason, Seat, State, TicketNumber};
use crate::domain::MatchId;

impl Life {
    /// The matches that need an instance, of those that were formed since the last call.
    pub fn take_unhosted(&mut self) -> Vec<MatchId> {
        std::mem::take(&mut self.unhosted)
    }

    /// The matches before START with tickets in them.
    pub fn hosted(&self) -> BTreeSet<MatchId> {
        let states = self.tickets.values().map(|ticket| ticket.state);
        let hosted = states.filter_map(|state| match state {
            State::Hosted(id) | State::Called(id) => Some(id),
            _ => None,
        });
        hosted.collect()
    }

    /// The players of a match are called to its instance, or to another address.
    pub fn called(&mut self, id: MatchId) {
        self.put_all(id, State::Called(id));
    }

    /// A match has lost its instance, so its players must wait until another one is found.
    pub fn seek(&mut self, id: MatchId) {
        self.put_all(id, State::Hosted(id));
    }

    /// Play has begun: the state of the tickets is final. A client that was sent the call is sent nothing
    /// more.
    pub fn begun(&mut self, id: MatchId) {
        for number in self.members(id) {
            self.end_in_match(number, id);
        }
    }

    /// Makes the state of a ticket in a match final. A client that was sent the call is sent nothing more.
    pub(super) fn end_in_match(&mut self, number: TicketNumber, id: MatchId) {
        let was_sent = self.ticket(number).is_some_and(|ticket| ticket.is_sent);
        self.become_state(number, State::Matched(id), Reason::None);
        if was_sent {
            self.sent(number);
        }
    }

    /// Ends a match whose play has not begun. Tickets with a player of `absent` leave the queue, and the
    /// others go back to their places. Of a match in play, only the tickets of players who have not come yet
    /// go back.
    pub fn unhost(&mut self, id: MatchId, absent: &BTreeSet<String>) {
        let is_over = |seat: &Seat| {
            let ticket = self.tickets.get(&seat.ticket);
            ticket.is_some_and(|ticket| ticket.state == State::Matched(id))
        };
        if self
            .formed(id)
            .is_some_and(|formed| formed.seats.iter().any(is_over))
        {
            return self.dismiss(id);
        }
        let seats = self.formed(id).map(|formed| formed.seats.as_slice());
        let seats = seats.unwrap_or_default().iter();
        let out = seats.filter(|seat| absent.contains(&seat.player));
        let out = out.map(|seat| seat.ticket).collect();
        self.dissolve(id, &out, Reason::NoShow, Reason::Unhosted);
    }

    fn put_all(&mut self, id: MatchId, state: State) {
        for number in self.members(id) {
            self.become_state(number, state, Reason::None);
        }
    }
}
