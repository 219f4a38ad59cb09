//! Which results of a game the log contains.

use std::collections::BTreeSet;

/// The results of a game that the log contains.
#[derive(Debug, Default)]
pub(super) struct LoggedResults {
    /// Whether the log contains the final score.
    score: bool,
    /// The client numbers whose final points are in the log.
    pointed: BTreeSet<usize>,
}

impl LoggedResults {
    /// Notes that the log contains the final score. Returns whether it has not before.
    pub(super) fn note_result(&mut self) -> bool {
        !std::mem::replace(&mut self.score, true)
    }

    /// Notes that the log contains the final points of a client. Returns whether it has not before.
    pub(super) fn note_points(&mut self, number: usize) -> bool {
        self.pointed.insert(number)
    }

    /// Whether the log contains all results of a game with or without teams, if these clients play.
    pub(super) fn are_whole(&self, teams: bool, mut players: impl Iterator<Item = usize>) -> bool {
        (self.score || !teams) && players.all(|number| self.pointed.contains(&number))
    }
}
