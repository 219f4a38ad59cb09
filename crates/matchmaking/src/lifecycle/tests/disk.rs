//! What is on disk after changes were written: a second, plain reading of what they mean.

use std::collections::BTreeMap;

use super::super::*;
use evenkeel_model::{MatchId, Timestamp};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Disk {
    pub tickets: BTreeMap<TicketNumber, TicketRecord>,
    pub players: BTreeMap<(String, String), TicketNumber>,
    pub matches: BTreeMap<MatchId, Match>,
    pub hosted: BTreeMap<MatchId, Match>,
    pub offers: BTreeMap<String, InstanceOffer>,
    pub owed: BTreeMap<(String, MatchId), Why>,
}

impl Disk {
    pub fn write(&mut self, changes: Vec<Change>) {
        for change in changes {
            self.apply(change);
        }
    }

    pub fn apply(&mut self, change: Change) {
        match change {
            Change::Submitted(ticket) => {
                assert!(self.tickets.insert(ticket.number, *ticket).is_none());
            }
            Change::Became {
                ticket,
                from,
                state,
                reason,
                at,
            } => {
                let row = self.tickets.get_mut(&ticket).unwrap();
                assert_eq!(row.state, from);
                assert!(!row.state.is_final(), "{row:?} becomes {state:?}");
                (row.state, row.reason, row.changed_at, row.is_sent) = (state, reason, at, false);
            }
            Change::Entered(one) => {
                let other = self.players.insert((one.group, one.player), one.ticket);
                assert_eq!(other, None, "a player is in one ticket of a group");
            }
            Change::Left(one) => {
                let left = self.players.remove(&(one.group, one.player));
                assert_eq!(left, Some(one.ticket));
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
                let formed = self.matches.get_mut(&id).unwrap();
                assert!(formed.open_until.take().is_some());
                formed.stage = Stage::Formed;
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
            change => self.apply_hosting(change),
        }
    }

    /// Of a hosted match, what was formed of tickets is stored apart.
    fn apply_hosting(&mut self, change: Change) {
        match change {
            Change::Hosted(hosted) => {
                let hosting = Match {
                    proposal: Proposal::default(),
                    seats: Vec::new(),
                    wanted: WantedInstance::default(),
                    version: 0,
                    present: Default::default(),
                    ..*hosted
                };
                self.hosted.insert(hosting.id, hosting);
            }
            Change::HostingForgotten(id) => drop(self.hosted.remove(&id)),
            Change::Instance(one) => drop(self.offers.insert(one.offer.name.clone(), one.offer)),
            Change::InstanceGone(name) => drop(self.offers.remove(&name)),
            Change::Owed { instance, id, why } => drop(self.owed.insert((instance, id), why)),
            Change::Finalised { instance, id } => drop(self.owed.remove(&(instance, id))),
            change => panic!("{change:?}"),
        }
    }

    pub fn stored(&self) -> StoredState {
        let owed = self.owed.iter();
        let players = self.players.iter();
        StoredState {
            tickets: self.tickets.values().cloned().collect(),
            players: players
                .map(|((group, player), ticket)| QueuedPlayer {
                    group: group.clone(),
                    player: player.clone(),
                    ticket: *ticket,
                })
                .collect(),
            formed: self.matches.values().cloned().collect(),
            offers: self.offers.values().cloned().collect(),
            hosted: self.hosted.values().cloned().collect(),
            owed: owed
                .map(|((name, id), why)| (name.clone(), *id, *why))
                .collect(),
            recorded: Vec::new(),
        }
    }

    pub fn restore(&self, queues: Vec<(String, QueueTerms)>, now: i64) -> Lifecycle {
        let settings = CoordinatorSettings::default();
        Lifecycle::restore(settings, queues, self.stored(), Timestamp(now), |_| true)
    }
}
