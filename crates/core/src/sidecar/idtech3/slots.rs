//! The players by client number, and what the daemon has been sent about them.

use super::Settings;
use crate::{
    domain::{Kind, PlayerKey},
    ingest::idtech3::{
        clients::{Client, ClientTeam},
        grammar::pairs,
    },
    protocol::Request,
    sidecar::entry::{RosterEntry, RosterUpdate, free_id},
};

/// The skill of a bot whose log line contains none: the middle of the game's scale from 1 to 5.
const DEFAULT_SKILL: f64 = 3.0;

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
    pub(super) fn entries(&self) -> impl Iterator<Item = (usize, &Slot, &RosterEntry)> + Clone {
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

    /// Seats the player on a client number under an identity and on a team that the daemon has chosen.
    /// Returns the requests that report the player.
    pub(super) fn seat(&mut self, number: usize, id: &str, team: u8) -> Vec<Request> {
        let update = RosterUpdate {
            key: id.to_owned(),
            name: self.slot(number).client.name(),
            plays: true,
            joined: true,
            team: Some(team),
            unplaced: false,
            keep_team: true,
        };
        let mut entry = None;
        let requests = RosterEntry::update(&mut entry, update, |id| id.to_owned());
        self.slot(number).entry = entry;
        requests
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
        let Some(slot) = self.slots.get_mut(number) else {
            return Vec::new();
        };
        let PlayerKey { kind, id } = slot.client.identity().key;
        let update = RosterUpdate {
            key: id,
            name: slot.client.name(),
            plays: slot.plays(teams),
            joined: kind == Kind::Human || settings.bots_as_players,
            team: if teams { slot.team() } else { None },
            unplaced,
            keep_team: false,
        };
        let mut entry = slot.entry.take();
        let taken = self.entries().map(|(_, _, entry)| entry.id.as_str());
        let requests = RosterEntry::update(&mut entry, update, |key| free_id(key, taken));
        self.slot(number).entry = entry;
        requests
    }
}
