//! The state of one session's game, and the commands that say what it is.

use std::collections::BTreeMap;

use super::{
    BotPlan, Fill, Help, LobbyError, LobbySettings, Roster, course::Course, memory::Memory,
};
use crate::domain::{Ident, MAX_TEAMS};

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
