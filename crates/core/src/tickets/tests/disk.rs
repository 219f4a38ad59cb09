//! What is on disk after changes were written: a second, plain reading of what they mean.

use std::collections::BTreeMap;

use super::super::*;
use crate::domain::{MatchId, Timestamp};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Disk {
    pub tickets: BTreeMap<TicketNumber, TicketRecord>,
    pub matches: BTreeMap<MatchId, FormedMatch>,
}

impl Disk {
    pub fn write(&mut self, changes: Vec<Change>) {
        for change in changes {
            self.apply(change);
        }
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::Submitted(ticket) => {
                assert!(self.tickets.insert(ticket.number, *ticket).is_none());
            }
            Change::Became {
                ticket,
                state,
                reason,
                at,
            } => {
                let row = self.tickets.get_mut(&ticket).unwrap();
                assert!(!row.state.is_final(), "{row:?} becomes {state:?}");
                (row.state, row.reason, row.changed_at, row.is_sent) = (state, reason, at, false);
            }
            Change::Sent(ticket) => self.tickets.get_mut(&ticket).unwrap().is_sent = true,
            Change::Forgotten(ticket) => assert!(self.tickets.remove(&ticket).is_some()),
            Change::Searched(..) => {}
            Change::Formed(mut formed) => {
                formed.proposal.why.clear();
                assert!(self.matches.insert(formed.id, *formed).is_none());
            }
            Change::Accepted { id, player } => {
                assert!(self.matches.get_mut(&id).unwrap().accepted.insert(player));
            }
            Change::Closed(id) => {
                let open = self.matches.get_mut(&id).unwrap().open_until.take();
                assert!(open.is_some());
            }
            Change::Seated { id, seats, .. } => {
                self.matches.get_mut(&id).unwrap().seats.extend(seats);
            }
            Change::Unseated { id, ticket } => {
                let seats = &mut self.matches.get_mut(&id).unwrap().seats;
                assert!(seats.iter().any(|seat| seat.later && seat.ticket == ticket));
                seats.retain(|seat| seat.ticket != ticket);
            }
            Change::Dropped(id) => assert!(self.matches.remove(&id).is_some()),
        }
    }

    pub fn restore(&self, queues: Vec<(String, QueueTerms)>, now: i64) -> Life {
        let tickets = self.tickets.values().cloned().collect();
        let matches = self.matches.values().cloned().collect();
        Life::restore(queues, tickets, matches, Timestamp(now), |_| true)
    }
}
