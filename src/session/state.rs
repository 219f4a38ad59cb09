//! One game of a game server: all that a broken connection leaves to the next one.

use std::sync::atomic::{AtomicU32, Ordering};

use rand::{TryRng, rngs::SysRng};

use super::{Ended, Sessions};
use crate::{
    domain::{Ruleset, Timestamp},
    lobby::{Finished, Lobby, LobbyError, RecordFrame},
};

/// See the module.
#[derive(Debug)]
pub(super) struct SessionState {
    pub(super) lobby: Lobby,
    /// The instant that the lobby's milliseconds count from, as of START.
    pub(super) epoch: Timestamp,
    /// Made by the first question about a weight, forgotten by GAME and MUTATOR.
    ruleset: Option<Ruleset>,
    /// Why the last decision was taken; forgotten by GAME.
    pub(super) reasons: Vec<String>,
    /// A number that the decisions before one END share.
    pub(super) game: i64,
    /// What END was answered.
    pub(super) ended: Option<Ended>,
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
    /// Nothing has been said yet.
    pub(super) fn new(sessions: &Sessions) -> Self {
        Self {
            lobby: Lobby::new(sessions.settings.lobby.clone()),
            epoch: Timestamp::default(),
            ruleset: None,
            reasons: Vec::new(),
            game: draw_game(),
            ended: None,
            kept: None,
        }
    }

    /// Forgets what belongs to the last game, but for the lobby itself.
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

    /// Another mutator counts from now on.
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

    /// What a match record says of this session.
    pub(super) fn frame(&self, server: Option<&str>) -> RecordFrame {
        RecordFrame {
            server: server.unwrap_or_default().to_owned(),
            epoch: self.epoch,
            mode: String::new(),
        }
    }

    /// What there is to keep of a game that goes no further; nothing where play has not begun, is
    /// over, or was nobody's.
    pub(super) fn abandoned(&self, server: Option<&str>) -> Option<Finished> {
        let finished = self.lobby.abandoned(&self.frame(server));
        finished.filter(|finished| !finished.record.participants.is_empty())
    }
}

/// A number that no other game has, from the system's randomness. Should there be none, it is unique among
/// the games of this process, and negative.
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
