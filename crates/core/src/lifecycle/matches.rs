//! The matches of tickets, and which of them each player and each queue had.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Match, Seat, TicketNumber};
use crate::domain::MatchId;

/// All matches that are kept, by id.
#[derive(Debug, Default)]
pub(super) struct Matches {
    all: BTreeMap<MatchId, Match>,
    /// The matches with a seat of each player.
    players: HashMap<String, BTreeSet<MatchId>>,
    /// The matches of each queue.
    queues: HashMap<String, BTreeSet<MatchId>>,
}

impl Matches {
    pub fn get(&self, id: MatchId) -> Option<&Match> {
        self.all.get(&id)
    }

    /// A match, to change anything but its queue and its seats.
    pub fn get_mut(&mut self, id: MatchId) -> Option<&mut Match> {
        self.all.get_mut(&id)
    }

    /// The matches, the one with the lowest id first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Match> {
        self.all.values()
    }

    pub fn insert(&mut self, formed: Match) {
        self.remove(formed.id);
        for seat in &formed.seats {
            add(&mut self.players, &seat.player, formed.id);
        }
        if formed.has_seats() {
            add(&mut self.queues, &formed.queue, formed.id);
        }
        self.all.insert(formed.id, formed);
    }

    pub fn remove(&mut self, id: MatchId) -> Option<Match> {
        let formed = self.all.remove(&id)?;
        for seat in &formed.seats {
            remove(&mut self.players, &seat.player, id);
        }
        remove(&mut self.queues, &formed.queue, id);
        Some(formed)
    }

    /// Adds seats to a match.
    pub fn seat(&mut self, id: MatchId, seats: &[Seat]) {
        let Some(formed) = self.all.get_mut(&id) else {
            return;
        };
        for seat in seats {
            add(&mut self.players, &seat.player, id);
        }
        formed.seats.extend_from_slice(seats);
    }

    /// Removes all seats of a match.
    pub fn clear_seats(&mut self, id: MatchId) {
        if let Some(mut formed) = self.remove(id) {
            formed.seats.clear();
            self.insert(formed);
        }
    }

    /// Removes the seats of a ticket from a match; whether there is such a match.
    pub fn unseat(&mut self, id: MatchId, ticket: TicketNumber) -> bool {
        let Some(mut formed) = self.remove(id) else {
            return false;
        };
        formed.seats.retain(|seat| seat.ticket != ticket);
        self.insert(formed);
        true
    }

    /// The matches of a player that are final, the latest first.
    pub fn of_player(&self, player: &str) -> impl Iterator<Item = &Match> {
        self.latest(self.players.get(player))
    }

    /// The matches of a queue that are final, the latest first.
    pub fn of_queue(&self, queue: &str) -> impl Iterator<Item = &Match> {
        self.latest(self.queues.get(queue))
    }

    fn latest<'a>(&'a self, ids: Option<&'a BTreeSet<MatchId>>) -> impl Iterator<Item = &'a Match> {
        let ids = ids.into_iter().flat_map(|ids| ids.iter().rev());
        let matches = ids.filter_map(|id| self.get(*id));
        matches.filter(|formed| formed.open_until.is_none())
    }
}

#[cfg(test)]
impl Matches {
    /// Whether the indexes have nothing but the matches.
    pub fn is_lean(&self) -> bool {
        let mut again = Self::default();
        self.all
            .values()
            .for_each(|formed| again.insert(formed.clone()));
        (&again.players, &again.queues) == (&self.players, &self.queues)
    }
}

fn add(index: &mut HashMap<String, BTreeSet<MatchId>>, key: &str, id: MatchId) {
    match index.get_mut(key) {
        Some(ids) => {
            ids.insert(id);
        }
        None => {
            index.insert(key.to_owned(), [id].into());
        }
    }
}

fn remove(index: &mut HashMap<String, BTreeSet<MatchId>>, key: &str, id: MatchId) {
    if let Some(ids) = index.get_mut(key) {
        ids.remove(&id);
        if ids.is_empty() {
            index.remove(key);
        }
    }
}
