//! The indexes by which tickets are found: by id, by player, and by client.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::TicketNumber;
use crate::domain::Timestamp;

/// The indexes of all tickets.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Tickets by name of the client and id.
    ids: HashMap<String, HashMap<String, TicketNumber>>,
    /// Waiting tickets by group and player.
    players: HashMap<String, HashMap<String, TicketNumber>>,
    /// The tickets that have ended, by when.
    pub ended: BTreeSet<(Timestamp, TicketNumber)>,
    /// The tickets whose state their client has not been sent, by name of the client.
    pub unsent: BTreeMap<String, BTreeSet<TicketNumber>>,
}

impl Index {
    pub fn id(&self, owner: &str, id: &str) -> Option<TicketNumber> {
        self.ids.get(owner)?.get(id).copied()
    }

    pub fn add_id(&mut self, owner: &str, id: &str, ticket: TicketNumber) {
        let ids = self.ids.entry(owner.to_owned()).or_default();
        ids.insert(id.to_owned(), ticket);
    }

    pub fn remove_id(&mut self, owner: &str, id: &str) {
        remove(&mut self.ids, owner, id);
    }

    pub fn player(&self, group: &str, player: &str) -> Option<TicketNumber> {
        self.players.get(group)?.get(player).copied()
    }

    pub fn add_player(&mut self, group: &str, player: &str, ticket: TicketNumber) {
        let players = self.players.entry(group.to_owned()).or_default();
        players.insert(player.to_owned(), ticket);
    }

    pub fn remove_player(&mut self, group: &str, player: &str, ticket: TicketNumber) {
        if self.player(group, player) == Some(ticket) {
            remove(&mut self.players, group, player);
        }
    }

    pub fn clear_players(&mut self) {
        self.players.clear();
    }

    pub fn add_unsent(&mut self, owner: &str, ticket: TicketNumber) {
        let unsent = self.unsent.entry(owner.to_owned()).or_default();
        unsent.insert(ticket);
    }

    pub fn remove_unsent(&mut self, owner: &str, ticket: TicketNumber) {
        if let Some(unsent) = self.unsent.get_mut(owner) {
            unsent.remove(&ticket);
            if unsent.is_empty() {
                self.unsent.remove(owner);
            }
        }
    }
}

fn remove(map: &mut HashMap<String, HashMap<String, TicketNumber>>, outer: &str, inner: &str) {
    if let Some(entries) = map.get_mut(outer) {
        entries.remove(inner);
        if entries.is_empty() {
            map.remove(outer);
        }
    }
}
