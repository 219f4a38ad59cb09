//! The players by client number, and what the daemon has been sent about them.

use super::Settings;
use crate::{
    domain::{Ident, Kind, LeaveReason},
    ingest::idtech3::{
        clients::{Client, ClientTeam},
        grammar::pairs,
    },
    protocol::{Join, Request},
    sidecar::link::{name_ident, plain_ident},
};

/// The skill of a bot whose log line contains none: the middle of the game's scale from 1 to 5.
const DEFAULT_SKILL: f64 = 3.0;

/// A player in the daemon's roster.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RosterEntry {
    /// The identity in the daemon's roster; no two entries share one.
    pub(super) id: String,
    /// The identity in the log, which two clients can share.
    key: String,
    name: String,
    /// Whether the player was sent with JOIN; otherwise with BOTJOIN.
    pub(super) joined: bool,
    /// The team that was last received from the daemon, or sent to it.
    pub(super) team: Option<u8>,
    /// Whether the daemon has been asked for the team, and has not replied yet. Until then it is
    /// not sent the actual team, which would replace its choice.
    pub(super) placing: bool,
}

impl RosterEntry {
    pub(super) fn ident(&self) -> Ident {
        Ident::from_text(&self.id)
    }

    /// The request that removes this entry.
    pub(super) fn leave(&self) -> Request {
        match self.joined {
            true => Request::Leave {
                id: self.ident(),
                reason: LeaveReason::Left,
            },
            false => Request::BotLeave(self.ident()),
        }
    }
}

/// The player on one client number.
#[derive(Clone, Debug, Default)]
pub(super) struct Slot {
    pub(super) client: Client,
    /// A bot's skill, if the log contains it.
    skill: Option<f64>,
    pub(super) entry: Option<RosterEntry>,
}

impl Slot {
    /// Handles the text of a `ClientUserinfoChanged` line.
    pub(super) fn changed(&mut self, info: &[u8]) {
        self.client.changed(info);
        let skill = pairs(info).find(|(key, _)| key == b"skill");
        let skill =
            skill.and_then(|(_, value)| std::str::from_utf8(value).ok()?.trim().parse().ok());
        self.skill = skill.filter(|skill: &f64| (0.0..=100.0).contains(skill));
    }

    pub(super) fn is_bot(&self) -> bool {
        self.client.identity().key.kind == Kind::Bot
    }

    pub(super) fn skill(&self) -> f64 {
        self.skill.unwrap_or(DEFAULT_SKILL)
    }

    /// The team that the client plays on; `None` for spectators and in games without teams.
    pub(super) fn team(&self) -> Option<u8> {
        match self.client.team {
            ClientTeam::Team(team) if self.client.begun => Some(team),
            _ => None,
        }
    }

    /// Whether the client plays: on a team, or in a game without teams.
    fn plays(&self, teams: bool) -> bool {
        let free = self.client.team == ClientTeam::Free && self.client.begun;
        self.team().is_some() || (free && !teams)
    }
}

/// The slots of all client numbers.
#[derive(Debug, Default)]
pub(super) struct Slots {
    slots: Vec<Slot>,
}

impl Slots {
    /// The largest client number plus one.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn get(&self, number: usize) -> Option<&Slot> {
        self.slots.get(number)
    }

    /// The slot of this client number, which the parser of the log bounds; creates it if needed.
    pub(super) fn slot(&mut self, number: usize) -> &mut Slot {
        if number >= self.slots.len() {
            self.slots.resize_with(number + 1, Slot::default);
        }
        &mut self.slots[number]
    }

    /// The entry of this client number in the daemon's roster.
    pub(super) fn entry(&self, number: usize) -> Option<&RosterEntry> {
        self.get(number)?.entry.as_ref()
    }

    /// All entries of the daemon's roster, with client numbers.
    pub(super) fn entries(&self) -> impl Iterator<Item = (usize, &Slot, &RosterEntry)> {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(|(number, slot)| Some((number, slot, slot.entry.as_ref()?)))
    }

    pub(super) fn entries_mut(&mut self) -> impl Iterator<Item = &mut RosterEntry> {
        self.slots.iter_mut().filter_map(|slot| slot.entry.as_mut())
    }

    /// Drops all entries, because the daemon's roster is empty.
    pub(super) fn forget_entries(&mut self) {
        for slot in &mut self.slots {
            slot.entry = None;
        }
    }

    /// Empties a slot. Returns its entry in the daemon's roster.
    pub(super) fn remove(&mut self, number: usize) -> Option<RosterEntry> {
        std::mem::take(self.slot(number)).entry
    }

    /// Updates the daemon's roster for a slot. Returns the requests that do it. With `unplaced`, a
    /// new player is sent without a team.
    pub(super) fn update(
        &mut self,
        number: usize,
        teams: bool,
        settings: &Settings,
        unplaced: bool,
    ) -> Vec<Request> {
        let mut requests = Vec::new();
        let Some(slot) = self.slots.get(number) else {
            return requests;
        };
        let key = slot.client.identity().key;
        let joined = key.kind == Kind::Human || settings.bots_as_players;
        let team = if teams { slot.team() } else { None };
        let plays = slot.plays(teams);
        let name = slot.client.name();
        if let Some(entry) = &slot.entry {
            if plays && entry.key == key.id && entry.joined == joined {
                return self.update_entry(number, name, team);
            }
            requests.push(entry.leave());
            self.slot(number).entry = None;
        }
        if !plays {
            return requests;
        }
        let entry = RosterEntry {
            id: self.free_id(&key.id),
            key: key.id,
            name,
            joined,
            team: team.filter(|_| !unplaced),
            placing: false,
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
        self.slot(number).entry = Some(entry);
        requests
    }

    /// Like [`update`](Self::update), for a player who is in the roster, perhaps with another name
    /// or team.
    fn update_entry(&mut self, number: usize, name: String, team: Option<u8>) -> Vec<Request> {
        let mut requests = Vec::new();
        let Some(entry) = &mut self.slot(number).entry else {
            return requests;
        };
        if entry.name != name {
            if entry.joined {
                let mut join = Join::new(entry.ident());
                join.name = Some(name_ident(&name));
                requests.push(Request::Join(join));
            }
            entry.name = name;
        }
        if let Some(team) = team
            && entry.team != Some(team)
            && !entry.placing
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

    /// An identity that no other entry has. Two bots can share a name, and two humans an identity.
    fn free_id(&self, key: &str) -> String {
        let text = |key: &str| plain_ident(key).text().to_owned();
        let mut id = text(key);
        let mut copy = 1;
        while self.entries().any(|(_, _, entry)| entry.id == id) {
            copy += 1;
            id = text(&format!("{key} ({copy})"));
        }
        id
    }
}
