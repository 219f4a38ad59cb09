//! The game that the log shows.

use super::hosted::TEAMS;
use crate::sidecar::{logged::LoggedSetup, progress::GamePhase, results::LoggedResults};

/// The game that the log shows.
pub(super) struct SeenGame {
    pub(super) setup: LoggedSetup,
    pub(super) phase: GamePhase,
    /// When its phase was last entered.
    pub(super) since: u64,
    /// The scores so far.
    pub(super) totals: [i64; TEAMS],
    pub(super) results: LoggedResults,
}

impl SeenGame {
    pub(super) fn new(setup: LoggedSetup, now: u64) -> Self {
        Self {
            setup,
            phase: GamePhase::Opening,
            since: now,
            totals: [0; TEAMS],
            results: LoggedResults::default(),
        }
    }

    pub(super) fn enter(&mut self, phase: GamePhase, now: u64) {
        (self.phase, self.since) = (phase, now);
    }

    /// Starts play, or starts it again.
    pub(super) fn start(&mut self, now: u64) {
        if self.phase != GamePhase::Playing {
            self.totals = [0; TEAMS];
        }
        self.enter(GamePhase::Playing, now);
    }

    /// Whether all results are known, if these clients play.
    pub(super) fn has_results(&self, players: impl Iterator<Item = usize>) -> bool {
        self.results.are_whole(self.setup.teams, players)
    }
}
