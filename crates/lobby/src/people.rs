//! Applies the commands on who plays and on which team. They keep the roster, the record of play
//! and the session's memory consistent.

use super::{
    Lobby, LobbyError, Update,
    recorder::SeatedPlayer,
    roster::Human,
    state::{RunningGame, exists},
    streak::ScoreRun,
};
use evenkeel_model::{Ident, Kind, LeaveReason, RoleName};
use evenkeel_partition::Conduct;

impl Lobby {
    pub(super) fn join(&mut self, id: &Ident, update: &Update) -> Result<(), LobbyError> {
        if id.is_nobody() {
            return Err(LobbyError::SharedId);
        }
        let teams = self.teams;
        let game = self.game_mut()?;
        let stated = [update.team, update.pin.flatten(), update.wish.flatten()];
        for team in stated.into_iter().flatten() {
            exists(team, teams)?;
        }
        if game.recorder.is_over()
            && let Some(first) = game.roster.first_in_the_way(id)
        {
            // Coming back is nothing that a player is blamed for.
            self.leave(&first, LeaveReason::Moved)?;
        }
        let game = self.game_mut()?;
        let party = |game: &RunningGame| game.roster.find(id).and_then(|human| human.party.clone());
        let (before, alone) = (game.roster.find(id).map(|human| human.team), party(game));
        game.roster.join(id, update)?;
        if party(game) != alone {
            // Others may have to be moved now: auto-balance looks at all of them again.
            game.died.clear();
        }
        match before {
            None => {
                let past = self.memory.of(id.text());
                if past.left.is_some() && !past.sent_away {
                    self.memory.entry(id.text()).conduct.returns += 1;
                }
            }
            Some(from) => self.note_move(id, from, update.team.or(from)),
        }
        self.note_wish(id, update.wish, before.is_none())?;
        self.seat(id)
    }

    pub(super) fn leave(&mut self, id: &Ident, reason: LeaveReason) -> Result<(), LobbyError> {
        let now = self.now;
        let game = self.game_mut()?;
        let human = game.roster.human(id)?;
        let team = human.team;
        game.recorder.leave(&seated_human(human), reason, now);
        game.roster.leave(id)?;
        game.advised.retain(|advised| advised.id != *id);
        game.died.retain(|died| died != id);
        if let Some(offer) = &mut game.offer {
            offer.volunteers.retain(|volunteer| volunteer != id);
        }
        let past = self.memory.entry(id.text());
        past.left = Some((team, now));
        past.sent_away = matches!(reason, LeaveReason::Kicked | LeaveReason::Moved);
        Ok(())
    }

    pub(super) fn move_to(&mut self, id: &Ident, team: u8) -> Result<(), LobbyError> {
        let teams = self.teams;
        let game = self.game_mut()?;
        exists(team, teams)?;
        let from = game.roster.human_mut(id)?.team.replace(team);
        self.note_move(id, from, Some(team));
        self.seat(id)
    }

    /// Puts a human on a team because of a decision, so that the change does not count as their
    /// own.
    pub(super) fn put_on_team(&mut self, id: &Ident, team: u8) -> Result<(), LobbyError> {
        let teams = self.teams;
        exists(team, teams)?;
        self.game_mut()?.roster.human_mut(id)?.team = Some(team);
        self.seat(id)
    }

    /// Like [`put_on_team`](Self::put_on_team), and starts the time during which they are not moved
    /// again.
    pub(super) fn auto_move(&mut self, id: &Ident, team: u8) -> Result<(), LobbyError> {
        self.put_on_team(id, team)?;
        self.memory.entry(id.text()).moved_at = Some(self.now);
        Ok(())
    }

    /// Gives a human a role, in the place of an earlier one.
    pub(super) fn set_role(
        &mut self,
        id: &Ident,
        role: Option<&RoleName>,
    ) -> Result<(), LobbyError> {
        let now = self.now;
        let game = self.game_mut()?;
        let human = game.roster.human_mut(id)?;
        human.role = role.cloned();
        game.recorder.set_role(&seated_human(human), role, now);
        Ok(())
    }

    pub(super) fn protect(&mut self, id: &Ident, millis: Option<u64>) -> Result<(), LobbyError> {
        let now = self.now;
        let until = millis.map_or(u64::MAX, |millis| now.saturating_add(millis));
        self.game_mut()?.roster.human_mut(id)?.protected_until = until;
        Ok(())
    }

    pub(super) fn bot_join(&mut self, name: &Ident, team: u8) -> Result<(), LobbyError> {
        let (now, teams) = (self.now, self.teams);
        let game = self.game_mut()?;
        exists(team, teams)?;
        if game.recorder.is_over()
            && let Some(first) = game.roster.first_bot_in_the_way(name)
        {
            self.bot_leave(&first)?;
        }
        let game = self.game_mut()?;
        game.roster.bot_join(name, team)?;
        let seat = game.seat_of(Some(team));
        game.recorder.set_team(&seated_bot(name), seat, now);
        self.show_bots();
        Ok(())
    }

    pub(super) fn bot_leave(&mut self, name: &Ident) -> Result<(), LobbyError> {
        let now = self.now;
        let game = self.game_mut()?;
        game.roster.bot_leave(name)?;
        game.recorder.set_team(&seated_bot(name), None, now);
        Ok(())
    }

    pub(super) fn assign(&mut self, team_of: &[u8]) -> Result<(), LobbyError> {
        let (now, teams) = (self.now, self.teams);
        let game = self.game_mut()?;
        team_of.iter().try_for_each(|&team| exists(team, teams))?;
        game.roster.assign(team_of);
        game.advised.clear();
        game.offer = None;
        game.run = ScoreRun::default();
        game.seat_all(now);
        Ok(())
    }

    /// How often the human's behaviour in this session suggests that they exploit the balancing.
    pub fn conduct(&self, id: &Ident) -> Conduct {
        self.memory.of(id.text()).conduct
    }

    /// Counts that a decision was requested after a human changed to the stronger team, once per
    /// change.
    pub(super) fn note_asked(&mut self, about: Option<&Ident>) {
        let (now, recent) = (self.now, self.settings.rebalance.cooldown_seconds.millis());
        let Some(game) = &self.game else { return };
        let humans = game.roster.humans().iter();
        for human in humans.filter(|human| about.is_none_or(|id| human.id == *id)) {
            let switched = self.memory.of(human.id.text()).switched_at;
            if switched.is_some_and(|at| now.saturating_sub(at) <= recent) {
                let past = self.memory.entry(human.id.text());
                past.switched_at = None;
                past.conduct.asks += 1;
            }
        }
    }

    /// Notes a change of team. It counts as the human's own unless REBALANCE advised it.
    fn note_move(&mut self, id: &Ident, from: Option<u8>, to: Option<u8>) {
        let (now, text) = (self.now, id.text());
        let (Some(game), Some(to)) = (&mut self.game, to) else {
            return;
        };
        if from == Some(to) {
            return;
        }
        let mut advised = game.advised.iter();
        let advice = advised.position(|advised| advised.id == *id && advised.to == to);
        if let Some(advice) = advice {
            game.advised.swap_remove(advice);
            // Placing a human for the first time is not a move.
            if from.is_some() {
                self.memory.entry(text).moved_at = Some(now);
            }
        } else if from.is_some() && game.watch.stronger == Some(to) {
            let past = self.memory.entry(text);
            past.conduct.switches += 1;
            past.switched_at = Some(now);
        }
    }

    /// Updates the record of play with a human's team.
    fn seat(&mut self, id: &Ident) -> Result<(), LobbyError> {
        let now = self.now;
        let game = self.game_mut()?;
        let human = game.roster.human(id)?;
        let seat = game.seat_of(human.team);
        game.recorder.set_team(&seated_human(human), seat, now);
        Ok(())
    }
}

impl RunningGame {
    /// The team as the match record counts it: always 0 in a game without teams.
    fn seat_of(&self, team: Option<u8>) -> Option<u8> {
        if self.has_teams { team } else { Some(0) }
    }

    /// Takes everybody off the teams from this one on, which the next game does not have: this one is over.
    pub(super) fn give_up_teams(&mut self, from: u8, now: u64) {
        let bots = self.roster.bots().iter();
        for bot in bots.filter(|bot| bot.team >= from) {
            self.recorder.set_team(&seated_bot(&bot.name), None, now);
        }
        self.roster.give_up_teams(from);
        self.seat_all(now);
        self.advised.clear();
        self.balanced = None;
    }

    /// Updates the record of play with the teams of all players.
    pub(super) fn seat_all(&mut self, now: u64) {
        for human in self.roster.humans() {
            let seat = self.seat_of(human.team);
            self.recorder.set_team(&seated_human(human), seat, now);
        }
        for bot in self.roster.bots() {
            let seat = self.seat_of(Some(bot.team));
            self.recorder.set_team(&seated_bot(&bot.name), seat, now);
        }
    }
}

fn seated_human(human: &Human) -> SeatedPlayer<'_> {
    SeatedPlayer {
        kind: Kind::Human,
        id: human.id.text(),
        name: human.name.as_deref(),
        party: human.party.as_deref(),
    }
}

fn seated_bot(name: &Ident) -> SeatedPlayer<'_> {
    SeatedPlayer {
        kind: Kind::Bot,
        id: name.text(),
        name: None,
        party: None,
    }
}
