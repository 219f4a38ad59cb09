//! A GAME that comes again: a server restarts its map after the warm-up, and what BALANCE has decided before holds.
//!
//! GAME alone does not tell whether it is the same game once more, because the map and the players follow it. So the
//! game before is kept until the first BALANCE or START, which asks [`Lobby::goes_on`].

use std::collections::BTreeSet;

use super::{
    Lobby, LobbyError,
    balance::LastBalance,
    recorder::{Finished, RecordFrame},
    state::{GameBefore, RunningGame},
};
use evenkeel_model::{ident::are_mostly_the_same, match_chances::TeamChances};

impl Lobby {
    /// Whether BALANCE has decided on teams with which no play has ended, and the game is not that of a hosted match:
    /// the next GAME may mean the same game again.
    pub fn is_decided(&self) -> bool {
        let game = self.game.as_ref().filter(|game| !game.hosted);
        game.is_some_and(|game| game.decided().is_some())
    }

    /// Keeps the game, because the next command is GAME and may mean the same game again.
    pub(super) fn hold(&mut self) {
        self.before = self.held();
    }

    /// Keeps the game that another connection of the same server has left, or the one that it kept. Call it before this
    /// session's first game.
    pub fn take_over(&mut self, left: &mut Self) {
        self.before = left.before.take().or_else(|| left.held());
        left.game = None;
    }

    fn held(&self) -> Option<Box<GameBefore>> {
        let game = self.game.clone()?;
        Some(Box::new(GameBefore {
            game,
            teams: self.teams,
            until: self.now,
            last_teams: self.last_teams.clone(),
            memory: self.memory.clone(),
        }))
    }

    /// Whether the game is the one that is kept, once more: of the same type, on the same map if both maps are known,
    /// and at least half of the humans of each are in the other. `None` if none is kept.
    pub fn goes_on(&self) -> Option<bool> {
        let before = self.before.as_ref()?;
        let Some(game) = &self.game else {
            return Some(false);
        };
        let old = &before.game;
        let maps = old.map.as_ref().zip(game.map.as_ref());
        let same = old.has_teams == game.has_teams
            && before.teams == self.teams
            && old.game_type.eq_ignore_ascii_case(&game.game_type)
            && maps.is_none_or(|(one, other)| one.eq_ignore_ascii_case(other));
        Some(same && are_mostly_the_same(&old.people(), &game.people()))
    }

    /// The game that is kept goes on in this one: what was decided stands, and there was no game before this one.
    pub(super) fn go_on(&mut self) {
        let (Some(before), Some(game)) = (self.before.take(), &mut self.game) else {
            return;
        };
        let before = *before;
        if let Some(picked) = before.game.decided() {
            game.recorder.chances.pick(picked);
        }
        (game.balanced, game.again) = (before.game.balanced, true);
        game.began = before.game.began;
        self.last_teams = before.last_teams;
        self.memory.undo_game(&before.memory);
    }

    /// BALANCE was answered.
    pub(super) fn note_balanced(&mut self, last: &LastBalance) -> Result<(), LobbyError> {
        let game = self.game_mut()?;
        (game.balanced, game.again) = (Some(last.clone()), false);
        Ok(())
    }

    /// The record of the game that is kept, if it was in play: it is abandoned.
    pub fn abandoned_before(&self, frame: &RecordFrame) -> Option<Finished> {
        let before = self.before.as_ref()?;
        before.game.abandoned(frame, before.teams, before.until)
    }
}

impl RunningGame {
    /// What was predicted of the teams that BALANCE has picked, until they have played to the end.
    fn decided(&self) -> Option<&TeamChances> {
        self.recorder.picked()
    }

    /// Play begins with the teams of BALANCE if the game has come again without another BALANCE: who has stayed, and is on
    /// no team yet, is on the chosen one.
    pub(super) fn stand(&mut self, teams: u8) {
        let Some(last) = self.balanced.as_ref().filter(|_| self.again) else {
            return;
        };
        for human in self.roster.unplaced_mut() {
            let team = last.team(human.id.text());
            human.team = team.filter(|team| *team < teams);
        }
    }

    /// The humans of the roster, for whom BALANCE decides; once all have left, those for whom it has decided.
    fn people(&self) -> BTreeSet<&str> {
        let humans = self.roster.humans().iter().map(|human| human.id.text());
        let decided = self
            .balanced
            .iter()
            .filter(|_| self.roster.humans().is_empty());
        humans
            .chain(decided.flat_map(LastBalance::humans))
            .collect()
    }
}

#[cfg(test)]
mod tests;
