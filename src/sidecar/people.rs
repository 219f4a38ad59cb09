//! Who is on the game server, and what the daemon has heard of them.

use super::{Settings, words::name, words::word};
use crate::{
    domain::Kind,
    ingest::idtech3::{
        clients::{Client, ClientTeam},
        grammar::pairs,
    },
};

/// What the daemon knows somebody as.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Known {
    /// The identity as one word of a line.
    pub(super) id: String,
    /// The identity the log has, which two clients may share.
    key: String,
    name: String,
    /// Whether it was JOIN, and not BOTJOIN.
    pub(super) joined: bool,
    /// The team told last.
    pub(super) team: Option<u8>,
}

/// One client number.
#[derive(Clone, Debug, Default)]
pub(super) struct Person {
    pub(super) client: Client,
    /// A bot's skill, as the log writes it.
    skill: Option<f64>,
    pub(super) known: Option<Known>,
}

impl Person {
    /// Takes `ClientUserinfoChanged`.
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

    /// A bot's skill; the middling one where the log has none.
    pub(super) fn skill(&self) -> f64 {
        self.skill.unwrap_or(3.0)
    }

    /// The team somebody is on who plays in one.
    pub(super) fn team(&self) -> Option<u8> {
        match self.client.team {
            ClientTeam::Team(team) if self.client.begun => Some(team),
            _ => None,
        }
    }

    /// Whether they take part in a game with or without teams.
    fn plays(&self, teams: bool) -> bool {
        let free = self.client.team == ClientTeam::Free && self.client.begun;
        if teams {
            self.team().is_some()
        } else {
            free || self.team().is_some()
        }
    }
}

/// All clients, by number.
#[derive(Debug, Default)]
pub(super) struct People {
    clients: Vec<Person>,
}

impl People {
    /// One more than the largest client number.
    pub(super) fn len(&self) -> usize {
        self.clients.len()
    }

    pub(super) fn get(&self, number: usize) -> Option<&Person> {
        self.clients.get(number)
    }

    /// The client of this number, which the grammar has bounded.
    pub(super) fn client(&mut self, number: usize) -> &mut Person {
        if number >= self.clients.len() {
            self.clients.resize_with(number + 1, Person::default);
        }
        &mut self.clients[number]
    }

    /// Everybody the daemon has heard of, with their numbers.
    pub(super) fn known(&self) -> impl Iterator<Item = (usize, &Person, &Known)> {
        let clients = self.clients.iter().enumerate();
        clients.filter_map(|(number, person)| Some((number, person, person.known.as_ref()?)))
    }

    pub(super) fn known_mut(&mut self) -> impl Iterator<Item = &mut Known> {
        self.clients
            .iter_mut()
            .filter_map(|person| person.known.as_mut())
    }

    /// The daemon has forgotten everybody.
    pub(super) fn forget_known(&mut self) {
        for person in &mut self.clients {
            person.known = None;
        }
    }

    /// The client of this number is gone; what the daemon knew is returned.
    pub(super) fn remove(&mut self, number: usize) -> Option<Known> {
        let person = self.client(number);
        std::mem::take(person).known
    }

    /// What has to be said so that the daemon knows this client as they are now. With `unplaced`, a
    /// newcomer is told without the team they are on.
    pub(super) fn tell(
        &mut self,
        number: usize,
        teams: bool,
        settings: &Settings,
        unplaced: bool,
    ) -> Vec<String> {
        let mut said = Vec::new();
        let Some(person) = self.clients.get(number) else {
            return said;
        };
        let who = person.client.identity();
        let joined = who.key.kind == Kind::Human || settings.bots_as_players;
        // A game without teams has one for its bots: the first.
        let team = if teams { person.team() } else { None };
        let plays = person.plays(teams);
        let called = person.client.name();
        if let Some(known) = &person.known {
            if plays && known.key == who.key.id && known.joined == joined {
                return self.update(number, called, team);
            }
            said.push(leave(known));
            self.client(number).known = None;
        }
        if !plays {
            return said;
        }
        let id = self.free_id(&who.key.id);
        let told = team.filter(|_| !unplaced);
        said.push(match (joined, told) {
            (true, Some(team)) => format!("JOIN {id} name={} team={team}", name(&called)),
            (true, None) => format!("JOIN {id} name={}", name(&called)),
            (false, team) => format!("BOTJOIN {id} {}", team.unwrap_or(0)),
        });
        self.client(number).known = Some(Known {
            id,
            key: who.key.id,
            name: called,
            joined,
            team: told,
        });
        said
    }

    /// The same person as before, perhaps with another name or on another team.
    fn update(&mut self, number: usize, called: String, team: Option<u8>) -> Vec<String> {
        let mut said = Vec::new();
        let Some(known) = &mut self.client(number).known else {
            return said;
        };
        let id = known.id.clone();
        if known.name != called {
            if known.joined {
                said.push(format!("JOIN {id} name={}", name(&called)));
            }
            known.name = called;
        }
        if let Some(team) = team
            && known.team != Some(team)
        {
            known.team = Some(team);
            let verb = if known.joined { "MOVE" } else { "BOTJOIN" };
            said.push(format!("{verb} {id} {team}"));
        }
        said
    }

    /// The identity as a word that nobody else has: two bots may share a name, two humans an identity.
    fn free_id(&self, key: &str) -> String {
        let mut id = word(key);
        let mut copy = 1;
        while self.known().any(|(_, _, known)| known.id == id) {
            copy += 1;
            id = word(&format!("{key} ({copy})"));
        }
        id
    }
}

/// How the daemon hears that somebody is gone.
pub(super) fn leave(known: &Known) -> String {
    let verb = if known.joined { "LEAVE" } else { "BOTLEAVE" };
    format!("{verb} {}", known.id)
}
