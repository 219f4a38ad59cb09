//! Handles scores, points and the end of a game: sends requests to the daemon.

use super::{GameFollower, roster::ConnectionKey};
use crate::{
    protocol::Request,
    sidecar::{Act, progress::GamePhase},
};

impl GameFollower {
    /// A player has changed the score of their side by `points`.
    pub(in crate::sidecar) fn score(
        &mut self,
        by: &ConnectionKey,
        points: f64,
        acts: &mut Vec<Act>,
    ) {
        let Some(seat) = self.roster.get(by) else {
            return;
        };
        if let (Some(game), Some(side)) = (&mut self.game, seat.player.side)
            && game.progress.phase() == GamePhase::Playing
        {
            let by = seat.entry.as_ref().map(|entry| entry.id.as_str());
            let team = game.team_of(side);
            game.score(team, points, by, &mut self.link.outbox(acts));
        }
    }

    /// The log states the score of a side.
    pub(in crate::sidecar) fn total(&mut self, side: u8, total: f64, acts: &mut Vec<Act>) {
        if let Some(game) = &mut self.game {
            game.total(side, total, &mut self.link.outbox(acts));
        }
    }

    /// The log states the final scores of the sides.
    pub(in crate::sidecar) fn finals(&mut self, finals: Vec<(u8, f64)>, acts: &mut Vec<Act>) {
        if let Some(game) = &mut self.game {
            game.finals(finals, &mut self.link.outbox(acts));
        }
    }

    /// The log states the final scores of the sides, `a:b`, as Counter-Strike does.
    pub(in crate::sidecar) fn result(&mut self, scores: [f64; 2], acts: &mut Vec<Act>) {
        if let Some(game) = &mut self.game {
            game.result(scores, &mut self.link.outbox(acts));
        }
    }

    /// The log states a player's final points.
    pub(in crate::sidecar) fn points(
        &mut self,
        of: &ConnectionKey,
        points: f64,
        acts: &mut Vec<Act>,
    ) {
        let complete = self
            .game
            .as_ref()
            .is_some_and(|game| game.progress.is_complete());
        if let Some(entry) = self.roster.entry(of)
            && self.is_over()
            && complete
            && points.is_finite()
        {
            let id = entry.ident();
            self.link.outbox(acts).send(Request::Points { id, points });
        }
    }

    /// Play has ended. The log states the results next.
    pub(in crate::sidecar) fn over(&mut self, now: u64, acts: &mut Vec<Act>) {
        self.settle_sides(u64::MAX, acts);
        if let Some(game) = &mut self.game
            && game.progress.phase() == GamePhase::Playing
        {
            game.progress.enter(GamePhase::Over, now);
        }
    }

    /// All results have been read, or are overdue.
    pub(in crate::sidecar) fn end(&mut self, now: u64, acts: &mut Vec<Act>) {
        let Some(game) = &mut self.game else { return };
        if !matches!(game.progress.phase(), GamePhase::Playing | GamePhase::Over) {
            return;
        }
        game.progress.enter(GamePhase::Ended, now);
        self.link.end(game.progress.is_complete(), acts);
    }
}
