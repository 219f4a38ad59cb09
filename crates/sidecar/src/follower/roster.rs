//! The players on the game server, their entries in the daemon's roster, and the requests that keep it up to date.

use std::collections::{BTreeMap, BTreeSet};

use evenkeel_ingest::live::{is_by_name, key_by_name};
use evenkeel_model::{
    Kind, PlayerKey,
    ident::{Ident, Nobody, is_default_name},
    record::LeaveReason,
    team_names::RoleName,
};
use evenkeel_protocol::{Request, request::Join};

use crate::{
    link::{name_ident, plain_ident},
    progress::{ConnectionKey, LoggedPlayer},
};

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

/// A player in the daemon's roster.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RosterEntry {
    /// The identity in the daemon's roster; no two entries share one.
    pub(super) id: String,
    /// The identity in the log, which two players can share.
    key: String,
    name: String,
    /// Whether the player was sent with JOIN; otherwise with BOTJOIN.
    pub(super) joined: bool,
    /// The team that was last received from the daemon, or sent to it.
    pub(super) team: Option<u8>,
    /// Whether the sidecar has asked the daemon for the team, and has no reply yet. Until then it does not
    /// send the player's actual team, which would replace the daemon's choice.
    pub(super) placing: bool,
    /// Whether the game server was ordered to remove the player, perhaps to add a bot again on the other team.
    pub(super) removed: bool,
    /// The role that was last sent to the daemon.
    role: Option<RoleName>,
}

/// What the daemon's roster should contain about one player.
#[derive(Clone, Debug)]
pub(super) struct RosterUpdate {
    /// The identity in the log.
    pub(super) key: String,
    pub(super) name: String,
    /// Whether the player takes part in the game.
    pub(super) plays: bool,
    /// Whether the player is sent with JOIN; otherwise with BOTJOIN.
    pub(super) joined: bool,
    /// The team; `None` in games without teams.
    pub(super) team: Option<u8>,
    /// What the player plays as.
    pub(super) role: Option<RoleName>,
    /// Whether a new player is sent without a team.
    pub(super) unplaced: bool,
    /// Whether a player who is in the roster keeps their team there for now.
    pub(super) keep_team: bool,
}

impl RosterEntry {
    /// Updates an entry, which is `None` while the player is not in the daemon's roster. Returns the
    /// requests that do the same in the daemon. `free_id` turns the identity in the log into one that no
    /// other entry has.
    pub(super) fn update(
        entry: &mut Option<Self>,
        update: RosterUpdate,
        free_id: impl FnOnce(&str) -> String,
    ) -> Vec<Request> {
        let mut requests = Vec::new();
        if let Some(known) = entry {
            if update.plays && known.key == update.key && known.joined == update.joined {
                return known.change(update);
            }
            requests.push(known.leave());
            *entry = None;
        }
        if update.plays {
            let role = update.role;
            let mut new = Self {
                id: free_id(&update.key),
                key: update.key,
                name: update.name,
                joined: update.joined,
                team: update.team.filter(|_| !update.unplaced),
                placing: false,
                removed: false,
                role: None,
            };
            requests.push(new.join());
            requests.extend(new.play_as(role));
            *entry = Some(new);
        }
        requests
    }

    /// The player's identity in requests.
    pub(super) fn ident(&self) -> Ident {
        Ident::from_text(&self.id)
    }

    /// The request that removes this entry.
    pub(super) fn leave(&self) -> Request {
        match self.joined {
            true => Request::Leave {
                id: self.ident(),
                reason: match self.removed {
                    true => LeaveReason::Kicked,
                    false => LeaveReason::Left,
                },
            },
            false => Request::BotLeave(self.ident()),
        }
    }

    /// The request that adds this entry.
    fn join(&self) -> Request {
        if !self.joined {
            return Request::BotJoin {
                name: self.ident(),
                // In a game without teams, the daemon counts bots on the first team.
                team: self.team.unwrap_or(0),
            };
        }
        let mut join = Join::new(self.ident());
        join.name = Some(name_ident(&self.name));
        join.team = self.team;
        Request::Join(join)
    }

    /// Updates the name and the team. Returns the requests that do it.
    fn change(&mut self, update: RosterUpdate) -> Vec<Request> {
        let mut requests = Vec::new();
        if self.name != update.name {
            if self.joined {
                let mut join = Join::new(self.ident());
                join.name = Some(name_ident(&update.name));
                requests.push(Request::Join(join));
            }
            self.name = update.name;
        }
        if let Some(team) = update.team
            && self.team != Some(team)
            && !update.keep_team
            && !self.placing
        {
            self.team = Some(team);
            let id = self.ident();
            requests.push(match self.joined {
                true => Request::Move { id, team },
                false => Request::BotJoin { name: id, team },
            });
        }
        requests.extend(self.play_as(update.role));
        requests
    }

    /// The request that states another role. The daemon knows none of bots.
    fn play_as(&mut self, role: Option<RoleName>) -> Option<Request> {
        let is_news = self.joined && self.role != role;
        self.role = role.clone();
        let id = self.ident();
        is_news.then_some(Request::Role { id, role })
    }
}

/// Turns the identity in the log into one that is not `taken`, by a number after it. Two bots can have the
/// same name, and two humans the same identity.
fn free_id<'a>(key: &str, taken: impl Iterator<Item = &'a str> + Clone) -> String {
    let text = |key: &str| plain_ident(key).text().to_owned();
    let mut id = text(key);
    let mut copy = 1;
    while taken.clone().any(|other| other == id) {
        copy += 1;
        id = text(&format!("{key} ({copy})"));
    }
    id
}
