//! The game that the log of a server describes.

use std::collections::BTreeSet;

use crate::ingest::idtech3::setup::GameSetup;

/// The time after which a game counts as in play, in milliseconds of the log's clock. A warm-up is
/// announced before that.
const OPENING: u64 = 1_000;

/// A game, and which of its results the log contains.
pub(super) struct LoggedGame {
    pub(super) setup: GameSetup,
    /// When it began, on the log's clock.
    began: u64,
    /// Whether the log contains the final score.
    result: bool,
    /// The client numbers whose final points are in the log.
    pointed: BTreeSet<usize>,
}

impl LoggedGame {
    /// The game of an `InitGame:` or `InitRound:` line.
    pub(super) fn new(info: &[u8], at: u64) -> Self {
        Self {
            setup: GameSetup::read(info),
            began: at,
            result: false,
            pointed: BTreeSet::new(),
        }
    }

    /// Whether play must have begun by now, although the log has not announced it.
    pub(super) fn has_opened(&self, at: u64) -> bool {
        at.saturating_sub(self.began) >= OPENING
    }

    /// Notes that the log contains the final score. Returns whether it has not before.
    pub(super) fn note_result(&mut self) -> bool {
        !std::mem::replace(&mut self.result, true)
    }

    /// Notes that the log contains the final points of a client. Returns whether it has not before.
    pub(super) fn note_points(&mut self, number: usize) -> bool {
        self.pointed.insert(number)
    }

    /// Whether the log contains all results, if these clients play.
    pub(super) fn has_results(&self, mut players: impl Iterator<Item = usize>) -> bool {
        (self.result || !self.setup.teams) && players.all(|number| self.pointed.contains(&number))
    }
}
