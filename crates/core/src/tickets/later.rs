//! Tickets that join a match in play.

use std::collections::BTreeSet;

use super::{Change, FormedMatch, Life, Reason, Seat, State, TicketNumber};
use crate::domain::MatchId;

impl Life {
    /// Adds tickets to a match in play, each to a team, and calls their players. `why` is what the search
    /// found, one line each. Returns the seats of their players; `None`, and changes nothing, if there is no
    /// such match or a ticket has left its queue.
    pub fn join_later(
        &mut self,
        id: MatchId,
        tickets: &[(TicketNumber, u8)],
        why: Vec<String>,
    ) -> Option<Vec<Seat>> {
        let formed = self
            .matches
            .get(id)
            .filter(|one| one.open_until.is_none())?;
        let mut seats: Vec<Seat> = Vec::new();
        for &(number, team) in tickets {
            let record = self.tickets.get(&number)?;
            let taken =
                |seat: &Seat| seat.ticket == number || record.ticket.players.contains(&seat.player);
            let is_new = !formed.seats.iter().chain(&seats).any(taken);
            if record.state != State::Queued || record.ticket.queue != formed.queue || !is_new {
                return None;
            }
            seats.extend(record.ticket.players.iter().map(|player| Seat {
                player: player.clone(),
                ticket: number,
                team,
                later: true,
            }));
        }
        let called = seats.clone();
        self.matches.seat(id, &seats);
        self.changes.push(Change::Seated { id, seats, why });
        for &(number, _) in tickets {
            self.become_state(number, State::Called(id), Reason::None);
        }
        (!called.is_empty()).then_some(called)
    }

    /// Players who were called to a match in play have come: the state of their tickets is final.
    pub fn came(&mut self, id: MatchId, players: &[String]) {
        for number in self.later(id, |seat| players.contains(&seat.player)) {
            self.end_in_match(number, id);
        }
    }

    /// Players who were called to a match in play have not come in time. A ticket of which nobody has come
    /// leaves the queue.
    pub fn missed(&mut self, id: MatchId, players: &[String]) {
        for number in self.later(id, |seat| players.contains(&seat.player)) {
            self.unseat(id, number);
            self.become_state(number, State::Cancelled, Reason::NoShow);
        }
    }

    /// Players who were called to a match in play need not come. A ticket of which nobody has come goes back
    /// to its place.
    pub fn release(&mut self, id: MatchId, players: &[String]) {
        for number in self.later(id, |seat| players.contains(&seat.player)) {
            self.unseat(id, number);
            self.become_state(number, State::Queued, Reason::Released);
        }
    }

    /// A match has ended before the players who were called to it in play have come: their tickets go back
    /// to their places.
    pub fn dismiss(&mut self, id: MatchId) {
        for number in self.later(id, |_| true) {
            self.unseat(id, number);
            self.become_state(number, State::Queued, Reason::Ended);
        }
    }

    /// The tickets that were called to a match in play, and of whose players none has come.
    fn later(&self, id: MatchId, is: impl Fn(&Seat) -> bool) -> BTreeSet<TicketNumber> {
        let seats = self.matches.get(id).map(|formed| formed.seats.as_slice());
        let later = seats.unwrap_or_default().iter();
        let later = later
            .filter(|seat| seat.later && is(seat))
            .map(|seat| seat.ticket);
        let called = |number: &TicketNumber| {
            let ticket = self.tickets.get(number);
            ticket.is_some_and(|ticket| ticket.state == State::Called(id))
        };
        later.filter(called).collect()
    }

    fn unseat(&mut self, id: MatchId, ticket: TicketNumber) {
        if self.matches.unseat(id, ticket) {
            self.changes.push(Change::Unseated { id, ticket });
            // After a day of play, this may have been the last ticket of the match.
            self.drop_empty(id);
        }
    }
}

impl FormedMatch {
    /// Whether a ticket has joined the match in play.
    pub fn is_later(&self, ticket: TicketNumber) -> bool {
        self.seats
            .iter()
            .any(|seat| seat.later && seat.ticket == ticket)
    }
}
