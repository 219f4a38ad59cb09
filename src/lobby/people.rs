//! Who comes, goes and changes sides: the roster, what the course is told of it, and what is
//! remembered of people.

use super::{
    Conduct, Lobby, LobbyError, Update,
    course::Who,
    roster::Human,
    state::{Game, exists},
};
use crate::domain::{Ident, Kind};

impl Lobby {
    /// A human takes part, or what is known of them changes.
    ///
    /// # Errors
    /// No game, no such team, no room.
    pub fn join(&mut self, id: &Ident, update: Update) -> Result<(), LobbyError> {
        if id.is_nobody() {
            return Err(LobbyError::Nobody);
        }
        let teams = self.teams;
        let game = self.game_mut()?;
        for team in update.team.into_iter().chain(update.pin.flatten()) {
            exists(team, teams)?;
        }
        let before = game.roster.find(id).map(|human| human.team);
        let team = update.team;
        game.roster.join(id, update)?;
        match before {
            // Those who come back are remembered to have been here.
            None if self.memory.of(id.text()).left.is_some() => {
                self.memory.entry(id.text()).conduct.returns += 1;
            }
            None => {}
            Some(from) => self.went(id, from, team.or(from)),
        }
        self.seat(id)
    }

    /// A human is gone.
    ///
    /// # Errors
    /// No game, or nobody of that id.
    pub fn leave(&mut self, id: &Ident) -> Result<(), LobbyError> {
        let now = self.now;
        let game = self.game_mut()?;
        let human = game.roster.find(id).ok_or(LobbyError::UnknownPlayer)?;
        let team = human.team;
        game.course.sit(&who(human), None, now);
        game.roster.leave(id)?;
        game.advised.retain(|(advised, _)| advised != id.text());
        self.memory.entry(id.text()).left = Some((team, now));
        Ok(())
    }

    /// A human is on this team now.
    ///
    /// # Errors
    /// No game, nobody of that id, no such team.
    pub fn move_to(&mut self, id: &Ident, team: u8) -> Result<(), LobbyError> {
        let teams = self.teams;
        let game = self.game_mut()?;
        exists(team, teams)?;
        let human = game.roster.find(id).ok_or(LobbyError::UnknownPlayer)?;
        let from = human.team;
        game.roster.move_to(id, team)?;
        self.went(id, from, Some(team));
        self.seat(id)
    }

    /// A human is not to be moved for so many milliseconds from now on, or until said otherwise.
    ///
    /// # Errors
    /// No game, or nobody of that id.
    pub fn protect(&mut self, id: &Ident, millis: Option<u64>) -> Result<(), LobbyError> {
        let now = self.now;
        let until = millis.map_or(u64::MAX, |millis| now.saturating_add(millis));
        self.game_mut()?.roster.protect(id, until)
    }

    /// A bot is on this team now.
    ///
    /// # Errors
    /// No game, no such team, no room.
    pub fn bot_join(&mut self, name: &Ident, team: u8) -> Result<(), LobbyError> {
        let (now, teams) = (self.now, self.teams);
        let game = self.game_mut()?;
        exists(team, teams)?;
        game.roster.bot_join(name, team)?;
        let seat = game.seat_of(Some(team));
        game.course.sit(&bot(name), seat, now);
        Ok(())
    }

    /// A bot is gone.
    ///
    /// # Errors
    /// No game, or no bot of that name.
    pub fn bot_leave(&mut self, name: &Ident) -> Result<(), LobbyError> {
        let now = self.now;
        let game = self.game_mut()?;
        game.roster.bot_leave(name)?;
        game.course.sit(&bot(name), None, now);
        Ok(())
    }

    /// Everyone is on these teams now: one per human, in JOIN order.
    ///
    /// # Errors
    /// No game, or a team that does not exist.
    pub fn assign(&mut self, team_of: &[u8]) -> Result<(), LobbyError> {
        let (now, teams) = (self.now, self.teams);
        let game = self.game_mut()?;
        team_of.iter().try_for_each(|&team| exists(team, teams))?;
        game.roster.assign(team_of);
        game.advised.clear();
        game.seat_all(now);
        Ok(())
    }

    /// What somebody did in this session that others should know.
    pub fn conduct(&self, id: &Ident) -> Conduct {
        self.memory.of(id.text()).conduct
    }

    /// A human went from one team to another. Whether they were sent or went by themselves is all
    /// the same to the game, not to what is remembered of them.
    fn went(&mut self, id: &Ident, from: Option<u8>, to: Option<u8>) {
        let (now, text) = (self.now, id.text());
        let (Some(game), Some(to)) = (&mut self.game, to) else {
            return;
        };
        if from == Some(to) {
            return;
        }
        let advice = game
            .advised
            .iter()
            .position(|(who, team)| who == text && *team == to);
        if let Some(advice) = advice {
            game.advised.swap_remove(advice);
            // Placing somebody for the first time is not moving them.
            if from.is_some() {
                self.memory.entry(text).moved_at = Some(now);
            }
        } else if from.is_some() && game.watch.stronger == Some(to) {
            let past = self.memory.entry(text);
            past.conduct.switches += 1;
            past.switched_at = Some(now);
        }
    }

    /// Tells the course where a human is.
    pub(super) fn seat(&mut self, id: &Ident) -> Result<(), LobbyError> {
        let now = self.now;
        let game = self.game_mut()?;
        let human = game.roster.find(id).ok_or(LobbyError::UnknownPlayer)?;
        let seat = game.seat_of(human.team);
        game.course.sit(&who(human), seat, now);
        Ok(())
    }
}

impl Game {
    /// The team that counts for the record: everybody's is 0 in a game without teams.
    fn seat_of(&self, team: Option<u8>) -> Option<u8> {
        if self.has_teams { team } else { Some(0) }
    }

    /// Tells the course where everybody is.
    pub(super) fn seat_all(&mut self, now: u64) {
        for human in self.roster.humans() {
            let seat = self.seat_of(human.team);
            self.course.sit(&who(human), seat, now);
        }
        for robot in self.roster.bots() {
            let seat = self.seat_of(Some(robot.team));
            self.course.sit(&bot(&robot.name), seat, now);
        }
    }
}

fn who(human: &Human) -> Who<'_> {
    Who {
        kind: Kind::Human,
        id: human.id.text(),
        name: human.name.as_deref(),
        party: human.party.as_deref(),
    }
}

fn bot(name: &Ident) -> Who<'_> {
    Who {
        kind: Kind::Bot,
        id: name.text(),
        name: None,
        party: None,
    }
}
