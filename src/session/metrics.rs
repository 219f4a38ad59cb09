//! What is counted about running games.

use std::sync::Arc;

use super::{Sessions, state::SessionState};
use crate::metrics::{Buckets, Counter, Family, FamilyKind, Gauge, SHARES};

/// What all sessions count.
#[derive(Debug)]
pub struct SessionMetrics {
    /// The ratios of the teams that BALANCE picked.
    ratios: Buckets,
    /// The chances that team 0 of them wins.
    chances: Buckets,
    /// Games in play.
    playing: Gauge,
    /// Matches that END has recorded.
    pub(super) recorded: Counter,
    /// Matches that END could not record at once.
    pub(super) kept: Counter,
    /// Abandoned games and decisions that are lost because the backlog was full.
    pub(super) lost: Counter,
    /// How often a running game could not be journaled.
    pub(super) journal_failures: Counter,
}

impl Default for SessionMetrics {
    fn default() -> Self {
        Self {
            ratios: Buckets::new(SHARES),
            chances: Buckets::new(SHARES),
            playing: Gauge::default(),
            recorded: Counter::default(),
            kept: Counter::default(),
            lost: Counter::default(),
            journal_failures: Counter::default(),
        }
    }
}

/// Counts a game as in play until it is dropped.
#[derive(Debug)]
pub(super) struct InPlay(Arc<SessionMetrics>);

impl InPlay {
    pub(super) fn new(metrics: &Arc<SessionMetrics>) -> Self {
        metrics.playing.rise();
        Self(metrics.clone())
    }
}

impl Drop for InPlay {
    fn drop(&mut self) {
        self.0.playing.fall();
    }
}

impl SessionState {
    /// Counts the game as in play, or does not any more.
    pub(super) fn count_play(&mut self, sessions: &Sessions) {
        match self.lobby.is_running() {
            true if self.playing.is_none() => self.playing = Some(InPlay::new(&sessions.metrics)),
            false => self.playing = None,
            true => {}
        }
    }
}

/// What waits or is kept besides what [`SessionMetrics`] count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionLevels {
    /// Games whose connection ended, and that wait for their server.
    pub parked: usize,
    /// Matches that are not on disk yet.
    pub waiting_matches: usize,
    /// Decisions that are not on disk yet.
    pub waiting_decisions: usize,
    /// Journals of which a power cut would lose the last bytes.
    pub unforced_journals: usize,
}

impl SessionMetrics {
    /// Adds the teams that BALANCE has picked.
    pub(super) fn picked(&self, ratio: f64, chance: Option<f64>) {
        self.ratios.observe(ratio);
        if let Some(chance) = chance {
            self.chances.observe(chance);
        }
    }

    /// The number of games in play, with those that are parked.
    pub fn playing(&self) -> i64 {
        self.playing.get()
    }

    /// How many matches END has recorded.
    pub fn recorded(&self) -> u64 {
        self.recorded.get()
    }

    /// How often a running game could not be journaled.
    pub fn journal_failures(&self) -> u64 {
        self.journal_failures.get()
    }

    /// The names, meanings and values.
    pub fn families(&self, levels: SessionLevels) -> Vec<Family> {
        let backlog = Family::new(
            FamilyKind::Gauge,
            "evenkeel_backlog",
            "What is not on disk yet: matches that could not be recorded at END, and decisions.",
        );
        vec![
            Family::histogram(
                "evenkeel_teams_ratio",
                "Weight of the weakest team divided by that of the strongest, of the teams that BALANCE picked.",
                self.ratios.counts(),
            ),
            Family::histogram(
                "evenkeel_teams_chance",
                "Predicted chance that team 0 wins, of the teams that BALANCE picked.",
                self.chances.counts(),
            ),
            Family::gauge(
                "evenkeel_games_playing",
                "Games between START and END, with parked ones.",
                &self.playing,
            ),
            Family::gauge(
                "evenkeel_games_parked",
                "Games whose connection ended and that wait for their server.",
                levels.parked,
            ),
            Family::counter(
                "evenkeel_matches_recorded_total",
                "Matches that were recorded at END; without those of logs.",
                &self.recorded,
            ),
            Family::counter(
                "evenkeel_matches_kept_total",
                "Matches that could not be recorded at END and were kept in memory.",
                &self.kept,
            ),
            backlog
                .with(&[("kind", "matches")], levels.waiting_matches)
                .with(&[("kind", "decisions")], levels.waiting_decisions),
            Family::counter(
                "evenkeel_backlog_lost_total",
                "Abandoned games and decisions that are lost because too many waited for the disk.",
                &self.lost,
            ),
            Family::gauge(
                "evenkeel_journals_unforced",
                "Journals of running games of which a power cut would lose the last bytes.",
                levels.unforced_journals,
            ),
            Family::counter(
                "evenkeel_journal_failures_total",
                "How often a running game could not be journaled or its journal not be forced to the disk.",
                &self.journal_failures,
            ),
        ]
    }
}
