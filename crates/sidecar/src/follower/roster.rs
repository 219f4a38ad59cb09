//! The players on the game server, and what the daemon has been sent about them.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    entry::{RosterEntry, RosterUpdate, free_id},
    progress::{ConnectionKey, LoggedPlayer},
};
use evenkeel_ingest::live::{is_by_name, key_by_name};
use evenkeel_model::{
    Kind, PlayerKey,
    ident::{Nobody, is_default_name},
};
use evenkeel_protocol::Request;

/// The most identities of several players that are noted.
const MAX_SHARED: usize = 64;

/// One connection of the game server.
#[derive(Clone, Debug)]
pub(super) struct RosterSeat {
    pub(super) player: LoggedPlayer,
    pub(super) entry: Option<RosterEntry>,
}

/// All connections of the game server.
#[derive(Debug, Default)]
pub(super) struct ServerRoster {
    seats: BTreeMap<ConnectionKey, RosterSeat>,
    /// The identities that several players of other names have had at the same time, as copies of one installation have.
    shared: BTreeSet<PlayerKey>,
}

impl ServerRoster {
    pub(super) fn get(&self, connection: &ConnectionKey) -> Option<&RosterSeat> {
        self.seats.get(connection)
    }

    pub(super) fn connections(&self) -> Vec<ConnectionKey> {
        self.seats.keys().cloned().collect()
    }

    pub(super) fn seats(&self) -> impl Iterator<Item = (&ConnectionKey, &RosterSeat)> {
        self.seats.iter()
    }

    /// The connections of the players whom the log gives this identity.
    pub(super) fn with_key(&self, key: &PlayerKey) -> Vec<ConnectionKey> {
        let own = self
            .seats
            .iter()
            .filter(|(_, seat)| seat.player.key == *key);
        own.map(|(connection, _)| connection.clone()).collect()
    }

    /// The identity under which the daemon knows a player: that of the log, or the name if others have that one, too, unless
    /// the name is one that somebody else has, or that everybody has who chooses none.
    pub(super) fn identity(&self, connection: &ConnectionKey, player: &LoggedPlayer) -> PlayerKey {
        let number = connection.0.or(player.number).unwrap_or(0);
        let key = self.key_of(player);
        if key.kind == Kind::Bot || !is_by_name(&key, &player.name) {
            return key;
        }
        let mut others = self.seats.iter().filter(|(other, _)| *other != connection);
        if others.any(|(_, seat)| self.key_of(&seat.player) == key) {
            return key.of_nobody(Nobody::Twice, number);
        }
        match is_default_name(&player.name) {
            true => key.of_nobody(Nobody::Default, number),
            false => key,
        }
    }

    /// The identity that the log gives a player, or the name if others have that one, too.
    fn key_of(&self, player: &LoggedPlayer) -> PlayerKey {
        match self.shared.contains(&player.key) {
            true => key_by_name(false, player.name.clone()),
            false => player.key.clone(),
        }
    }

    /// Notes the identity of the player on this connection if somebody of another name has it, too. Somebody who returns
    /// before the server has noticed the end of the old connection has the same name.
    fn note_shared(&mut self, player: &LoggedPlayer) {
        let is_other =
            |seat: &RosterSeat| seat.player.key == player.key && seat.player.name != player.name;
        let is_human = player.key.kind == Kind::Human;
        if is_human && self.shared.len() < MAX_SHARED && self.seats.values().any(is_other) {
            self.shared.insert(player.key.clone());
        }
    }

    /// The entry of this connection in the daemon's roster.
    pub(super) fn entry(&self, connection: &ConnectionKey) -> Option<&RosterEntry> {
        self.get(connection)?.entry.as_ref()
    }

    /// All entries of the daemon's roster.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&LoggedPlayer, &RosterEntry)> + Clone {
        let seats = self.seats.values();
        seats.filter_map(|seat| Some((&seat.player, seat.entry.as_ref()?)))
    }

    /// The entry of this connection in the daemon's roster.
    pub(super) fn entry_mut(&mut self, connection: &ConnectionKey) -> Option<&mut RosterEntry> {
        self.seats.get_mut(connection)?.entry.as_mut()
    }

    pub(super) fn entries_mut(&mut self) -> impl Iterator<Item = &mut RosterEntry> {
        self.seats
            .values_mut()
            .filter_map(|seat| seat.entry.as_mut())
    }

    /// Notes that the game server is ordered to remove the players with these numbers.
    pub(super) fn note_removed(&mut self, numbers: &[u32]) {
        for seat in self.seats.values_mut() {
            let is_gone = seat
                .player
                .number
                .is_some_and(|number| numbers.contains(&number));
            if let Some(entry) = seat.entry.as_mut().filter(|_| is_gone) {
                entry.removed = true;
            }
        }
    }

    /// Drops all entries, because the daemon's roster is empty.
    pub(super) fn forget_entries(&mut self) {
        for seat in self.seats.values_mut() {
            seat.entry = None;
        }
    }

    /// Puts a player on a connection, which may be new.
    pub(super) fn set(&mut self, connection: ConnectionKey, player: LoggedPlayer) {
        let noted = player.clone();
        match self.seats.get_mut(&connection) {
            Some(seat) => seat.player = player,
            None => {
                let entry = None;
                self.seats.insert(connection, RosterSeat { player, entry });
            }
        }
        self.note_shared(&noted);
    }

    /// Removes a connection. Returns the request that removes its player from the daemon's roster.
    pub(super) fn remove(&mut self, connection: &ConnectionKey) -> Option<Request> {
        let entry = self.seats.remove(connection)?.entry?;
        Some(entry.leave())
    }

    /// Replaces the players by those who are on the server now. Returns the connections that are new or
    /// changed, and the requests that remove those that are gone.
    pub(super) fn replace(
        &mut self,
        players: Vec<(ConnectionKey, LoggedPlayer)>,
    ) -> (Vec<ConnectionKey>, Vec<Request>) {
        let players: BTreeMap<ConnectionKey, LoggedPlayer> = players.into_iter().collect();
        let mut leaves = Vec::new();
        self.seats.retain(|connection, seat| {
            let stays = players.contains_key(connection);
            if !stays && let Some(entry) = &seat.entry {
                leaves.push(entry.leave());
            }
            stays
        });
        let mut changed = Vec::new();
        for (connection, player) in players {
            if self
                .get(&connection)
                .is_none_or(|seat| seat.player != player)
            {
                self.set(connection.clone(), player);
                changed.push(connection);
            }
        }
        (changed, leaves)
    }

    /// Updates the daemon's roster for one connection. Returns the requests that do it.
    pub(super) fn update(
        &mut self,
        connection: &ConnectionKey,
        update: RosterUpdate,
    ) -> Vec<Request> {
        let Some(seat) = self.seats.get_mut(connection) else {
            return Vec::new();
        };
        let mut entry = seat.entry.take();
        let taken = self.entries().map(|(_, entry)| entry.id.as_str());
        let requests = RosterEntry::update(&mut entry, update, |key| free_id(key, taken));
        if let Some(seat) = self.seats.get_mut(connection) {
            seat.entry = entry;
        }
        requests
    }
}
