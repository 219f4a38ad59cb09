//! What a journal stores of a lobby: its commands, from which it can be made again, and the lobby
//! itself as plain data.

use std::collections::BTreeSet;

use super::{
    Command, Lobby, LobbySettings, Offer, RunningGame,
    state::{GameBefore, MAX_MUTATORS},
    streak::Win,
};
use evenkeel_model::{MAX_PLAYERS, MAX_TEAMS};

impl Lobby {
    /// Milliseconds of the session at the last command or question.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Notes the commands that decisions apply from now on. It does not note those of
    /// [`apply`](Self::apply), which the caller knows.
    pub fn keep_trail(&mut self) {
        self.trail.get_or_insert_default();
    }

    /// Passes to `each` the commands that decisions have applied since the last call, in order, each
    /// with its millisecond.
    pub fn drain_trail(&mut self, mut each: impl FnMut(u64, Command)) {
        // It is called for every event, and there is seldom a command.
        if let Some(trail) = &mut self.trail
            && !trail.is_empty()
        {
            trail.drain(..).for_each(|(at, command)| each(at, command));
        }
    }

    /// Has these settings from now on. To be called before GAME: a running game keeps its settings.
    pub fn set_settings(&mut self, settings: LobbySettings) {
        self.settings = settings;
    }

    /// Completes a lobby that was read as plain data, and gives it these settings instead of its
    /// own; `None` if its parts are inconsistent.
    pub fn restored(mut self, settings: LobbySettings) -> Option<Self> {
        let teams = self.teams;
        if !(2..=MAX_TEAMS).contains(&usize::from(teams))
            || self.last_teams.len() > MAX_PLAYERS
            || !self.memory.is_sound()
            || self.wins.len() > MAX_PLAYERS
            || !self.wins.iter().all(Win::is_sound)
        {
            return None;
        }
        let room = settings.roster.max_roster.as_usize();
        if let Some(game) = self.game.take() {
            self.game = Some(restored_game(game, teams, room)?);
        }
        if let Some(before) = self.before.take() {
            self.before = Some(Box::new(before.restored(room)?));
        }
        self.settings = settings;
        Some(self)
    }
}

impl GameBefore {
    /// Completes a game that is kept, like [`Lobby::restored`].
    fn restored(mut self, room: usize) -> Option<Self> {
        let sound = (2..=MAX_TEAMS).contains(&usize::from(self.teams))
            && self.last_teams.len() <= MAX_PLAYERS
            && self.memory.is_sound();
        self.game = restored_game(self.game, self.teams, room)?;
        sound.then_some(self)
    }
}

fn restored_game(mut game: RunningGame, teams: u8, room: usize) -> Option<RunningGame> {
    let exists = |team: Option<u8>| team.is_none_or(|team| team < teams);
    let (humans, bots) = (game.roster.humans(), game.roster.bots());
    let mut ids = BTreeSet::new();
    let sound = humans.len() <= MAX_PLAYERS
        && bots.len() <= MAX_PLAYERS
        && game.mutators.len() <= MAX_MUTATORS
        && game.advised.len() <= MAX_PLAYERS
        && game.died.len() <= MAX_PLAYERS
        && game.offer.as_ref().is_none_or(Offer::is_sound)
        && humans
            .iter()
            .all(|human| exists(human.team) && exists(human.pin))
        && bots.iter().all(|bot| exists(Some(bot.team)))
        && humans.iter().all(|human| ids.insert(human.id.text()))
        && game.by_score.as_ref().is_none_or(|(by_score, _)| {
            by_score.len() <= MAX_TEAMS && by_score.iter().all(|one| one.is_finite())
        })
        && exists(game.watch.imbalance.map(|(team, _)| team))
        && exists(game.watch.stronger);
    if !sound {
        return None;
    }
    game.roster = game.roster.with_room(room);
    game.recorder = game.recorder.restored()?;
    Some(game)
}
