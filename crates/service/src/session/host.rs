//! The game of a hosted match: what the daemon puts into the session of an instance.

use serde::{Deserialize, Serialize};

use super::{Session, SessionError};
use crate::{
    lobby::{Command, Update},
    model::ident::Ident,
};

/// The text between the name of a game server and the id of the match in the name of a session.
const MATCH: &str = " match=";

/// The name of a session: that of the game server, and the match that the connection hosts.
pub(super) fn session_name(server: &str, hosts: Option<i64>) -> String {
    match hosts {
        Some(id) => format!("{server}{MATCH}{id}"),
        None => server.to_owned(),
    }
}

/// The name of the game server in the name of a session.
pub(super) fn server_name(session: &str) -> &str {
    match session.rsplit_once(MATCH) {
        Some((server, id)) if !id.is_empty() && id.bytes().all(|b| b.is_ascii_digit()) => server,
        _ => session,
    }
}

/// The game of a hosted match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostedGame {
    /// The game type, and the gameplay mutators with which it is played.
    pub ruleset: String,
    /// The map, if the match has one.
    pub map: Option<String>,
    /// Number of teams.
    pub teams: u8,
    /// The players, each with a team and a party.
    pub humans: Vec<(String, u8, Option<String>)>,
    /// Why the teams are like this, one sentence each.
    pub reasons: Vec<String>,
}

impl Session {
    /// Begins the game of a hosted match, with its players on their teams and with this number, which is one of
    /// [`draw_game`](super::draw_game). A running game is given up.
    ///
    /// # Errors
    /// Fails if the lobby refuses a player or the number of teams; a running game is given up all the
    /// same.
    pub fn host(&mut self, game: &HostedGame, number: i64) -> Result<(), SessionError> {
        self.state.next_game = Some(number);
        let mut names = game.ruleset.split('+');
        let game_type = Ident::from_text(names.next().unwrap_or_default());
        let new = self.new_game(&game_type);
        let has_teams = matches!(&new, Command::Game(new) if new.has_teams);
        self.apply(&new)?;
        self.apply(&Command::Host)?;
        for name in names.map(str::to_owned) {
            self.apply(&Command::Mutator { name })?;
        }
        if let Some(name) = game.map.clone() {
            let players = None;
            self.apply(&Command::Map { name, players })?;
        }
        if has_teams {
            self.apply(&Command::Teams { teams: game.teams })?;
        }
        for (player, team, party) in &game.humans {
            let update = Update {
                name: None,
                party: party.clone(),
                team: has_teams.then_some(*team),
                pin: None,
                avoid: None,
                wish: None,
            };
            let id = Ident::from_text(player);
            self.apply(&Command::Join { id, update })?;
        }
        self.state.give_reasons(game.reasons.clone());
        tracing::info!(players = game.humans.len(), "the game of a hosted match");
        Ok(())
    }

    /// A team's score in play; `None` before the first SCORE of play, and for a team that does not exist.
    pub fn score(&mut self, team: u8) -> Option<f64> {
        let lobby = self.lobby();
        let scores = lobby.has_scored().then(|| lobby.scores())?;
        scores.get(usize::from(team)).copied()
    }

    /// The humans of this session's game and their teams, once play has begun.
    pub fn players(&self) -> Option<Vec<(String, Option<u8>)>> {
        let lobby = &self.state.lobby;
        let game = lobby.game().ok().filter(|_| lobby.is_running())?;
        let humans = game.roster.humans().iter();
        Some(
            humans
                .map(|human| (human.id.text().to_owned(), human.team))
                .collect(),
        )
    }

    /// The number of this session's game, if it has one. Does not continue a parked game.
    pub fn game_number(&self) -> Option<i64> {
        let game = self.state.game;
        self.state.lobby.game().is_ok().then_some(game)
    }

    /// The number of this session's game, after it has continued a parked one.
    pub fn resumed_game_number(&mut self) -> Option<i64> {
        self.lobby();
        self.game_number()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_session_contains_that_of_its_server() {
        assert_eq!(session_name("ctf 1", None), "ctf 1");
        let name = session_name("ctf 1", Some(17));
        assert_eq!(server_name(&name), "ctf 1");
        for own in ["ctf 1", "ctf match=", "ctf match=x", "match=7"] {
            assert_eq!(server_name(own), own);
        }
    }
}
