//! The commands of a game server: what changes its game.

use super::{Session, SessionError};
use crate::{
    lobby::{Command, NewGame, journal::Entry, roster::Human},
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
