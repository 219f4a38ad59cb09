//! What is counted about running games.

use std::sync::Arc;

use super::AskerClass;
use crate::metrics::{Counter, Gauge, Histogram, Registry, SHARES};

/// What all sessions count.
#[derive(Debug)]
pub struct SessionMetrics {
    registry: Registry,
    ratios: Histogram,
    chances: Histogram,
    playing: Gauge,
    pub(super) recorded: Counter,
    pub(super) kept: Counter,
    pub(super) lost: Counter,
    pub(super) too_many_new: Counter,
    pub(super) refused: Counter,
    pub(super) journal_failures: Counter,
    pub(super) games_given_up: Counter,
    /// By class.
    no_turns: [Counter; 3],
}

impl Default for SessionMetrics {
    fn default() -> Self {
        let mut all = Registry::default();
        Self {
            ratios: all.histogram(
                "evenkeel_teams_ratio",
                "Weight of the weakest team divided by that of the strongest, of the teams that BALANCE picked.",
                SHARES,
            ),
            chances: all.histogram(
                "evenkeel_teams_chance",
                "Predicted chance that team 0 wins, of the teams that BALANCE picked.",
                SHARES,
            ),
            playing: all.gauge(
                "evenkeel_games_playing",
                "Games between START and END, with parked ones.",
            ),
            recorded: all.counter(
                "evenkeel_matches_recorded_total",
                "Matches that were recorded at END; without those of logs.",
            ),
            kept: all.counter(
                "evenkeel_matches_kept_total",
                "Matches that could not be recorded at END and were kept in memory.",
            ),
            lost: all.counter(
                "evenkeel_backlog_lost_total",
                "Abandoned games and decisions that are lost because too many waited for the disk.",
            ),
            too_many_new: all.counter(
                "evenkeel_matches_too_many_new_total",
                "Matches that END has recorded and that are not rated, because the sender's share of new rulesets and players was used up.",
            ),
            refused: all.counter(
                "evenkeel_reports_refused_total",
                "Requests with matches that were refused over HTTP because the sender's share was used up.",
            ),
            journal_failures: all.counter(
                "evenkeel_journal_failures_total",
                "How often a running game could not be journaled or its journal not be forced to the disk.",
            ),
            games_given_up: all.counter(
                "evenkeel_games_given_up_total",
                "Games that were given up before their server had connected again, because too many waited.",
            ),
            no_turns: AskerClass::ALL.map(|class| {
                all.counter(
                    ("evenkeel_turns_refused_total", "class", class.as_str()),
                    "Questions for teams that were refused because too many others asked, by who asked.",
                )
            }),
            registry: all,
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

/// What waits or is kept besides what [`SessionMetrics`] count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionLevels {
    /// Games whose connection ended, and that wait for their server.
    pub parked: usize,
    /// Matches that are not on disk yet.
    pub waiting_matches: usize,
    /// Decisions that are not on disk yet.
    pub waiting_decisions: usize,
    /// Questions for teams that wait for their turn, by class.
    pub waiting_questions: [usize; 3],
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

    /// Counts a question that had no turn in time.
    pub(super) fn no_turn(&self, class: AskerClass) {
        let classes = AskerClass::ALL.iter().zip(&self.no_turns);
        for (_, count) in classes.filter(|(other, _)| **other == class) {
            count.count();
        }
    }

    /// How many games were given up because too many waited for their servers.
    pub fn games_given_up(&self) -> u64 {
        self.games_given_up.get()
    }

    /// How many questions had no turn in time.
    pub fn no_turns(&self) -> u64 {
        self.no_turns.iter().map(Counter::get).sum()
    }

    /// The number of games in play, with those that are parked.
    pub fn playing(&self) -> i64 {
        self.playing.get() as i64
    }

    /// How many matches END has recorded.
    pub fn recorded(&self) -> u64 {
        self.recorded.get()
    }

    /// How often a running game could not be journaled.
    pub fn journal_failures(&self) -> u64 {
        self.journal_failures.get()
    }

    /// Adds all metrics to those of a reading.
    pub fn gather(&self, all: &mut Registry, levels: SessionLevels) {
        all.extend(&self.registry);
        let parked = all.gauge(
            "evenkeel_games_parked",
            "Games whose connection ended and that wait for their server.",
        );
        parked.set(levels.parked as f64);
        let unforced = all.gauge(
            "evenkeel_journals_unforced",
            "Journals of running games of which a power cut would lose the last bytes.",
        );
        unforced.set(levels.unforced_journals as f64);
        for (class, waiting) in AskerClass::ALL.iter().zip(levels.waiting_questions) {
            let turns = all.gauge(
                ("evenkeel_turns_waiting", "class", class.as_str()),
                "Questions for teams that wait for their turn, by who asks.",
            );
            turns.set(waiting as f64);
        }
        for (kind, waiting) in [
            ("matches", levels.waiting_matches),
            ("decisions", levels.waiting_decisions),
        ] {
            let backlog = all.gauge(
                ("evenkeel_backlog", "kind", kind),
                "What is not on disk yet: matches that could not be recorded at END, and decisions.",
            );
            backlog.set(waiting as f64);
        }
    }
}
