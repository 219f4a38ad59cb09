//! The way of one ticket: its party queues, gives up or has had its match, and comes back later.

use super::{Simulation, WaitingParty, agenda::CrowdEvent, millis};
use crate::matchmaking::{
    Ticket,
    draw::{exponential, log_normal},
};

impl Simulation<'_> {
    pub(super) fn arrive(&mut self, party: usize) {
        let Some(visit) = self.visits.get_mut(party) else {
            return;
        };
        *visit += 1;
        let visit = *visit;
        let mut stream = self.crowd.visit(party, visit);
        let ticket = match self.crowd.ticket(party, visit, &self.past, &mut stream) {
            Ok(ticket) => ticket,
            Err(error) => {
                self.refused = Some(error);
                return;
            }
        };
        let settings = &self.settings;
        let patience = log_normal(settings.patience, settings.patience_spread, &mut stream);
        let ttl = f64::from(self.queue.settings().ttl.get());
        let waiting = WaitingParty {
            party,
            visit,
            since: self.now,
            until: self.now + millis(patience.min(ttl)),
            expires: ttl <= patience,
            labels: self.tallies.labels.of(self.queue, &ticket),
        };
        self.tallies.counts.queued += 1;
        self.tallies.players += ticket.players.len() as u64;
        self.enter(ticket, waiting);
    }

    /// Puts a ticket into the queue, for the first time or again.
    pub(super) fn enter(&mut self, ticket: Ticket, waiting: WaitingParty) {
        self.stale = true;
        self.agenda.add(
            waiting.until.max(self.now),
            CrowdEvent::GiveUp(waiting.party, waiting.visit),
        );
        self.line.add(ticket, waiting);
    }

    pub(super) fn give_up(&mut self, party: usize, visit: u32) {
        let waits = self
            .line
            .get(party)
            .is_some_and(|waiting| waiting.visit == visit);
        if !waits {
            return; // it has a match, or is asked whether it accepts one
        }
        if let Some((_, waiting)) = self.line.remove(party) {
            self.stale = true;
            let counts = &mut self.tallies.counts;
            match waiting.expires {
                true => counts.expired += 1,
                false => counts.cancelled += 1,
            }
            self.leave(&waiting, false);
        }
    }

    /// Counts a ticket that is final now, and lets its party come back later: after a match, or after
    /// something else that takes as long.
    pub(super) fn leave(&mut self, waiting: &WaitingParty, is_matched: bool) {
        let waited = self.now - waiting.since.min(self.now);
        let decile = self.crowd.decile(waiting.party);
        self.tallies
            .labels
            .count(&waiting.labels, decile, waited, is_matched);
        let settings = &self.settings;
        // The next ticket's numbers have another stream, and this one's first numbers are used.
        let mut stream = self.crowd.visit(waiting.party, !waiting.visit);
        let early = 1.0 + settings.battle_spread * (2.0 * stream.unit() - 1.0);
        let away = settings.battle * early + exponential(settings.rest, &mut stream);
        self.agenda.add(
            self.now + millis(away).max(1),
            CrowdEvent::Arrive(waiting.party),
        );
    }
}
