//! The ready check: players accept or decline a match before it is final.

use std::collections::BTreeSet;

use super::{Change, Lifecycle, Match, Reason, Stage, State, TicketNumber, TicketRefused};
use evenkeel_model::record::MatchId;

impl Lifecycle {
    /// Notes that a player accepts a match. Once all players have accepted it, the match is final. The
    /// same event again changes nothing.
    ///
    /// # Errors
    /// Fails if the match does not wait to be accepted, or the player is in none of the name's tickets in
    /// it.
    pub fn accept(&mut self, owner: &str, id: MatchId, player: &str) -> Result<(), TicketRefused> {
        self.seat_of(owner, id, player)?;
        let formed = self.matches.get_mut(id).ok_or(TicketRefused::NoCheck)?;
        if formed.open_until.is_none() || !formed.accepted.insert(player.to_owned()) {
            return Ok(());
        }
        let all = formed
            .seats
            .iter()
            .all(|seat| formed.accepted.contains(&seat.player));
        let player = player.to_owned();
        self.effects.write.push(Change::Accepted { id, player });
        if all {
            self.close_check(id);
        }
        Ok(())
    }

    /// Notes that a player declines a match. The player's ticket leaves the queue, and the others go back
    /// to it.
    ///
    /// # Errors
    /// Fails if the match does not wait to be accepted, or the player is in none of the name's tickets in
    /// it.
    pub fn decline(&mut self, owner: &str, id: MatchId, player: &str) -> Result<(), TicketRefused> {
        let ticket = self.seat_of(owner, id, player)?;
        if self
            .matches
            .get(id)
            .is_none_or(|formed| formed.open_until.is_none())
        {
            return Err(TicketRefused::NoCheck);
        }
        self.dissolve(id, &[ticket].into(), Reason::Declined, Reason::Declined);
        Ok(())
    }

    /// The ticket of a player in a match, if it belongs to the name.
    fn seat_of(
        &self,
        owner: &str,
        id: MatchId,
        player: &str,
    ) -> Result<TicketNumber, TicketRefused> {
        let formed = self.matches.get(id).ok_or(TicketRefused::NoCheck)?;
        let seat = formed.seats.iter().find(|seat| {
            let ticket = self.tickets.get(&seat.ticket);
            seat.player == player && ticket.is_some_and(|ticket| ticket.ticket.owner == owner)
        });
        seat.map(|seat| seat.ticket)
            .ok_or(TicketRefused::NotInMatch)
    }

    /// The tickets of a match that are in no final state.
    pub(super) fn members(&self, id: MatchId) -> Vec<TicketNumber> {
        let tickets = self.matches.get(id).map(Match::tickets);
        let is_in = |number: &TicketNumber| {
            let ticket = self.tickets.get(number);
            ticket.is_some_and(|ticket| {
                !ticket.state.is_final() && ticket.state.match_id() == Some(id)
            })
        };
        tickets.into_iter().flatten().filter(is_in).collect()
    }

    /// Ends the ready check of a match that all players have accepted.
    fn close_check(&mut self, id: MatchId) {
        self.change(id, |formed| {
            (formed.stage, formed.open_until) = (Stage::Formed, None);
        });
        self.effects.write.push(Change::Closed(id));
        let members = self.members(id);
        self.follow(id, members);
    }

    /// Ends a ready check whose time is over: tickets whose players have not all accepted leave the queue.
    pub(super) fn check_is_over(&mut self, id: MatchId) {
        let Some(formed) = self.matches.get(id) else {
            return;
        };
        let missing = formed
            .seats
            .iter()
            .filter(|seat| !formed.accepted.contains(&seat.player));
        let out = missing.map(|seat| seat.ticket).collect();
        self.dissolve(id, &out, Reason::Unanswered, Reason::Unanswered);
    }

    /// Ends a match that is not final: the tickets in `out` leave the queue, the others go back to their
    /// place in it.
    pub(super) fn dissolve(
        &mut self,
        id: MatchId,
        out: &BTreeSet<TicketNumber>,
        left: Reason,
        back: Reason,
    ) {
        if self.formed(id).is_none() {
            return;
        }
        for ticket in self.members(id) {
            match out.contains(&ticket) {
                true => self.become_state(ticket, State::Cancelled, left),
                false => self.become_state(ticket, State::Queued, back),
            }
        }
        self.drop_formed(id);
    }
}
