//! The game that the log shows: how far it is, and which of its results are known.

use std::collections::BTreeSet;

use super::logged::LoggedSetup;

/// How long the results may take after the end of play, in milliseconds.
const RESULTS: u64 = 2_000;
/// The time of play after which a player who joins is a late arrival, in milliseconds. Those who
/// join earlier were still loading the map.
const LATE: u64 = 15_000;

/// The phase of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GamePhase {
    /// The map is loaded, and play has not begun; a warm-up may follow.
    Opening,
    /// Players warm up; what they do does not count.
    WarmUp,
    /// Play is running.
    Playing,
    /// Play has ended, and the results are being logged.
    Over,
    /// All results have been logged, or are overdue.
    Ended,
}

/// A game as the log shows it. Times are milliseconds of any clock, which is the same for all calls.
#[derive(Debug)]
pub(super) struct LoggedGame {
    pub(super) setup: LoggedSetup,
    phase: GamePhase,
    /// When the phase was last entered.
    since: u64,
    /// Whether the log contains the final score.
    scored: bool,
    /// The client numbers whose final points are in the log.
    pointed: BTreeSet<usize>,
}

impl LoggedGame {
    /// A game that has just been announced.
    pub(super) fn new(setup: LoggedSetup, now: u64) -> Self {
        Self {
            setup,
            phase: GamePhase::Opening,
            since: now,
            scored: false,
            pointed: BTreeSet::new(),
        }
    }

    pub(super) fn phase(&self) -> GamePhase {
        self.phase
    }

    pub(super) fn enter(&mut self, phase: GamePhase, now: u64) {
        (self.phase, self.since) = (phase, now);
    }

    /// For how long the game has been in its phase, in milliseconds.
    pub(super) fn lasted(&self, now: u64) -> u64 {
        now.saturating_sub(self.since)
    }

    /// Whether a player who joins now is a late arrival.
    pub(super) fn is_late(&self, now: u64) -> bool {
        self.phase == GamePhase::Playing && self.lasted(now) >= LATE
    }

    /// Whether the results are overdue.
    pub(super) fn is_overdue(&self, now: u64) -> bool {
        self.phase == GamePhase::Over && self.lasted(now) >= RESULTS
    }

    /// Notes that the log contains the final score. Returns whether it has not before.
    pub(super) fn note_result(&mut self) -> bool {
        !std::mem::replace(&mut self.scored, true)
    }

    /// Notes that the log contains the final points of a client. Returns whether it has not before.
    pub(super) fn note_points(&mut self, number: usize) -> bool {
        self.pointed.insert(number)
    }

    /// Whether the log contains all results, if these clients play.
    pub(super) fn has_results(&self, mut players: impl Iterator<Item = usize>) -> bool {
        let scored = self.scored || !self.setup.teams;
        scored && players.all(|number| self.pointed.contains(&number))
    }
}
