//! The indexes by which tickets are found: by id, by player, and by client.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Change, TicketNumber, TicketPlayer};
use crate::domain::Timestamp;

/// The indexes of all tickets.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Tickets by name of the client and id.
    ids: HashMap<String, HashMap<String, TicketNumber>>,
    /// Tickets that have not ended, by group and player.
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

    /// The tickets of a player that have not ended, at most one of each group.
    pub fn tickets_of<'a>(&'a self, player: &'a str) -> impl Iterator<Item = TicketNumber> + 'a {
        let groups = self.players.values();
        groups.filter_map(move |players| players.get(player).copied())
    }

    pub fn add_player(&mut self, group: &str, player: &str, ticket: TicketNumber) {
        let players = self.players.entry(group.to_owned()).or_default();
        players.insert(player.to_owned(), ticket);
    }

    /// Removes a player who is in this ticket. Returns whether they were in it.
    pub fn remove_player(&mut self, group: &str, player: &str, ticket: TicketNumber) -> bool {
        let is_in = self.player(group, player) == Some(ticket);
        if is_in {
            remove(&mut self.players, group, player);
        }
        is_in
    }

    /// Removes all players, and returns who was in which ticket, in order.
    pub fn take_players(&mut self) -> BTreeSet<TicketPlayer> {
        let groups = std::mem::take(&mut self.players).into_iter();
        let of_group = |(group, players): (String, HashMap<String, TicketNumber>)| {
            let player = move |(player, ticket)| TicketPlayer {
                group: group.clone(),
                player,
                ticket,
            };
            players.into_iter().map(player)
        };
        groups.flat_map(of_group).collect()
    }

    /// What has changed since `before`, which [`take_players`](Self::take_players) has returned: first who has left.
    pub fn changes_since(&self, before: BTreeSet<TicketPlayer>) -> Vec<Change> {
        let mut stays = BTreeSet::new();
        let mut changes = Vec::new();
        for one in before {
            match self.player(&one.group, &one.player) == Some(one.ticket) {
                true => drop(stays.insert(one)),
                false => changes.push(Change::Left(one)),
            }
        }
        for (group, players) in &self.players {
            let entered = players.iter().map(|(player, ticket)| TicketPlayer {
                group: group.clone(),
                player: player.clone(),
                ticket: *ticket,
            });
            changes.extend(
                entered
                    .filter(|one| !stays.contains(one))
                    .map(Change::Entered),
            );
        }
        changes
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
