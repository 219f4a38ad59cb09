//! The state of one session's game: all that a lost connection leaves for the next one.

use std::sync::atomic::{AtomicU32, Ordering};

use rand::{TryRng, rngs::SysRng};
use tracing::Span;

use super::{Ended, Sessions};
use crate::{
    domain::{Ruleset, Timestamp},
    lobby::{Finished, Lobby, LobbyError, RecordFrame},
};

/// A lobby, and what the session keeps about its game.
#[derive(Debug)]
pub(super) struct SessionState {
    pub(super) lobby: Lobby,
    /// The instant from which the lobby's milliseconds count, as of START.
    pub(super) epoch: Timestamp,
    /// Set by the first question about a weight, and cleared by GAME and MUTATOR.
    ruleset: Option<Ruleset>,
    /// The reasons for the last decision; cleared by GAME.
    pub(super) reasons: Vec<String>,
    /// The number that the decisions before one END have in common.
    pub(super) game: i64,
    /// The answer to END, if it has been sent.
    pub(super) ended: Option<Ended>,
    /// The span of the session that has the game, or had it last.
    pub(super) span: Span,
    /// END could not be answered yet: the match waits in the backlog, under the number of this game.
    pub(super) kept: Option<KeptEnd>,
}

/// What is known of a match that waits in the backlog.
#[derive(Clone, Copy, Debug)]
pub(super) struct KeptEnd {
    /// Why the match will not be rated; `None` if it will be.
    pub(super) unrated: Option<&'static str>,
}

impl SessionState {
    /// The state before the first command.
    pub(super) fn new(sessions: &Sessions, span: &Span) -> Self {
        Self {
            lobby: Lobby::new(sessions.settings.lobby.clone()),
            epoch: Timestamp::default(),
            ruleset: None,
            reasons: Vec::new(),
            game: draw_game(),
            ended: None,
            span: span.clone(),
            kept: None,
        }
    }

    /// Clears what belongs to the last game, except the lobby itself.
    pub(super) fn begin_game(&mut self) {
        self.ruleset = None;
        self.reasons.clear();
        self.game = draw_game();
        self.ended = None;
        self.kept = None;
    }

    /// Forgets the last END, because play begins again.
    pub(super) fn begin_play(&mut self, epoch: Timestamp) {
        self.epoch = epoch;
        self.ended = None;
        if self.kept.take().is_some() {
            // The match in the backlog has the number.
            self.game = draw_game();
        }
    }

    /// Clears the ruleset, because the mutators have changed.
    pub(super) fn forget_ruleset(&mut self) {
        self.ruleset = None;
    }

    /// The ruleset of the game.
    pub(super) fn ruleset(&mut self, sessions: &Sessions) -> Result<&Ruleset, LobbyError> {
        let game = self.lobby.game()?;
        let rulebook = sessions.rulebook();
        Ok(self
            .ruleset
            .get_or_insert_with(|| rulebook.ruleset(&game.game_type, &game.mutators)))
    }

    /// The parts of a match record that the session knows.
    pub(super) fn frame(&self, server: Option<&str>) -> RecordFrame {
        RecordFrame {
            server: server.unwrap_or_default().to_owned(),
            epoch: self.epoch,
            mode: String::new(),
        }
    }

    /// The record of a game that does not continue; `None` if play has not begun or is over, or if
    /// the server has no name.
    pub(super) fn abandoned(&self, server: Option<&str>) -> Option<Finished> {
        let finished = self.lobby.abandoned(&self.frame(server));
        finished.filter(|finished| !finished.record.participants.is_empty())
    }
}

/// A random number for the decisions of a game, unique among all games. Without system randomness
/// it is negative, and unique among the games of this process.
pub(super) fn draw_game() -> i64 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let counted = || {
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        -(i64::from(std::process::id()) << 32 | i64::from(next))
    };
    SysRng
        .try_next_u64()
        .map_or_else(|_| counted(), |drawn| (drawn >> 1).cast_signed())
}
