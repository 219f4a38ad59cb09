//! The game that the log shows.

use crate::{
    ingest::idtech3::{grammar::pairs, scoring::TeamTotals},
    sidecar::{idtech3::game::LoggedGame, progress::GamePhase},
};

/// The variable of the game server, shown in its log, that names the match of a game.
pub(super) const MATCH_VARIABLE: &str = "evenkeel_match";

/// The game that the log shows.
pub(super) struct SeenGame {
    pub(super) game: LoggedGame,
    /// The match that it is, by the variable that the agent has set.
    pub(super) match_id: Option<i64>,
    pub(super) phase: GamePhase,
    /// When its phase was last entered.
    pub(super) since: u64,
    /// The scores so far.
    pub(super) totals: TeamTotals,
}

impl SeenGame {
    pub(super) fn new(info: &[u8], at: u64, now: u64) -> Self {
        let mut id = None;
        for (key, value) in pairs(info) {
            if key == MATCH_VARIABLE.as_bytes() {
                id = std::str::from_utf8(value).ok();
            }
        }
        Self {
            game: LoggedGame::new(info, at),
            match_id: id.and_then(|id| id.parse().ok()),
            phase: GamePhase::Opening,
            since: now,
            totals: TeamTotals::default(),
        }
    }

    pub(super) fn enter(&mut self, phase: GamePhase, now: u64) {
        (self.phase, self.since) = (phase, now);
    }

    /// Starts play, or starts it again.
    pub(super) fn start(&mut self, now: u64) {
        if self.phase != GamePhase::Playing {
            self.totals = TeamTotals::default();
        }
        self.enter(GamePhase::Playing, now);
    }
}
