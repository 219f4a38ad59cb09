//! Tickets that join a match in play.

use std::collections::BTreeSet;

use super::{
    Change, ExpectedPlayer, Lifecycle, Message, Reason, Seat, State, TicketNumber, due::Due,
};
use crate::domain::MatchId;

/// Tickets that a round has found for a match in play.
#[derive(Clone, Debug)]
pub struct Filling {
    /// The match in play.
    pub id: MatchId,
    /// The [version](super::Match::version) of the match that the search saw.
    pub version: u64,
    /// Each ticket with its team.
    pub seats: Vec<(TicketNumber, u8)>,
    /// What the search found, one line each.
    pub why: Vec<String>,
}

impl Lifecycle {
    /// Sends the tickets that a round has found to a match in play, unless its players have changed since. Each
    /// call of `pass` returns another secret. Returns whether the tickets have joined.
    pub fn fill(&mut self, filling: Filling, pass: impl Fn() -> String) -> bool {
        let Filling { id, version, .. } = filling;
        let mut seeking = self.seeking().into_iter();
        let same = seeking.find(|(hosted, _)| hosted.id == id && hosted.version == version);
        let Some((_, mut free)) = same else {
            return false;
        };
        for (number, team) in &filling.seats {
            let players = self
                .ticket(*number)
                .map_or(usize::MAX, |one| one.ticket.players.len());
            match free.get_mut(usize::from(*team)) {
                Some(free) if *free >= players => *free -= players,
                _ => return false,
            }
        }
        let Some(seats) = self.join(id, &filling.seats, filling.why) else {
            return false;
        };
        self.expect(id, seats, pass);
        true
    }

    /// Waits for players with these seats from now on.
    fn expect(&mut self, id: MatchId, seats: Vec<Seat>, pass: impl Fn() -> String) {
        let until = self.may_come_until();
        let players = seats.iter().map(|seat| seat.player.clone()).collect();
        self.change(id, |hosted| {
            hosted.version += 1;
            for seat in seats {
                let expected = ExpectedPlayer {
                    team: seat.team,
                    until,
                    ticket: seat.ticket,
                };
                hosted.passes.insert(seat.player.clone(), pass());
                hosted.expected.insert(seat.player, expected);
            }
        });
        self.due.insert((until, Due::Expected(id)));
        self.effects.send.push(Message::Admit(id, players));
    }

    /// Adds tickets to a match, each to a team, and calls their players. `why` is what the search found, one line
    /// each. Returns the seats of their players; `None`, and changes nothing, if there is no such match or a
    /// ticket has left its queue or is held.
    pub(super) fn join(
        &mut self,
        id: MatchId,
        tickets: &[(TicketNumber, u8)],
        why: Vec<String>,
    ) -> Option<Vec<Seat>> {
        let formed = self.formed(id).filter(|one| one.open_until.is_none())?;
        let mut seats: Vec<Seat> = Vec::new();
        for &(number, team) in tickets {
            let record = self.tickets.get(&number)?;
            let taken =
                |seat: &Seat| seat.ticket == number || record.ticket.players.contains(&seat.player);
            let is_new = !formed.seats.iter().chain(&seats).any(taken);
            let waits = record.state == State::Queued && record.ticket.queue == formed.queue;
            if !waits || !is_new || self.held(record).is_some() {
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
        let change = Change::Seated { id, seats, why };
        self.effects.write.push(change);
        for &(number, _) in tickets {
            self.become_state(number, State::Called(id), Reason::None);
        }
        (!called.is_empty()).then_some(called)
    }

    /// Players who were called to a match in play have come: the state of their tickets is final.
    pub(super) fn came(&mut self, id: MatchId, players: &[String]) {
        for number in self.later(id, |seat| players.contains(&seat.player)) {
            self.end_in_match(number, id);
        }
    }

    /// Players who were called to a match in play have not come in time. A ticket of which nobody has come
    /// leaves the queue.
    pub(super) fn missed(&mut self, id: MatchId, players: &[String]) {
        for number in self.later(id, |seat| players.contains(&seat.player)) {
            self.unseat(id, number);
            self.become_state(number, State::Cancelled, Reason::NoShow);
        }
    }

    /// Players who were called to a match in play need not come. A ticket of which nobody has come goes back
    /// to its place.
    pub(super) fn send_back(&mut self, id: MatchId, players: &[String]) {
        for number in self.later(id, |seat| players.contains(&seat.player)) {
            self.unseat(id, number);
            self.become_state(number, State::Queued, Reason::Released);
        }
    }

    /// A match ends before the players who were called to it in play have come: their tickets go back to their
    /// places.
    pub(super) fn dismiss_expected(&mut self, id: MatchId) {
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
            let change = Change::Unseated { id, ticket };
            self.effects.write.push(change);
            // After a day of play, this may have been the last ticket of the match.
            self.drop_empty(id);
        }
    }
}
