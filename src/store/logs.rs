//! Links between archived logs and the matches read from them.

use super::JoinHalves;
use crate::domain::{Fingerprint, MatchRecord};

/// The matches that an archived log contains, as the current parsers read it.
#[derive(Debug)]
pub struct LogMatches {
    /// The fingerprint of the log.
    pub fingerprint: Fingerprint,
    /// The matches of the log, each with its fingerprint.
    pub matches: Vec<(MatchRecord, Fingerprint)>,
    /// The longest pause between two halves of a match in milliseconds, and the function that joins
    /// them; `None` if matches of this format have no halves.
    pub halves: Option<(i64, JoinHalves)>,
}

/// The result of replacing the matches of a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogReplaced {
    /// Number of matches removed, which the current parsers no longer read from the log.
    pub removed: u64,
    /// Number of matches added.
    pub added: u64,
    /// Number of matches that are the same as before.
    pub same: u64,
    /// Number of matches left unchanged because a player in them was forgotten.
    pub kept: u64,
}

impl std::ops::AddAssign for LogReplaced {
    fn add_assign(&mut self, other: Self) {
        self.removed += other.removed;
        self.added += other.added;
        self.same += other.same;
        self.kept += other.kept;
    }
}
