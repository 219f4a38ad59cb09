//! The players on the game server, and what the daemon has been sent about them.

use std::collections::BTreeMap;

use crate::{
    domain::{Kind, Nobody, PlayerKey, is_default_name},
    ingest::text::is_by_name,
    protocol::Request,
    sidecar::entry::{RosterEntry, RosterUpdate, free_id},
};

/// The key of a connection of the game server. Each engine decides which number and text distinguish its
/// connections.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConnectionKey(pub(crate) Option<u32>, pub(crate) String);

impl ConnectionKey {
    /// The key of a connection that a number distinguishes.
    pub(crate) fn numbered(number: u32) -> Self {
        Self(Some(number), String::new())
    }
}

/// A player as the log describes them.
#[derive(Clone, Debug, PartialEq)]
pub struct LoggedPlayer {
    pub(crate) key: PlayerKey,
    pub(crate) name: String,
    /// The number by which commands name the player; `None` if the log does not state it.
    pub(crate) number: Option<u32>,
    /// The side of the map that the player is on; `None` for spectators and in games without teams.
    pub(crate) side: Option<u8>,
    /// Whether the player plays without a team, if the game has none.
    pub(crate) free: bool,
}

impl LoggedPlayer {
    /// Whether the player takes part in a game with or without `teams`.
    pub(super) fn plays(&self, teams: bool) -> bool {
        self.side.is_some() || (self.free && !teams)
    }
}

/// One connection of the game server.
#[derive(Clone, Debug)]
pub(super) struct RosterSeat {
    pub(super) player: LoggedPlayer,
    pub(super) entry: Option<RosterEntry>,
}

/// All connections of the game server.
#[derive(Debug, Default)]
pub(super) struct ServerRoster(BTreeMap<ConnectionKey, RosterSeat>);

impl ServerRoster {
    pub(super) fn get(&self, connection: &ConnectionKey) -> Option<&RosterSeat> {
        self.0.get(connection)
    }

    pub(super) fn connections(&self) -> Vec<ConnectionKey> {
        self.0.keys().cloned().collect()
    }

    pub(super) fn seats(&self) -> impl Iterator<Item = (&ConnectionKey, &RosterSeat)> {
        self.0.iter()
    }

    /// The connections of the players whom the log gives this identity.
    pub(super) fn with_key(&self, key: &PlayerKey) -> Vec<ConnectionKey> {
        let own = self.0.iter().filter(|(_, seat)| seat.player.key == *key);
        own.map(|(connection, _)| connection.clone()).collect()
    }

    /// The identity under which the daemon knows a player: that of the log, unless it is but a name that somebody else
    /// has, too, or that everybody has who chooses none.
    pub(super) fn identity(&self, connection: &ConnectionKey, player: &LoggedPlayer) -> PlayerKey {
        let (key, number) = (&player.key, connection.0.or(player.number).unwrap_or(0));
        if key.kind == Kind::Bot || !is_by_name(key, &player.name) {
            return key.clone();
        }
        let mut others = self.0.iter().filter(|(other, _)| *other != connection);
        if others.any(|(_, seat)| seat.player.key == *key) {
            return key.of_nobody(Nobody::Twice, number);
        }
        match is_default_name(&player.name) {
            true => key.of_nobody(Nobody::Default, number),
            false => key.clone(),
        }
    }

    /// The entry of this connection in the daemon's roster.
    pub(super) fn entry(&self, connection: &ConnectionKey) -> Option<&RosterEntry> {
        self.get(connection)?.entry.as_ref()
    }

    /// All entries of the daemon's roster.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&LoggedPlayer, &RosterEntry)> + Clone {
        let seats = self.0.values();
        seats.filter_map(|seat| Some((&seat.player, seat.entry.as_ref()?)))
    }

    /// The entry of this connection in the daemon's roster.
    pub(super) fn entry_mut(&mut self, connection: &ConnectionKey) -> Option<&mut RosterEntry> {
        self.0.get_mut(connection)?.entry.as_mut()
    }

    pub(super) fn entries_mut(&mut self) -> impl Iterator<Item = &mut RosterEntry> {
        self.0.values_mut().filter_map(|seat| seat.entry.as_mut())
    }

    /// Notes that the game server is ordered to remove the players with these numbers.
    pub(super) fn note_removed(&mut self, numbers: &[u32]) {
        for seat in self.0.values_mut() {
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
        for seat in self.0.values_mut() {
            seat.entry = None;
        }
    }

    /// Puts a player on a connection, which may be new.
    pub(super) fn set(&mut self, connection: ConnectionKey, player: LoggedPlayer) {
        match self.0.get_mut(&connection) {
            Some(seat) => seat.player = player,
            None => {
                let entry = None;
                self.0.insert(connection, RosterSeat { player, entry });
            }
        }
    }

    /// Removes a connection. Returns the request that removes its player from the daemon's roster.
    pub(super) fn remove(&mut self, connection: &ConnectionKey) -> Option<Request> {
        let entry = self.0.remove(connection)?.entry?;
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
        self.0.retain(|connection, seat| {
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
        let Some(seat) = self.0.get_mut(connection) else {
            return Vec::new();
        };
        let mut entry = seat.entry.take();
        let taken = self.entries().map(|(_, entry)| entry.id.as_str());
        let requests = RosterEntry::update(&mut entry, update, |key| free_id(key, taken));
        if let Some(seat) = self.0.get_mut(connection) {
            seat.entry = entry;
        }
        requests
    }
}
