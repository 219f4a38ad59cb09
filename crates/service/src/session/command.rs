//! The commands that change the game of a session: those of its game server, and of a hosted match what the daemon puts into
//! the session of its instance.

use serde::{Deserialize, Serialize};

use super::{Session, SessionError};
use crate::{
    lobby::{Command, NewGame, Update, journal::Entry, roster::Human},
    model::{ident::Ident, names::name_of_id},
    partition::view::Conduct,
};

impl Session {
    /// Notes whether this game server adds and removes bots as it is asked to, as HELLO states it.
    ///
    /// # Errors
    /// Fails if the lobby refuses the command, which no version does so far.
    pub fn declare_bots(&mut self, acts: bool) -> Result<(), SessionError> {
        let declared = Command::DeclareBots { acts };
        Ok(self.state.apply(&declared, &*self.sessions.clock)?)
    }

    /// Notes that this game server asks about bots. It is then expected to act on the answers.
    pub(super) fn show_bots(&mut self) -> Result<(), SessionError> {
        if self.lobby().game().is_ok() && !self.state.lobby.bot_use().shown {
            self.state
                .apply(&Command::ShowBots, &*self.sessions.clock)?;
        }
        Ok(())
    }

    /// The command with which GAME begins a game of this type, as the rulebook describes it.
    pub fn new_game(&self, game_type: &Ident) -> Command {
        let rulebook = self.sessions.rulebook();
        let name = rulebook.game_type(game_type.text());
        Command::Game(NewGame {
            game_type: game_type.text().to_owned(),
            canonical_type: rulebook.bare_type(game_type.text()),
            has_teams: rulebook.is_team_game(game_type.text()),
            tournament: self.sessions.rules.get().tournament.matches(&name),
        })
    }

    /// Applies a command now. A new game records a running one as abandoned; after a change of who
    /// is on which team, auto-balance assesses the teams.
    ///
    /// # Errors
    /// Any [`LobbyError`](crate::lobby::LobbyError); nothing changes then.
    pub fn apply(&mut self, command: &Command) -> Result<(), SessionError> {
        match command {
            Command::Game(_) => {
                self.give_up_running();
                self.state.begin_game();
            }
            Command::Start => self.advance_before(),
            _ => {}
        }
        let judged = command.judged();
        let before = judged.map(|id| (id, self.lobby().conduct(id)));
        // This resumes a parked game; the time is then counted in that game's milliseconds.
        self.lobby();
        if let Command::Game(_) = command
            && self.state.set_rules(self.sessions.rules.get())
            && !std::mem::take(&mut self.state.had_arm)
        {
            tracing::info!("this game has the settings of the configuration that was read again");
        }
        let named = self.named_by_id(command);
        let command = named.as_ref().unwrap_or(command);
        let clock = self.sessions.clock.clone();
        self.state.apply(command, &*clock)?;
        if let Some((id, before)) = before {
            self.notice(id, before);
        }
        match command {
            Command::Game(_) => self.state.note(&Entry::Number(self.state.game)),
            Command::Mutator { .. } => self.state.forget_ruleset(),
            Command::Start => {
                let passed = i64::try_from(self.state.millis(&*clock)).unwrap_or(i64::MAX);
                self.state.begin_play(clock.now().plus_millis(-passed));
                self.follow_teams(false)?;
            }
            Command::Score { .. } => self.look_for_streak(),
            command if command.changes_teams() => self.follow_teams(true)?,
            _ => {}
        }
        Ok(())
    }

    /// Notes whether the ids of players that this game server sends are their names. Those of a configured client are not,
    /// unless the operator says so.
    pub fn ids_are_names(&mut self, are_names: bool) {
        self.ids_are_names = are_names;
    }

    /// The JOIN of a human who comes without a name, with the id as the name where it is one.
    fn named_by_id(&self, command: &Command) -> Option<Command> {
        let Command::Join { id, update } = command else {
            return None;
        };
        let game = self.state.lobby.game().ok()?;
        let is_named = |human: &Human| human.name.is_some();
        if !self.ids_are_names
            || update.name.is_some()
            || game.roster.find(id).is_some_and(is_named)
        {
            return None;
        }
        let name = Some(name_of_id(id.text()).to_owned()).filter(|name| !name.is_empty())?;
        let (id, mut update) = (id.clone(), update.clone());
        update.name = Some(name);
        Some(Command::Join { id, update })
    }

    /// Notes the chances of the teams that play now, and if teams `changed`, their difference in strength. Does
    /// nothing while weights that it needs are being derived.
    fn follow_teams(&mut self, changed: bool) -> Result<(), SessionError> {
        if self.aside.is_some() {
            return Ok(()); // nobody plays
        }
        let weights = match self.weights() {
            Err(SessionError::NotReady) => return Ok(()),
            weights => weights?,
        };
        let lobby = self.lobby();
        let mut events = Vec::new();
        if changed {
            lobby.watch(&weights);
            events = lobby.review_offer(&weights);
        }
        lobby.note_chances(&weights);
        self.note_offer(events);
        Ok(())
    }

    /// Logs that a human may exploit the balancing: at the first change of a count, at the second,
    /// at the fourth, and so on.
    pub(super) fn notice(&self, id: &Ident, before: Conduct) {
        let conduct = self.state.lobby.conduct(id);
        let news = |before: u32, now: u32| now > before && now.is_power_of_two();
        let counts = [
            (before.returns, conduct.returns),
            (before.switches, conduct.switches),
            (before.asks, conduct.asks),
        ];
        if counts.into_iter().any(|(before, now)| news(before, now)) {
            tracing::info!(player = id.text(), %conduct, "this player may be exploiting the balancing");
        }
    }
}

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
