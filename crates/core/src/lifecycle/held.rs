//! Tickets that are held: one of their players is in another match that is final.
//!
//! A player can wait in one queue of each group. Once one of these queues has a match of the player that an instance is
//! to host, or hosts, the player's other tickets keep their places and their time, but no match is formed of them, and a
//! ready check that they are in ends. They are free again when that match has ended or has fallen through. What becomes
//! of a match that needs no instance is not known, so it holds nothing.

use std::collections::BTreeSet;

use super::{Lifecycle, Match, Reason, State, TicketNumber, TicketRecord};
use crate::domain::MatchId;

impl Lifecycle {
    /// The tickets in a queue of which a match can be formed, in the order of their places.
    pub fn searchable<'a>(&'a self, queue: &'a str) -> impl Iterator<Item = &'a TicketRecord> {
        self.queued(queue).filter(|one| self.held(one).is_none())
    }

    /// The player because of whom a ticket that waits is held, and the match that the player is in.
    pub fn held<'a>(&self, record: &'a TicketRecord) -> Option<(&'a str, MatchId)> {
        let mut players = record.ticket.players.iter();
        players.find_map(|player| Some((player.as_str(), self.busy(player, record.number)?)))
    }

    /// The match that is final, and not over, in which a player is without this ticket.
    fn busy(&self, player: &str, ticket: TicketNumber) -> Option<MatchId> {
        let called = || self.called_with_others(player, ticket);
        self.plays_in(player).or_else(called)
    }

    /// The match that is final, and whose play has not begun, in which a player is with another ticket.
    fn called_with_others(&self, player: &str, ticket: TicketNumber) -> Option<MatchId> {
        let others = self.index.tickets_of(player);
        let others = others.filter(|number| *number != ticket);
        let mut others = others.filter_map(|number| self.ticket(number));
        let hosted = others.find(|other| other.state.is_hosted())?;
        hosted.state.match_id()
    }

    /// Whether the daemon has sent a player of this match to another one that is not over.
    pub(super) fn is_sent_elsewhere(
        &self,
        id: MatchId,
        player: &str,
        ticket: TicketNumber,
    ) -> bool {
        let seated = |one: &Match| one.seats.iter().any(|seat| seat.player == player);
        let other = self.plays_in(player).filter(|other| *other != id);
        let plays = other.is_some_and(|other| self.formed(other).is_some_and(seated));
        plays
            || self
                .called_with_others(player, ticket)
                .is_some_and(|other| other != id)
    }

    /// Ends the ready checks of other matches with a player of this one, which is final: their tickets go back.
    pub(super) fn hold_others(&mut self, id: MatchId) {
        let players = self.matches.get(id).map_or(Vec::new(), Match::players);
        let mut checks = BTreeSet::new();
        for player in &players {
            let tickets = self.index.tickets_of(player);
            let proposed = tickets.filter_map(|number| match self.ticket(number)?.state {
                State::Proposed(other) if other != id => Some(other),
                _ => None,
            });
            checks.extend(proposed);
        }
        for other in checks {
            self.dissolve(other, &BTreeSet::new(), Reason::None, Reason::Cancelled);
        }
    }
}
