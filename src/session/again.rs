//! A GAME that comes again, as after a warm-up: the game before it is kept until the first BALANCE or START, which
//! decide whether it goes on. If so, its decisions are those of the match, and there was no game before.

use super::{Clock, Session, Sessions, state::SessionState};
use crate::{
    lobby::journal::HeldGame,
    lobby::{Command, Finished, RecordFrame},
    model::Outcome,
    rating::history,
};

impl Session {
    /// Keeps the running game, or the one that another connection of this server has `left`, if the GAME that comes may
    /// mean it once more. Returns whether the running one need not be given up.
    pub(super) fn hold(&mut self, left: Option<&mut SessionState>) -> bool {
        if self.state.next_game.is_some() {
            // A hosted match begins.
            self.settle(false);
            return false;
        }
        match self.state.lobby.goes_on() {
            // Nothing has been decided in this game, and it was not in play: the one before may still go on.
            Some(false) => return true,
            Some(true) => self.settle(true),
            None => {}
        }
        let server = self.server.as_deref();
        if self.state.lobby.game().is_err()
            && let Some(left) = left
            && (left.held.is_some() || self.sessions.may_go_on(left, server))
        {
            self.state.take_over(left);
            return true;
        }
        let holds = self.sessions.may_go_on(&self.state, server);
        if holds {
            self.state.hold(&*self.sessions.clock);
        }
        holds
    }

    /// Before the first BALANCE or START of a game: finds out whether the game before it goes on.
    pub(super) fn settle_before(&mut self) {
        if let Some(goes_on) = self.lobby().goes_on() {
            self.settle(goes_on);
        }
    }

    fn settle(&mut self, goes_on: bool) {
        let Some(held) = self.state.held.clone() else {
            return;
        };
        let command = match goes_on {
            true => Command::GoOn,
            false => Command::DropBefore,
        };
        if let Some(finished) = self.state.abandoned_before(self.server.as_deref())
            && !goes_on
            && self.sessions.keep_abandoned(finished, held.number, None)
        {
            self.state.waiting.push(held.number);
        }
        // Neither command can fail.
        let _ = self.state.apply(&command, &*self.sessions.clock);
        self.state.held = None;
        if goes_on {
            tracing::info!("the game goes on, and its teams stand");
            self.state.game = held.number;
            if self.state.reasons().is_empty() {
                self.state.give_reasons(held.reasons);
            }
        }
    }
}

impl Sessions {
    /// Whether the next GAME may mean this game once more: its teams are decided, and no play counts.
    fn may_go_on(&self, state: &SessionState, server: Option<&str>) -> bool {
        let abandoned = || state.abandoned(server);
        state.lobby.is_decided()
            && !state.kept
            && !state.ending
            && !abandoned().is_some_and(|finished| self.counts(finished))
    }

    /// Whether a game that was given up in play could have been rated if it had ended at that moment.
    fn counts(&self, finished: Finished) -> bool {
        let mut record = finished.record;
        record.outcome = Outcome::Draw;
        let rules = &self.learning.settings().history.rules;
        history::unrated(&record, self.rulebook(), rules).is_none()
    }
}

impl SessionState {
    /// What is known of the game besides its lobby.
    fn known(&self) -> HeldGame {
        HeldGame {
            number: self.game,
            epoch: self.epoch,
            reasons: self.reasons().to_vec(),
        }
    }

    /// Keeps the game that another connection has left, whose milliseconds go on.
    fn take_over(&mut self, left: &mut Self) {
        let known = left.known();
        self.go_on_as(left);
        self.lobby.take_over(&mut left.lobby);
        self.held = Some(left.held.take().unwrap_or(known));
    }

    /// Keeps the game.
    fn hold(&mut self, clock: &dyn Clock) {
        let known = self.known();
        if self.apply(&Command::Hold, clock).is_ok() {
            self.held = Some(known);
        }
    }

    /// The record of the game that is kept, if it was in play.
    pub(super) fn abandoned_before(&self, server: Option<&str>) -> Option<Finished> {
        let held = self.held.as_ref()?;
        let frame = RecordFrame {
            epoch: held.epoch,
            ..self.frame(server)
        };
        self.lobby.abandoned_before(&frame)
    }
}
