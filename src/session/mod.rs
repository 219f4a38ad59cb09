//! One game server's session: who it is, its running game, and the decisions in it.
//!
//! A [`Session`] belongs to one connection; what all of them share is in [`Sessions`]. A session
//! asks the lobby, records results in the store, and reads weights from the standings in memory, so
//! that a question about a weight never waits for the disk. This room knows nothing of sockets and
//! lines.
//!
//! Entry points: [`Sessions::new`], [`Session::new`].

mod backlog;
mod clock;
mod decide;
mod error;
mod mailbox;
mod parked;
mod play;
mod registry;
mod replay;
mod results;
mod sessions;
mod settings;
mod state;
mod weights;

use std::sync::Arc;

use rand::{TryRng, rngs::SysRng};

use crate::{
    domain::{Ident, Ruleset, Secret},
    lobby::{Conduct, Lobby, LobbyError, Update},
};

pub use clock::{Clock, HandClock, MachineClock};
pub use decide::{Balanced, Rebalanced};
pub use error::SessionError;
pub use mailbox::{Mailbox, MailboxError, MailboxReceiver};
pub use replay::Replayed;
pub use results::Ended;
pub use sessions::Sessions;
pub use settings::{BalanceSettings, Settings};

use registry::Registration;
use state::SessionState;
use weights::GameWeights;

/// A session dies with its connection; its game may wait for the next one.
#[derive(Debug)]
pub struct Session {
    sessions: Arc<Sessions>,
    state: SessionState,
    server: Option<String>,
    registration: Registration,
}

impl Session {
    /// Nobody has said anything yet.
    pub fn new(sessions: Arc<Sessions>) -> Self {
        Self::open(sessions).0
    }

    /// Likewise, with the lines that its connection has to send without a request.
    pub fn open(sessions: Arc<Sessions>) -> (Self, MailboxReceiver) {
        let (mailbox, pushes) = Mailbox::new();
        let session = Self {
            state: SessionState::new(&sessions),
            registration: Registration::new(&sessions, mailbox),
            sessions,
            server: None,
        };
        (session, pushes)
    }

    /// The number of this session, which no other session of this process has.
    pub fn number(&self) -> u64 {
        self.registration.number()
    }

    /// Names the game server. To `resume` goes on at once with the game that its last connection
    /// left, or that it still has without knowing that it is dead, and tells whether there was one;
    /// otherwise the first line that needs a game goes on with one that was left, unless that is GAME.
    ///
    /// # Errors
    /// Clients are configured, and this isn't one of them or the token is wrong.
    pub async fn hello(
        &mut self,
        server: &Ident,
        token: Option<&Secret>,
        resume: bool,
    ) -> Result<Option<bool>, SessionError> {
        let clients = &self.sessions.settings.clients;
        if !clients.is_empty() {
            let expected = clients.get(server.text());
            if expected.is_none() || expected != token {
                return Err(SessionError::NotAllowed("unknown server or wrong token"));
            }
        }
        self.server = Some(server.text().to_owned());
        if !resume {
            self.registration.announce(server.text());
            return Ok(None);
        }
        self.registration.replace(server.text()).await;
        Ok(Some(
            self.state.lobby.game().is_ok() || self.resume_parked(),
        ))
    }

    /// Resolves when another connection takes this one's place, which should end then.
    pub async fn replaced(&self) {
        self.registration.replaced().await;
    }

    /// Whether HELLO has to come first, and has not.
    pub fn must_say_hello(&self) -> bool {
        self.server.is_none() && !self.sessions.settings.clients.is_empty()
    }

    /// A new game begins; one that was running is kept as abandoned.
    pub fn game(&mut self, game_type: &Ident) {
        self.give_up_running();
        let has_teams = self.sessions.rulebook().is_team_game(game_type.text());
        self.state.begin(game_type.text(), has_teams);
        let name = self.sessions.rulebook().game_type(game_type.text());
        if self.sessions.tournament.matches(&name) {
            // There is a game, now.
            let _ = self.state.lobby.set_tournament(true);
        }
    }

    /// A mutator is active.
    ///
    /// # Errors
    /// Too many of them.
    pub fn mutator(&mut self, name: &Ident) -> Result<(), SessionError> {
        self.lobby().add_mutator(name.text())?;
        self.state.forget_ruleset();
        Ok(())
    }

    /// A human's weight in this game; `None` when nothing is known.
    ///
    /// # Errors
    /// There is no game.
    pub fn player(&mut self, id: &Ident) -> Result<Option<f64>, SessionError> {
        let standings = self.sessions.standings();
        Ok(standings.view(self.ruleset()?).human(id.text()))
    }

    /// A bot's weight in this game; the mean for an unknown one.
    ///
    /// # Errors
    /// There is no game.
    pub fn bot(&mut self, name: &Ident) -> Result<f64, SessionError> {
        let default = self.sessions.settings.balance.default_bot_weight;
        let standings = self.sessions.standings();
        let view = standings.view(self.ruleset()?);
        let known = view.bot(name.text());
        Ok(known.unwrap_or_else(|| view.mean_bot().map_or(default, |(mean, _)| mean)))
    }

    /// The mean weight and number of the known bots; the configured default and 0 without any.
    ///
    /// # Errors
    /// There is no game.
    pub fn mean_bot(&mut self) -> Result<(f64, usize), SessionError> {
        let default = self.sessions.settings.balance.default_bot_weight;
        let standings = self.sessions.standings();
        Ok(standings
            .view(self.ruleset()?)
            .mean_bot()
            .unwrap_or((default, 0)))
    }

    /// The level, and its recommended number of players.
    ///
    /// # Errors
    /// There is no game.
    pub fn map(&mut self, name: &Ident, range: Option<(u32, u32)>) -> Result<(), SessionError> {
        Ok(self.lobby().set_map(name.text(), range)?)
    }

    /// Sets the number of teams.
    ///
    /// # Errors
    /// A number that cannot be, or a player on a team that would be gone.
    pub fn teams(&mut self, teams: u8) -> Result<(), SessionError> {
        Ok(self.lobby().set_teams(teams)?)
    }

    /// This session's wish for the number of players.
    pub fn min_players(&mut self, players: u32) {
        self.lobby().set_min_players(players);
    }

    /// A human takes part, or what is known of them changes.
    ///
    /// # Errors
    /// No game, no such team, no room.
    pub fn join(&mut self, id: &Ident, update: Update) -> Result<(), SessionError> {
        let before = self.lobby().conduct(id);
        self.lobby().join(id, update)?;
        self.notice(id, before);
        self.watch()
    }

    /// A human is gone.
    ///
    /// # Errors
    /// No game, or nobody of that id.
    pub fn leave(&mut self, id: &Ident) -> Result<(), SessionError> {
        self.lobby().leave(id)?;
        self.watch()
    }

    /// A human is on this team now.
    ///
    /// # Errors
    /// No game, nobody of that id, no such team.
    pub fn move_to(&mut self, id: &Ident, team: u8) -> Result<(), SessionError> {
        let before = self.lobby().conduct(id);
        self.lobby().move_to(id, team)?;
        self.notice(id, before);
        self.watch()
    }

    /// A bot is on this team now.
    ///
    /// # Errors
    /// No game, no such team, no room.
    pub fn bot_join(&mut self, name: &Ident, team: u8) -> Result<(), SessionError> {
        self.lobby().bot_join(name, team)?;
        self.watch()
    }

    /// A bot is gone.
    ///
    /// # Errors
    /// No game, or no bot of that name.
    pub fn bot_leave(&mut self, name: &Ident) -> Result<(), SessionError> {
        self.lobby().bot_leave(name)?;
        self.watch()
    }

    /// Why the last decision was taken, a line each.
    ///
    /// # Errors
    /// There is no game, or nothing has been decided in it.
    pub fn explain(&mut self) -> Result<&[String], SessionError> {
        self.lobby().game()?;
        if self.state.reasons.is_empty() {
            return Err(SessionError::NotAllowed("nothing has been decided yet"));
        }
        Ok(&self.state.reasons)
    }

    /// The lobby, now. A game that the server's last connection left is gone on with, where there is
    /// no other.
    fn lobby(&mut self) -> &mut Lobby {
        if self.state.lobby.game().is_err() {
            self.resume_parked();
        }
        let now = self.sessions.clock.millis();
        self.state.lobby.at(now)
    }

    fn ruleset(&mut self) -> Result<&Ruleset, LobbyError> {
        self.lobby();
        self.state.ruleset(&self.sessions)
    }

    /// Everybody's weights in this game.
    fn seen(&mut self) -> Result<GameWeights, LobbyError> {
        let ruleset = self.ruleset()?.clone();
        let standings = self.sessions.standings();
        let game = self.state.lobby.game()?;
        let balance = &self.sessions.settings.balance;
        Ok(GameWeights {
            view: standings.view(&ruleset),
            standings,
            ruleset,
            map: game.map.clone().unwrap_or_default(),
            teams: self.state.lobby.teams(),
            defaults: (balance.default_weight, balance.default_bot_weight),
        })
    }

    /// Tells the log what somebody did who may be gaming the balance: the first time, the second, the
    /// fourth, and so on.
    fn notice(&self, id: &Ident, before: Conduct) {
        let conduct = self.state.lobby.conduct(id);
        let news = |before: u32, now: u32| now > before && now.is_power_of_two();
        let counts = [
            (before.returns, conduct.returns),
            (before.switches, conduct.switches),
            (before.asks, conduct.asks),
        ];
        if counts.into_iter().any(|(before, now)| news(before, now)) {
            let server = self.server.as_deref().unwrap_or("");
            tracing::info!(server, player = id.text(), %conduct, "may be gaming the balance");
        }
    }

    /// Somebody came, went or changed sides: the rules of auto-balance look at it.
    fn watch(&mut self) -> Result<(), SessionError> {
        let seen = self.seen()?;
        self.lobby().watch(&seen);
        Ok(())
    }
}

/// A seed from the system's randomness. It has 31 bits, so that it fits the integers of old scripting
/// languages.
pub fn draw_seed() -> u64 {
    // Should the system have no randomness, a fixed seed still gives good teams.
    SysRng
        .try_next_u32()
        .map_or(0, |drawn| u64::from(drawn >> 1))
}
