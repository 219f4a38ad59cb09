//! The indexes by which tickets and matches are found: by id, player, client and queue.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Change, Match, Seat, TicketNumber, TicketPlayer};
use evenkeel_model::{MatchId, Timestamp};

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
            add_match(&mut self.players, &seat.player, formed.id);
        }
        if formed.has_seats() {
            add_match(&mut self.queues, &formed.queue, formed.id);
        }
        self.all.insert(formed.id, formed);
    }

    pub fn remove(&mut self, id: MatchId) -> Option<Match> {
        let formed = self.all.remove(&id)?;
        for seat in &formed.seats {
            remove_match(&mut self.players, &seat.player, id);
        }
        remove_match(&mut self.queues, &formed.queue, id);
        Some(formed)
    }

    /// Adds seats to a match.
    pub fn seat(&mut self, id: MatchId, seats: &[Seat]) {
        let Some(formed) = self.all.get_mut(&id) else {
            return;
        };
        for seat in seats {
            add_match(&mut self.players, &seat.player, id);
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

fn add_match(index: &mut HashMap<String, BTreeSet<MatchId>>, key: &str, id: MatchId) {
    match index.get_mut(key) {
        Some(ids) => {
            ids.insert(id);
        }
        None => {
            index.insert(key.to_owned(), [id].into());
        }
    }
}

fn remove_match(index: &mut HashMap<String, BTreeSet<MatchId>>, key: &str, id: MatchId) {
    if let Some(ids) = index.get_mut(key) {
        ids.remove(&id);
        if ids.is_empty() {
            index.remove(key);
        }
    }
}
