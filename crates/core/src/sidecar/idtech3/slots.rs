//! The players by client number, as the log describes them.

use crate::{
    domain::Kind,
    ingest::idtech3::{
        clients::{Client, ClientTeam},
        grammar::{Event, pairs},
    },
};

/// The skill of a bot whose log line contains none: the middle of the game's scale from 1 to 5.
const DEFAULT_SKILL: f64 = 3.0;

/// The player on one client number.
#[derive(Clone, Debug, Default)]
pub(super) struct Slot {
    pub(super) client: Client,
    /// A bot's skill, if the log contains it.
    skill: Option<f64>,
}

impl Slot {
    /// Handles the text of a `ClientUserinfoChanged` line.
    fn changed(&mut self, info: &[u8]) {
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

    /// Whether the client plays, if the game has no teams.
    pub(super) fn is_free(&self) -> bool {
        self.client.team == ClientTeam::Free && self.client.begun
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
    fn slot(&mut self, number: usize) -> &mut Slot {
        if number >= self.slots.len() {
            self.slots.resize_with(number + 1, Slot::default);
        }
        &mut self.slots[number]
    }

    /// Takes what an event states of a client, and returns the client number. `None` for other events, and for a
    /// client's departure.
    pub(super) fn take(&mut self, event: &Event<'_>) -> Option<usize> {
        match *event {
            Event::Connect(number) => {
                self.slot(number).client.begun = false;
                Some(number)
            }
            Event::Begin(number) => {
                self.slot(number).client.begun = true;
                Some(number)
            }
            Event::Userinfo(number, info) => {
                self.slot(number).client.userinfo(info);
                Some(number)
            }
            Event::Changed(number, info) => {
                self.slot(number).changed(info);
                Some(number)
            }
            _ => None,
        }
    }

    /// Empties a slot.
    pub(super) fn remove(&mut self, number: usize) {
        *self.slot(number) = Slot::default();
    }

    /// The team on which a client plays.
    pub(super) fn team(&self, number: usize) -> Option<u8> {
        self.get(number)?.team()
    }
}
