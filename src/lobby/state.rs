//! The state of one session's game, and the commands that change it.

use std::collections::BTreeMap;

use super::{
    BotPlan, Fill, Help, LobbyError, LobbySettings, Roster, Update,
    course::{Course, Who},
    memory::Memory,
    roster::Human,
};
use crate::domain::{Ident, Kind, MAX_TEAMS};

/// Mutators a game may name; hostile input ends here.
const MAX_MUTATORS: usize = 256;

/// The state of one session's game.
#[derive(Clone, Debug)]
pub struct Lobby {
    pub(super) settings: LobbySettings,
    /// Milliseconds of the session.
    pub(super) now: u64,
    pub(super) teams: u8,
    min_players: Option<u32>,
    pub(super) game: Option<Game>,
    /// Who was on which team when the last game gave way to this one.
    last_teams: BTreeMap<String, u8>,
    pub(super) memory: Memory,
}

/// What GAME forgets.
#[derive(Clone, Debug)]
pub struct Game {
    /// As the game server named it.
    pub game_type: String,
    /// As the game server named them, each once.
    pub mutators: Vec<String>,
    /// Whether it is played in teams.
    pub has_teams: bool,
    /// Whether the teams are the players' own affair, so that auto-balance leaves them alone.
    pub tournament: bool,
    /// The level.
    pub map: Option<String>,
    /// Who plays.
    pub roster: Roster,
    level: Option<(u32, u32)>,
    pub(super) course: Course,
    pub(super) watch: Watch,
    /// The help that ADVANTAGE last told of, and when.
    pub(super) help: Option<(Help, u64)>,
    /// Moves advised and not yet made: who, and where to.
    pub(super) advised: Vec<(String, u8)>,
}

/// What is known of the balance since weights were last looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Watch {
    /// The team that auto-balance finds too strong, and since when.
    pub(super) imbalance: Option<(u8, u64)>,
    /// The team that weighs the most, if one does.
    pub(super) stronger: Option<u8>,
}

impl Lobby {
    /// A lobby without a game, for two teams.
    pub fn new(settings: LobbySettings) -> Self {
        Self {
            settings,
            now: 0,
            teams: 2,
            min_players: None,
            game: None,
            last_teams: BTreeMap::new(),
            memory: Memory::default(),
        }
    }

    /// What is said next happens `now`: in milliseconds of the session, which never go back.
    pub fn at(&mut self, now: u64) -> &mut Self {
        self.now = self.now.max(now);
        self
    }

    /// A new game begins; mutators, map and roster of the last one are forgotten. The wishes of the
    /// session (teams, fewest players) stay, and so does who was on which team, so that the same
    /// teams are not chosen again and again. An unfinished game is lost here: ask
    /// [`abandoned`](Self::abandoned) for it first.
    pub fn begin(&mut self, game_type: &str, has_teams: bool) {
        if let Some(game) = &self.game {
            let placed = game.roster.humans().iter();
            let placed = placed.filter_map(|human| Some((human.id.text().to_owned(), human.team?)));
            self.last_teams = placed.collect();
        }
        self.memory.next_game();
        self.game = Some(Game {
            game_type: game_type.to_owned(),
            mutators: Vec::new(),
            has_teams,
            tournament: false,
            map: None,
            roster: Roster::new(self.settings.max_roster),
            level: None,
            course: Course::default(),
            watch: Watch::default(),
            help: None,
            advised: Vec::new(),
        });
    }

    /// The running game.
    ///
    /// # Errors
    /// There is none.
    pub fn game(&self) -> Result<&Game, LobbyError> {
        self.game.as_ref().ok_or(LobbyError::NoGame)
    }

    /// The team that somebody was on in the last game of this session, if it still exists.
    pub fn last_team(&self, id: &Ident) -> Option<u8> {
        let team = self.last_teams.get(id.text()).copied();
        team.filter(|&team| team < self.teams)
    }

    /// Number of teams.
    pub fn teams(&self) -> u8 {
        self.teams
    }

    /// Sets the number of teams, `2..=8`.
    ///
    /// # Errors
    /// A number out of range, or a player on a team that would be gone.
    pub fn set_teams(&mut self, teams: u8) -> Result<(), LobbyError> {
        if !(2..=MAX_TEAMS).contains(&usize::from(teams)) {
            return Err(LobbyError::BadTeams(teams));
        }
        let highest = self
            .game
            .as_ref()
            .and_then(|game| game.roster.highest_team());
        if highest.is_some_and(|team| team >= teams) {
            return Err(LobbyError::TeamInUse);
        }
        self.teams = teams;
        Ok(())
    }

    /// This session's wish for the number of players.
    pub fn set_min_players(&mut self, players: u32) {
        self.min_players = Some(players);
    }

    /// Whether the game's teams are the players' own affair.
    ///
    /// # Errors
    /// There is no game.
    pub fn set_tournament(&mut self, tournament: bool) -> Result<(), LobbyError> {
        self.game_mut()?.tournament = tournament;
        Ok(())
    }

    /// A mutator is active. Before a game there is nothing it could be active in.
    ///
    /// # Errors
    /// Too many of them.
    pub fn add_mutator(&mut self, name: &str) -> Result<(), LobbyError> {
        let Some(game) = &mut self.game else {
            return Ok(());
        };
        if game.mutators.iter().any(|known| known == name) {
            return Ok(());
        }
        if game.mutators.len() == MAX_MUTATORS {
            return Err(LobbyError::TooManyMutators);
        }
        game.mutators.push(name.to_owned());
        Ok(())
    }

    /// The level, and its recommended number of players.
    ///
    /// # Errors
    /// There is no game.
    pub fn set_map(&mut self, name: &str, level: Option<(u32, u32)>) -> Result<(), LobbyError> {
        let game = self.game_mut()?;
        game.map = Some(name.to_owned());
        game.level = level;
        Ok(())
    }

    /// A human takes part, or what is known of them changes.
    ///
    /// # Errors
    /// No game, no such team, no room.
    pub fn join(&mut self, id: &Ident, update: Update) -> Result<(), LobbyError> {
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

    /// How many players the game should have, and how many of them bots, per team.
    ///
    /// # Errors
    /// There is no game.
    pub fn bots(&self) -> Result<BotPlan, LobbyError> {
        let game = self.game()?;
        let fill = self.fill()?;
        Ok(if game.has_teams {
            fill.for_teams(&game.roster.sizes(self.teams), game.roster.unplaced())
        } else {
            fill.for_all(game.roster.humans().len())
        })
    }

    /// What decides about bots. [`Display`](std::fmt::Display) tells it in a line.
    ///
    /// # Errors
    /// There is no game.
    pub fn fill(&self) -> Result<Fill, LobbyError> {
        Ok(Fill {
            on: self.settings.bots,
            wish: self.wish(),
            level: self.level()?,
            min_humans: self.settings.min_humans,
        })
    }

    /// Players wished for, bots included, before the level's range.
    pub fn wish(&self) -> u32 {
        self.min_players.unwrap_or(self.settings.min_players)
    }

    /// Fewest and most players the level recommends, or the configured range.
    ///
    /// # Errors
    /// There is no game.
    pub fn level(&self) -> Result<(u32, u32), LobbyError> {
        Ok(self.game()?.level.unwrap_or(self.settings.level))
    }

    pub(super) fn game_mut(&mut self) -> Result<&mut Game, LobbyError> {
        self.game.as_mut().ok_or(LobbyError::NoGame)
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

pub(super) fn exists(team: u8, teams: u8) -> Result<(), LobbyError> {
    if team < teams {
        Ok(())
    } else {
        Err(LobbyError::NoSuchTeam(team))
    }
}

#[cfg(test)]
mod tests;
