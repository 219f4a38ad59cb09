//! Which archived log which match was read from.

use async_trait::async_trait;

use super::{JoinHalves, StoreError};
use crate::domain::{Fingerprint, MatchRecord};

/// The matches that an archived log contains, as it is read now.
#[derive(Debug)]
pub struct LogMatches {
    /// The fingerprint of the log.
    pub fingerprint: Fingerprint,
    /// Its matches, each with its fingerprint.
    pub matches: Vec<(MatchRecord, Fingerprint)>,
    /// Within how many milliseconds two of its matches may be halves of one, and what joins them; `None`
    /// if its format has no halves.
    pub halves: Option<(i64, JoinHalves)>,
}

/// What replacing the matches of a log did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogReplaced {
    /// Matches removed: the log was read so before, and is no longer.
    pub removed: u64,
    /// Matches added.
    pub added: u64,
    /// Matches that are the same as before.
    pub same: u64,
    /// Matches left as they are because a player in them was forgotten.
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

/// Links between archived logs and matches.
#[async_trait]
pub trait Logs: Send + Sync {
    /// Links matches to the log they were read from. The links of the `older` logs, whose content is
    /// part of this one, pass to it.
    ///
    /// # Errors
    /// The database's.
    async fn link_log(
        &self,
        log: Fingerprint,
        matches: &[i64],
        older: &[Fingerprint],
    ) -> Result<(), StoreError>;

    /// Puts the matches that a log contains as it is read now in the place of those linked to it, in one
    /// transaction. A match that is the same as before stays.
    ///
    /// # Errors
    /// A record fails [`MatchRecord::check`], or the database's.
    async fn replace_log(&self, log: &LogMatches) -> Result<LogReplaced, StoreError>;
}
