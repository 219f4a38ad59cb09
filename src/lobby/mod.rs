//! One running game: what it is, who plays, and on which team.
//!
//! A lobby is told what happens and never finds anything out by itself: weights come in as numbers,
//! time and chance as arguments. A command that fails changes nothing. Entry point: [`Lobby`].

mod bots;
mod roster;

pub use bots::BotPlan;
pub use roster::{Bot, Human, Roster, Update};

use std::collections::BTreeMap;

use crate::domain::{Ident, MAX_TEAMS};

/// Mutators a game may name; hostile input ends here.
const MAX_MUTATORS: usize = 256;

/// What an admin decides about every lobby.
#[derive(Clone, Copy, Debug)]
pub struct LobbySettings {
    /// Most humans, and most bots, of one game.
    pub max_roster: usize,
    /// Players wished for in a game, bots included, where the session has no wish of its own.
    pub min_players: u32,
    /// Fewest and most players of a level that recommends none.
    pub level: (u32, u32),
}

/// Why a command changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LobbyError {
    /// There is no game yet.
    #[error("send GAME first")]
    NoGame,
    /// Nobody of that id or name takes part.
    #[error("not in the roster")]
    UnknownPlayer,
    /// No more room.
    #[error("the roster is full")]
    RosterFull,
    /// The game has fewer teams.
    #[error("there is no team {0}")]
    NoSuchTeam(u8),
    /// So many teams cannot be.
    #[error("the number of teams cannot be {0}")]
    BadTeams(u8),
    /// Somebody would be left on a team that is gone.
    #[error("a player is on a team that would not exist")]
    TeamInUse,
    /// Everyone plays for themselves.
    #[error("this game type has no teams")]
    NoTeams,
    /// Nobody's game has that many mutators.
    #[error("too many mutators")]
    TooManyMutators,
}

/// The state of one session's game.
#[derive(Clone, Debug)]
pub struct Lobby {
    settings: LobbySettings,
    teams: u8,
    min_players: Option<u32>,
    game: Option<Game>,
    /// Who was on which team when the last game gave way to this one.
    last_teams: BTreeMap<String, u8>,
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
    /// The level.
    pub map: Option<String>,
    /// Who plays.
    pub roster: Roster,
    level: Option<(u32, u32)>,
}

impl Lobby {
    /// A lobby without a game, for two teams.
    pub fn new(settings: LobbySettings) -> Self {
        Self {
            settings,
            teams: 2,
            min_players: None,
            game: None,
            last_teams: BTreeMap::new(),
        }
    }

    /// A new game begins; mutators, map and roster of the last one are forgotten. The wishes of the
    /// session (teams, fewest players) stay, and so does who was on which team, so that the same
    /// teams are not chosen again and again.
    pub fn begin(&mut self, game_type: &str, has_teams: bool) {
        if let Some(game) = &self.game {
            let placed = game.roster.humans().iter();
            let placed = placed.filter_map(|human| Some((human.id.text().to_owned(), human.team?)));
            self.last_teams = placed.collect();
        }
        self.game = Some(Game {
            game_type: game_type.to_owned(),
            mutators: Vec::new(),
            has_teams,
            map: None,
            roster: Roster::new(self.settings.max_roster),
            level: None,
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
        game.roster.join(id, update)
    }

    /// A human is gone.
    ///
    /// # Errors
    /// No game, or nobody of that id.
    pub fn leave(&mut self, id: &Ident) -> Result<(), LobbyError> {
        self.game_mut()?.roster.leave(id)
    }

    /// A human is on this team now.
    ///
    /// # Errors
    /// No game, nobody of that id, no such team.
    pub fn move_to(&mut self, id: &Ident, team: u8) -> Result<(), LobbyError> {
        let teams = self.teams;
        let game = self.game_mut()?;
        exists(team, teams)?;
        game.roster.move_to(id, team)
    }

    /// A bot is on this team now.
    ///
    /// # Errors
    /// No game, no such team, no room.
    pub fn bot_join(&mut self, name: &Ident, team: u8) -> Result<(), LobbyError> {
        let teams = self.teams;
        let game = self.game_mut()?;
        exists(team, teams)?;
        game.roster.bot_join(name, team)
    }

    /// A bot is gone.
    ///
    /// # Errors
    /// No game, or no bot of that name.
    pub fn bot_leave(&mut self, name: &Ident) -> Result<(), LobbyError> {
        self.game_mut()?.roster.bot_leave(name)
    }

    /// Everyone is on these teams now: one per human, in JOIN order.
    ///
    /// # Errors
    /// No game, or a team that does not exist.
    pub fn assign(&mut self, team_of: &[u8]) -> Result<(), LobbyError> {
        let teams = self.teams;
        let game = self.game_mut()?;
        team_of.iter().try_for_each(|&team| exists(team, teams))?;
        game.roster.assign(team_of);
        Ok(())
    }

    /// How many players the game should have, and how many of them bots, per team.
    ///
    /// # Errors
    /// There is no game.
    pub fn bots(&self) -> Result<BotPlan, LobbyError> {
        let game = self.game()?;
        let (min, max) = self.level()?;
        let wish = self.wish().clamp(min, max.max(min));
        Ok(if game.has_teams {
            BotPlan::for_teams(wish, &game.roster.sizes(self.teams), game.roster.unplaced())
        } else {
            BotPlan::for_all(wish, game.roster.humans().len())
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

    fn game_mut(&mut self) -> Result<&mut Game, LobbyError> {
        self.game.as_mut().ok_or(LobbyError::NoGame)
    }
}

fn exists(team: u8, teams: u8) -> Result<(), LobbyError> {
    if team < teams {
        Ok(())
    } else {
        Err(LobbyError::NoSuchTeam(team))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SETTINGS: LobbySettings = LobbySettings {
        max_roster: 4,
        min_players: 6,
        level: (0, 32),
    };

    fn lobby() -> Lobby {
        let mut lobby = Lobby::new(SETTINGS);
        lobby.begin("ctf", true);
        lobby
    }

    fn ident(text: &str) -> Ident {
        Ident::from_text(text)
    }

    #[test]
    fn without_a_game_nothing_can_happen_and_mutators_are_forgotten() {
        let mut lobby = Lobby::new(SETTINGS);
        assert_eq!(lobby.add_mutator("x"), Ok(()));
        assert_eq!(
            lobby.join(&ident("a"), Update::default()),
            Err(LobbyError::NoGame)
        );
        assert_eq!(lobby.bots().err(), Some(LobbyError::NoGame));
        lobby.begin("ctf", true);
        assert!(lobby.game().unwrap().mutators.is_empty());
    }

    #[test]
    fn a_new_game_forgets_the_roster_and_keeps_the_wishes() {
        let mut lobby = lobby();
        lobby.set_min_players(8);
        lobby.set_map("m", Some((2, 4))).unwrap();
        lobby
            .join(
                &ident("a"),
                Update {
                    team: Some(1),
                    ..Update::default()
                },
            )
            .unwrap();
        lobby.join(&ident("b"), Update::default()).unwrap();
        lobby.begin("ctf", true);
        assert!(lobby.game().unwrap().roster.humans().is_empty());
        assert_eq!(lobby.last_team(&ident("a")), Some(1));
        assert_eq!(lobby.last_team(&ident("b")), None);
        assert_eq!(lobby.level(), Ok((0, 32)));
        assert_eq!(lobby.wish(), 8);
    }

    #[test]
    fn a_command_that_fails_changes_nothing() {
        let mut lobby = lobby();
        for name in ["a", "b", "c", "d"] {
            lobby
                .join(
                    &ident(name),
                    Update {
                        team: Some(1),
                        ..Update::default()
                    },
                )
                .unwrap();
        }
        assert_eq!(
            lobby.join(&ident("e"), Update::default()),
            Err(LobbyError::RosterFull)
        );
        assert_eq!(
            lobby.move_to(&ident("a"), 2),
            Err(LobbyError::NoSuchTeam(2))
        );
        assert_eq!(
            lobby.move_to(&ident("x"), 0),
            Err(LobbyError::UnknownPlayer)
        );
        let wrong = Update {
            team: Some(0),
            pin: Some(Some(5)),
            ..Update::default()
        };
        assert_eq!(
            lobby.join(&ident("a"), wrong),
            Err(LobbyError::NoSuchTeam(5))
        );
        assert_eq!(lobby.game().unwrap().roster.sizes(2), [0, 4]);
        lobby.set_teams(4).unwrap();
        lobby.move_to(&ident("a"), 3).unwrap();
        assert_eq!(lobby.set_teams(2), Err(LobbyError::TeamInUse));
        assert_eq!(lobby.set_teams(9), Err(LobbyError::BadTeams(9)));
    }

    #[test]
    fn bots_fill_up_to_the_wish_within_the_level() {
        let mut lobby = lobby();
        lobby
            .join(
                &ident("a"),
                Update {
                    team: Some(0),
                    ..Update::default()
                },
            )
            .unwrap();
        assert_eq!(
            lobby.bots(),
            Ok(BotPlan {
                players: 6,
                per_team: vec![2, 3]
            })
        );
        lobby.set_map("m", Some((8, 12))).unwrap();
        assert_eq!(
            lobby.bots(),
            Ok(BotPlan {
                players: 8,
                per_team: vec![3, 4]
            })
        );
        lobby.begin("dm", false);
        lobby.join(&ident("a"), Update::default()).unwrap();
        lobby.set_map("m", Some((2, 5))).unwrap();
        assert_eq!(
            lobby.bots(),
            Ok(BotPlan {
                players: 5,
                per_team: vec![4]
            })
        );
    }

    proptest! {
        #[test]
        fn leave_after_join_restores(
            names in proptest::collection::vec("[abc]", 0..6), new in "[a-e]", team in proptest::option::of(0u8..2),
        ) {
            let mut lobby = lobby();
            for name in &names {
                lobby.join(&ident(name), Update::default()).unwrap();
            }
            let before = lobby.game().unwrap().roster.clone();
            prop_assume!(before.find(&ident(&new)).is_none());
            if lobby.join(&ident(&new), Update { team, ..Update::default() }).is_ok() {
                lobby.leave(&ident(&new)).unwrap();
            }
            prop_assert_eq!(&lobby.game().unwrap().roster, &before);
        }
    }
}
