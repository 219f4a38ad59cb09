//! The ready check of a simulated queue.

use super::{Findings, Simulation, agenda::CrowdEvent, line::WaitingParty};
use crate::matchmaking::{Ticket, draw::exponential};

/// A match that not all players have accepted yet.
pub(super) struct AskedMatch {
    pub seats: Vec<(Ticket, WaitingParty)>,
    findings: Findings,
}

impl Simulation<'_> {
    /// Asks all players of a match. The first who declines, or is too late, ends it.
    pub(super) fn ask(
        &mut self,
        seats: Vec<(Ticket, WaitingParty)>,
        findings: Findings,
        seconds: u32,
    ) {
        let id = self.tallies.matches + self.tallies.dissolved + self.asked.len() as u64;
        let (mut last, mut declined) = (0.0_f64, None::<(f64, usize)>);
        for (ticket, waiting) in &seats {
            // The numbers of the ticket and of this match.
            let mut stream = self
                .crowd
                .visit(waiting.party, waiting.visit ^ (id as u32) << 8);
            for _ in &ticket.players {
                let answer = exponential(self.settings.answer, &mut stream);
                let at = answer.min(f64::from(seconds));
                let declines = stream.unit() < self.settings.declines;
                if (declines || answer > at) && declined.is_none_or(|(first, _)| at < first) {
                    declined = Some((at, waiting.party));
                }
                last = last.max(at);
            }
        }
        let (after, event) = match declined {
            Some((at, party)) => (at, CrowdEvent::Decline(id, party)),
            None => (last, CrowdEvent::Accept(id)),
        };
        self.agenda.add(self.now + super::millis(after), event);
        self.asked.insert(id, AskedMatch { seats, findings });
    }

    /// Ends a match that a party does not want: its ticket leaves, the others go back with the time that
    /// they have waited.
    pub(super) fn decline(&mut self, id: u64, party: usize) {
        let Some(asked) = self.asked.remove(&id) else {
            return;
        };
        self.tallies.dissolved += 1;
        for (ticket, waiting) in asked.seats {
            if waiting.party == party {
                self.tallies.counts.declined += 1;
                self.leave(&waiting, false);
            } else {
                self.enter(ticket, waiting);
            }
        }
    }

    /// Begins a match that all players have accepted.
    pub(super) fn accept(&mut self, id: u64) {
        if let Some(asked) = self.asked.remove(&id) {
            self.play(asked.seats, asked.findings);
        }
    }
}
