//! Match records: what is written of them, and in which order they are read.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::StoreError;
use crate::domain::{Fingerprint, MatchRecord, Timestamp};

/// What writing a record did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// It is on disk now, under this id.
    New(i64),
    /// It was on disk already, under this id; nothing was written.
    Duplicate(i64),
}

impl Recorded {
    /// The id of the match on disk.
    pub fn id(self) -> i64 {
        let (Self::New(id) | Self::Duplicate(id)) = self;
        id
    }
}

/// A match on disk.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Its id: a later match has a higher one, and none is used twice.
    pub id: i64,
    /// The fingerprint it was recorded under. An operator's change to the record leaves it as it is.
    pub fingerprint: Fingerprint,
    /// The match.
    pub record: MatchRecord,
}

/// A place in the order of matches, which is by end and then by fingerprint: behind the match with these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor(pub(super) Option<(Timestamp, Fingerprint)>);

impl Cursor {
    /// Before the first match.
    pub const START: Self = Self(None);

    /// Before the first match that ended at `end` or later.
    pub fn since(end: Timestamp) -> Self {
        Self(Some((end.plus_millis(-1), Fingerprint([u8::MAX; 16]))))
    }
}

/// Makes one match of two halves, the earlier one first; `None` if they are not halves of one match.
pub type JoinHalves = fn(&MatchRecord, &MatchRecord) -> Option<MatchRecord>;

/// What writing a record that may be half of a match did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HalfRecorded {
    /// No other half is on disk: it is a match of its own.
    Alone(Recorded),
    /// It and its other half are one match now.
    Joined {
        /// The id of that match.
        id: i64,
        /// The id that the other half had until now.
        instead_of: i64,
    },
}

impl HalfRecorded {
    /// The id of the match that it is, or is part of.
    pub fn id(self) -> i64 {
        match self {
            Self::Alone(recorded) => recorded.id(),
            Self::Joined { id, .. } => id,
        }
    }
}

/// Match records in and out.
#[async_trait]
pub trait Matches: Send + Sync {
    /// Writes a match whole or not at all. It is on disk, and survives a power cut, when this returns.
    ///
    /// # Errors
    /// The record fails [`MatchRecord::check`], or the database's.
    async fn record(&self, record: &MatchRecord) -> Result<Recorded, StoreError> {
        self.record_as(record, Fingerprint::of(record)).await
    }

    /// As [`record`](Self::record), under a fingerprint that need not be the record's own: a match that
    /// was changed after it was first recorded is still the same match.
    ///
    /// # Errors
    /// The record fails [`MatchRecord::check`], or the database's.
    async fn record_as(
        &self,
        record: &MatchRecord,
        fingerprint: Fingerprint,
    ) -> Result<Recorded, StoreError>;

    /// Writes many matches in one transaction, which costs one wait for the disk: all or none of them
    /// are on disk afterwards. The answers are in the order of `records`.
    ///
    /// # Errors
    /// A record fails [`MatchRecord::check`]: then those before it are on disk and the rest are not. The
    /// database's: then none is.
    async fn record_all(
        &self,
        records: &[(MatchRecord, Fingerprint)],
    ) -> Result<Vec<Recorded>, StoreError>;

    /// Writes a record, joined with its other half if that is on disk and ended at most `pause`
    /// milliseconds before this one began, or began at most so long after this one ended. The match
    /// then counts as both: either half, read again, is a duplicate of it.
    ///
    /// # Errors
    /// The record fails [`MatchRecord::check`], or the database's.
    async fn record_half(
        &self,
        record: &MatchRecord,
        pause: i64,
        join: JoinHalves,
    ) -> Result<HalfRecorded, StoreError>;

    /// Writes the match of a game that this process has followed, once for each number `game`. A game on the
    /// same server and map, with the same players, that began within the same second as another one is
    /// recorded up to a minute later, so that both are kept.
    ///
    /// # Errors
    /// As [`record`](Self::record), and [`StoreError::Crowded`].
    async fn record_game(&self, record: &MatchRecord, game: i64) -> Result<Recorded, StoreError>;

    /// The id of the match that the game with this number became, if it has been recorded.
    ///
    /// # Errors
    /// The database's.
    async fn match_of_game(&self, game: i64) -> Result<Option<i64>, StoreError>;

    /// The match with this id.
    ///
    /// # Errors
    /// The database's, or rows that make no record.
    async fn match_with_id(&self, id: i64) -> Result<Option<Stored>, StoreError>;

    /// When a match began, and its game type as the game names it; `None` if there is no such match.
    ///
    /// # Errors
    /// The database's.
    async fn start_of(&self, id: i64) -> Result<Option<(Timestamp, String)>, StoreError>;

    /// The last match of a server, if it ended at `since` or later.
    ///
    /// # Errors
    /// The database's, or rows that make no record.
    async fn last_of(&self, server: &str, since: Timestamp) -> Result<Option<Stored>, StoreError>;

    /// The next matches behind `cursor`, at most `limit`, and the cursor behind the last of them. An
    /// empty list means that there are no more.
    ///
    /// # Errors
    /// The database's, or rows that make no record.
    async fn matches(
        &self,
        cursor: Cursor,
        limit: u32,
    ) -> Result<(Vec<Stored>, Cursor), StoreError>;

    /// The number of matches on disk, and the highest id.
    ///
    /// # Errors
    /// The database's.
    async fn extent(&self) -> Result<(i64, i64), StoreError>;

    /// The number of matches up to `cursor`, and the highest id among them.
    ///
    /// # Errors
    /// The database's.
    async fn extent_to(&self, cursor: Cursor) -> Result<(i64, i64), StoreError>;
}
