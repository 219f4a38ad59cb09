//! The players on the game server, and what the daemon has been sent about them.

use std::collections::BTreeMap;

use crate::{
    domain::{Ident, Kind, LeaveReason, PlayerKey},
    protocol::{Join, Request},
    sidecar::link::{name_ident, plain_ident},
};

/// What distinguishes the connections of a game server: a number and a text, as the engine needs them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Connection(pub(crate) Option<u32>, pub(crate) String);

/// A player as the log describes them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Player {
    pub(crate) key: PlayerKey,
    pub(crate) name: String,
    /// The number by which commands name the player; `None` if the log does not state it.
    pub(crate) number: Option<u32>,
    /// The side of the map that the player is on; `None` for spectators and in games without teams.
    pub(crate) side: Option<u8>,
    /// Whether the player plays: on a team, or in a game without teams.
    pub(crate) plays: bool,
}

/// A player in the daemon's roster.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RosterEntry {
    /// The identity in the daemon's roster; no two entries share one.
    pub(super) id: String,
    /// The identity in the log, which two connections can share.
    key: String,
    name: String,
    /// Whether the player was sent with JOIN; otherwise with BOTJOIN.
    pub(super) joined: bool,
    /// The team that was last received from the daemon, or sent to it.
    pub(super) team: Option<u8>,
}

impl RosterEntry {
    pub(super) fn ident(&self) -> Ident {
        Ident::from_text(&self.id)
    }

    /// The request that removes this entry.
    fn leave(&self) -> Request {
        match self.joined {
            true => Request::Leave {
                id: self.ident(),
                reason: LeaveReason::Left,
            },
            false => Request::BotLeave(self.ident()),
        }
    }
}

/// One connection of the game server.
#[derive(Clone, Debug)]
pub(super) struct Seat {
    pub(super) player: Player,
    pub(super) entry: Option<RosterEntry>,
}

/// How to update the daemon's roster for one player.
#[derive(Clone, Copy, Debug)]
pub(super) struct Update {
    /// The team that the player's side means; `None` in games without teams.
    pub(super) team: Option<u8>,
    /// Whether bots are sent with JOIN.
    pub(super) bots_as_players: bool,
    /// Whether a new player is sent without a team.
    pub(super) unplaced: bool,
    /// Whether a player who is in the roster keeps their team there for now.
    pub(super) keep_team: bool,
}

/// All connections of the game server.
#[derive(Debug, Default)]
pub(super) struct Roster(BTreeMap<Connection, Seat>);

impl Roster {
    pub(super) fn get(&self, connection: &Connection) -> Option<&Seat> {
        self.0.get(connection)
    }

    pub(super) fn connections(&self) -> Vec<Connection> {
        self.0.keys().cloned().collect()
    }

    pub(super) fn seats(&self) -> impl Iterator<Item = (&Connection, &Seat)> {
        self.0.iter()
    }

    /// The entry of this connection in the daemon's roster.
    pub(super) fn entry(&self, connection: &Connection) -> Option<&RosterEntry> {
        self.get(connection)?.entry.as_ref()
    }

    /// All entries of the daemon's roster.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&Player, &RosterEntry)> {
        let seats = self.0.values();
        seats.filter_map(|seat| Some((&seat.player, seat.entry.as_ref()?)))
    }

    pub(super) fn entries_mut(&mut self) -> impl Iterator<Item = &mut RosterEntry> {
        self.0.values_mut().filter_map(|seat| seat.entry.as_mut())
    }

    /// Drops all entries, because the daemon's roster is empty.
    pub(super) fn forget_entries(&mut self) {
        for seat in self.0.values_mut() {
            seat.entry = None;
        }
    }

    /// Takes over the players that are on the server now. Returns the connections that are new or
    /// changed, and the requests that remove those that are gone.
    pub(super) fn replace(
        &mut self,
        players: Vec<(Connection, Player)>,
    ) -> (Vec<Connection>, Vec<Request>) {
        let players: BTreeMap<Connection, Player> = players.into_iter().collect();
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
            match self.0.get_mut(&connection) {
                Some(seat) if seat.player == player => continue,
                Some(seat) => seat.player = player,
                None => {
                    let entry = None;
                    self.0.insert(connection.clone(), Seat { player, entry });
                }
            }
            changed.push(connection);
        }
        (changed, leaves)
    }

    /// Updates the daemon's roster for one connection. Returns the requests that do it.
    pub(super) fn update(&mut self, connection: &Connection, update: Update) -> Vec<Request> {
        let mut requests = Vec::new();
        let Some(seat) = self.0.get_mut(connection) else {
            return requests;
        };
        let player = seat.player.clone();
        let joined = player.key.kind == Kind::Human || update.bots_as_players;
        if let Some(entry) = &mut seat.entry {
            if player.plays && entry.key == player.key.id && entry.joined == joined {
                return change(entry, player.name, update);
            }
            requests.push(entry.leave());
            seat.entry = None;
        }
        if !player.plays {
            return requests;
        }
        let entry = RosterEntry {
            id: self.free_id(&player.key.id),
            key: player.key.id,
            name: player.name,
            joined,
            team: update.team.filter(|_| !update.unplaced),
        };
        requests.push(if joined {
            let mut join = Join::new(entry.ident());
            join.name = Some(name_ident(&entry.name));
            join.team = entry.team;
            Request::Join(join)
        } else {
            Request::BotJoin {
                name: entry.ident(),
                // In a game without teams, the daemon counts bots on the first team.
                team: entry.team.unwrap_or(0),
            }
        });
        if let Some(seat) = self.0.get_mut(connection) {
            seat.entry = Some(entry);
        }
        requests
    }

    /// An identity that no other entry has. Two bots can share a name, and two humans an identity.
    fn free_id(&self, key: &str) -> String {
        let text = |key: &str| plain_ident(key).text().to_owned();
        let mut id = text(key);
        let mut copy = 1;
        while self.entries().any(|(_, entry)| entry.id == id) {
            copy += 1;
            id = text(&format!("{key} ({copy})"));
        }
        id
    }
}

/// Updates a player who is in the roster, perhaps with another name or team.
fn change(entry: &mut RosterEntry, name: String, update: Update) -> Vec<Request> {
    let mut requests = Vec::new();
    if entry.name != name {
        if entry.joined {
            let mut join = Join::new(entry.ident());
            join.name = Some(name_ident(&name));
            requests.push(Request::Join(join));
        }
        entry.name = name;
    }
    if let Some(team) = update.team
        && entry.team != Some(team)
        && !update.keep_team
    {
        entry.team = Some(team);
        let id = entry.ident();
        requests.push(match entry.joined {
            true => Request::Move { id, team },
            false => Request::BotJoin { name: id, team },
        });
    }
    requests
}
