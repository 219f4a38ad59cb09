//! How far a game is, as the log shows it: its phase, and whether the daemon follows it.

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

/// The phase of one game, when it began, and whether the daemon has all of the game. Times are
/// milliseconds of any clock, which is the same for all calls.
#[derive(Debug)]
pub(super) struct GameProgress {
    phase: GamePhase,
    since: u64,
    complete: bool,
}

impl GameProgress {
    /// A game that has just been announced. It is `complete` if the daemon is sent its beginning.
    pub(super) fn new(now: u64, complete: bool) -> Self {
        Self {
            phase: GamePhase::Opening,
            since: now,
            complete,
        }
    }

    pub(super) fn phase(&self) -> GamePhase {
        self.phase
    }

    pub(super) fn enter(&mut self, phase: GamePhase, now: u64) {
        self.phase = phase;
        self.since = now;
    }

    /// For how long the game has been in its phase, in milliseconds.
    pub(super) fn lasted(&self, now: u64) -> u64 {
        now.saturating_sub(self.since)
    }

    /// Handles the start or the end of a connection to the daemon. The daemon has lost what it was sent of
    /// a running game, so the game is no longer complete.
    pub(super) fn interrupt(&mut self) {
        self.complete &= matches!(self.phase, GamePhase::Opening | GamePhase::WarmUp);
    }

    /// The daemon is sent the game from here on. In a warm-up that is all of it that counts.
    pub(super) fn resume(&mut self) {
        self.complete |= self.phase == GamePhase::WarmUp;
    }

    /// Stops sending the game, because the daemon's version does not follow games.
    pub(super) fn give_up(&mut self) {
        self.complete = false;
    }

    /// Whether the daemon has been sent the game from its beginning, so that it can store the match.
    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }

    /// Whether events are sent to the daemon now.
    pub(super) fn is_followed(&self) -> bool {
        self.complete && self.phase == GamePhase::Playing
    }

    /// Whether a player who joins now is a late arrival.
    pub(super) fn is_late(&self, now: u64) -> bool {
        self.phase == GamePhase::Playing && self.lasted(now) >= LATE
    }

    /// Whether the results are overdue.
    pub(super) fn is_overdue(&self, now: u64) -> bool {
        self.phase == GamePhase::Over && self.lasted(now) >= RESULTS
    }
}
