//! The game that the log of a server describes.

use crate::{ingest::idtech3::setup::GameSetup, sidecar::results::LoggedResults};

/// The time after which a game counts as in play, in milliseconds of the log's clock. A warm-up is
/// announced before that.
const OPENING: u64 = 1_000;
/// The same by the caller's clock: a server without players writes nothing.
const READ: u64 = 750;

/// A game, and which of its results the log contains.
pub(super) struct LoggedGame {
    pub(super) setup: GameSetup,
    /// When it began, on the log's clock.
    began: u64,
    /// When that was read, by the caller's clock.
    read: u64,
    pub(super) results: LoggedResults,
}

impl LoggedGame {
    /// The game of an `InitGame:` or `InitRound:` line.
    pub(super) fn new(info: &[u8], at: u64, now: u64) -> Self {
        Self {
            setup: GameSetup::read(info),
            began: at,
            read: now,
            results: LoggedResults::default(),
        }
    }

    /// Whether play must have begun by now, although the log has not announced it.
    pub(super) fn has_opened(&self, at: u64) -> bool {
        at.saturating_sub(self.began) >= OPENING
    }

    /// The same without a line that says so.
    pub(super) fn is_silent(&self, now: u64) -> bool {
        now.saturating_sub(self.read) >= READ
    }
}
