//! The humans and bots in a running game, in the order in which they joined.

use serde::{Deserialize, Serialize};

use super::{LobbyError, Update};
use evenkeel_model::{ident::Ident, team_names::RoleName};

/// A human in the running game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Human {
    /// The identity that the game server sent.
    pub id: Ident,
    /// Their current name, if JOIN stated one.
    pub name: Option<String>,
    /// The party that they came with.
    pub party: Option<String>,
    /// The team that they are on; `None` until one is chosen.
    pub team: Option<u8>,
    /// The team that they must be on.
    pub pin: Option<u8>,
    /// Their role, such as commander.
    pub role: Option<RoleName>,
    /// Ids of the humans they want to avoid, in the game or not.
    pub avoid: Vec<String>,
    /// The team on which they would like to be, which may not exist any more.
    pub wish: Option<u8>,
    /// The millisecond of the session until which decisions leave them on their team; `u64::MAX`
    /// for the whole game.
    pub protected_until: u64,
}

/// A bot in the running game.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bot {
    /// The name that the game server sent.
    pub name: Ident,
    /// The team that the bot is on, counted from 0.
    pub team: u8,
}

/// The humans and bots in a running game. Look-ups are linear, because a game has few players.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Roster {
    room: usize,
    humans: Vec<Human>,
    bots: Vec<Bot>,
}

impl Roster {
    pub(super) fn new(room: usize) -> Self {
        Self {
            room,
            humans: Vec::new(),
            bots: Vec::new(),
        }
    }

    /// The roster with room for `room` humans and as many bots.
    pub(super) fn with_room(mut self, room: usize) -> Self {
        self.room = room;
        self
    }

    /// The humans in JOIN order.
    pub fn humans(&self) -> &[Human] {
        &self.humans
    }

    /// The bots in BOTJOIN order.
    pub fn bots(&self) -> &[Bot] {
        &self.bots
    }

    /// The human with this id.
    pub fn find(&self, id: &Ident) -> Option<&Human> {
        self.humans.iter().find(|human| human.id == *id)
    }

    /// The human with this id.
    ///
    /// # Errors
    /// Fails if there is none.
    pub(super) fn human(&self, id: &Ident) -> Result<&Human, LobbyError> {
        self.find(id).ok_or(LobbyError::UnknownPlayer)
    }

    /// The human with this id, to change them.
    ///
    /// # Errors
    /// Fails if there is none.
    pub(super) fn human_mut(&mut self, id: &Ident) -> Result<&mut Human, LobbyError> {
        let human = self.humans.iter_mut().find(|human| human.id == *id);
        human.ok_or(LobbyError::UnknownPlayer)
    }

    /// A number for a human's party, which only its members in the roster share; `None` without a party.
    pub(super) fn party_number(&self, human: &Human) -> Option<u32> {
        let party = human.party.as_ref()?;
        let first = self
            .humans
            .iter()
            .position(|h| h.party.as_ref() == Some(party))?;
        u32::try_from(first).ok()
    }

    /// Number of humans on each team.
    pub fn sizes(&self, teams: u8) -> Vec<usize> {
        let on = |team| {
            self.humans
                .iter()
                .filter(|human| human.team == Some(team))
                .count()
        };
        (0..teams).map(on).collect()
    }

    /// Number of humans without a team.
    pub fn unplaced(&self) -> usize {
        self.humans
            .iter()
            .filter(|human| human.team.is_none())
            .count()
    }

    /// The highest team that a player is on or pinned to.
    pub(super) fn highest_team(&self) -> Option<u8> {
        let humans = self
            .humans
            .iter()
            .flat_map(|human| human.team.into_iter().chain(human.pin));
        humans.chain(self.bots.iter().map(|bot| bot.team)).max()
    }

    /// Takes everybody off the teams from this one on: humans are on no team then, and bots leave.
    pub(super) fn give_up_teams(&mut self, from: u8) {
        let stays = |team: &u8| *team < from;
        for human in &mut self.humans {
            human.team = human.team.filter(stays);
            human.pin = human.pin.filter(stays);
        }
        self.bots.retain(|bot| stays(&bot.team));
    }

    /// The human who has to go so that another one finds room: this game is over, and who joined first has most likely left.
    pub(super) fn first_in_the_way(&self, of: &Ident) -> Option<Ident> {
        let is_full = self.humans.len() >= self.room && self.find(of).is_none();
        self.humans
            .first()
            .filter(|_| is_full)
            .map(|human| human.id.clone())
    }

    /// The same for bots.
    pub(super) fn first_bot_in_the_way(&self, of: &Ident) -> Option<Ident> {
        let is_there = self.bots.iter().any(|bot| bot.name == *of);
        let is_full = self.bots.len() >= self.room && !is_there;
        self.bots
            .first()
            .filter(|_| is_full)
            .map(|bot| bot.name.clone())
    }

    pub(super) fn join(&mut self, id: &Ident, update: &Update) -> Result<(), LobbyError> {
        let at = match self.humans.iter().position(|human| human.id == *id) {
            Some(at) => at,
            None if self.humans.len() >= self.room => return Err(LobbyError::RosterFull),
            None => {
                self.humans.push(Human {
                    id: id.clone(),
                    name: None,
                    party: None,
                    team: None,
                    pin: None,
                    role: None,
                    avoid: Vec::new(),
                    wish: None,
                    protected_until: 0,
                });
                self.humans.len() - 1
            }
        };
        let human = &mut self.humans[at];
        if let Some(name) = &update.name {
            human.name = Some(name.clone());
        }
        human.team = update.team.or(human.team);
        human.pin = update.pin.unwrap_or(human.pin);
        if let Some(party) = &update.party {
            human.party = Some(party.clone()).filter(|party| !party.is_empty());
        }
        if let Some(avoid) = &update.avoid {
            human.avoid.clone_from(avoid);
        }
        Ok(())
    }

    pub(super) fn leave(&mut self, id: &Ident) -> Result<(), LobbyError> {
        let at = self.humans.iter().position(|human| human.id == *id);
        self.humans.remove(at.ok_or(LobbyError::UnknownPlayer)?);
        Ok(())
    }

    pub(super) fn bot_join(&mut self, name: &Ident, team: u8) -> Result<(), LobbyError> {
        if let Some(bot) = self.bots.iter_mut().find(|bot| bot.name == *name) {
            bot.team = team;
            return Ok(());
        }
        if self.bots.len() >= self.room {
            return Err(LobbyError::RosterFull);
        }
        self.bots.push(Bot {
            name: name.clone(),
            team,
        });
        Ok(())
    }

    pub(super) fn bot_leave(&mut self, name: &Ident) -> Result<(), LobbyError> {
        let at = self.bots.iter().position(|bot| bot.name == *name);
        self.bots.remove(at.ok_or(LobbyError::UnknownPlayer)?);
        Ok(())
    }

    /// The humans who are on no team yet.
    pub(super) fn unplaced_mut(&mut self) -> impl Iterator<Item = &mut Human> {
        self.humans.iter_mut().filter(|human| human.team.is_none())
    }

    pub(super) fn assign(&mut self, team_of: &[u8]) {
        for (human, &team) in self.humans.iter_mut().zip(team_of) {
            human.team = Some(team);
        }
    }
}
