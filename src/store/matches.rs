//! Match records: how they are written, and the order in which they are read.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::StoreError;
use crate::domain::{Fingerprint, MatchChances, MatchRecord, Timestamp};

/// The result of writing a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// It has been written, with this id.
    New(i64),
    /// It was on disk already, with this id; nothing was written.
    Duplicate(i64),
}

impl Recorded {
    /// The id of the match on disk.
    pub fn id(self) -> i64 {
        let (Self::New(id) | Self::Duplicate(id)) = self;
        id
    }
}

/// A match as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// Its id; no id is used twice. Matches recorded later have higher ids, except for hosted matches,
    /// which have got theirs when they were formed.
    pub id: i64,
    /// The fingerprint under which it was recorded; it stays the same if an operator changes the
    /// record.
    pub fingerprint: Fingerprint,
    /// The record of the match.
    pub record: MatchRecord,
}

/// A position in the order of matches, by end and then by fingerprint: after the match with these
/// values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor(pub(super) Option<(Timestamp, Fingerprint)>);

impl Cursor {
    /// The position before the first match.
    pub const START: Self = Self(None);

    /// The position after the match that ended at `end` and has this fingerprint.
    pub fn after(end: Timestamp, fingerprint: Fingerprint) -> Self {
        Self(Some((end, fingerprint)))
    }

    /// The end and the fingerprint of the match before it; values below those of any match at the start.
    pub(super) fn place(self) -> (i64, [u8; 16]) {
        self.0
            .map_or((i64::MIN, [0; 16]), |(end, print)| (end.0, print.0))
    }

    /// When the match before this position ended; `None` before the first one.
    pub fn end(&self) -> Option<Timestamp> {
        self.0.map(|(end, _)| end)
    }

    /// The position before the first match that ended at `end` or later.
    pub fn since(end: Timestamp) -> Self {
        Self(Some((end.plus_millis(-1), Fingerprint([u8::MAX; 16]))))
    }
}

/// Joins two halves, the earlier one first, to one match; `None` if they are not halves of one
/// match.
pub type JoinHalves = fn(&MatchRecord, &MatchRecord) -> Option<MatchRecord>;

/// The result of writing a record that may be half of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HalfRecorded {
    /// The other half is not on disk; the record is stored as a match of its own.
    Alone(Recorded),
    /// The record and its other half are now one match.
    Joined {
        /// The id of that match.
        id: i64,
        /// The previous id of the other half, which no match has any more.
        instead_of: i64,
    },
}

impl HalfRecorded {
    /// The id of the match that the record is, or is part of.
    pub fn id(self) -> i64 {
        match self {
            Self::Alone(recorded) => recorded.id(),
            Self::Joined { id, .. } => id,
        }
    }
}

/// Writing and reading of match records.
#[async_trait]
pub trait Matches: Send + Sync {
    /// Writes a match whole or not at all. It is on disk, and survives a power cut, when this returns.
    ///
    /// # Errors
    /// Fails if the record fails [`MatchRecord::check`], or if the database does.
    async fn record(&self, record: &MatchRecord) -> Result<Recorded, StoreError> {
        self.record_as(record, Fingerprint::of(record)).await
    }

    /// Like [`record`](Self::record), under a given fingerprint: a match that was changed after it was
    /// first recorded keeps its fingerprint, and is still the same match.
    ///
    /// # Errors
    /// Fails if the record fails [`MatchRecord::check`], or if the database does.
    async fn record_as(
        &self,
        record: &MatchRecord,
        fingerprint: Fingerprint,
    ) -> Result<Recorded, StoreError>;

    /// Writes many matches in one transaction, which waits for the disk only once: all or none of them
    /// are on disk afterwards. The results are in the order of `records`.
    ///
    /// # Errors
    /// If a record fails [`MatchRecord::check`], those before it are on disk and the rest are not. If
    /// the database fails, none is.
    async fn record_all(
        &self,
        records: &[(MatchRecord, Fingerprint)],
    ) -> Result<Vec<Recorded>, StoreError>;

    /// Writes a record, joined with its other half if that is on disk and the pause between them is
    /// at most `pause` milliseconds. The joined match then stands for both halves: if either is
    /// read again, it is a duplicate.
    ///
    /// # Errors
    /// Fails if the record fails [`MatchRecord::check`], or if the database does.
    async fn record_half(
        &self,
        record: &MatchRecord,
        pause: i64,
        join: JoinHalves,
    ) -> Result<HalfRecorded, StoreError>;

    /// Writes the match of a game that this process has followed, and what was predicted of its teams, once for each
    /// number `game`. If
    /// another game on the same server and map, with the same players, began within the same
    /// second, both are kept: the start of this one is then up to a minute later. The game of a hosted
    /// match gets that match's id.
    ///
    /// # Errors
    /// Those of [`record`](Self::record), and [`StoreError::Crowded`].
    async fn record_game(
        &self,
        record: &MatchRecord,
        chances: &MatchChances,
        game: i64,
    ) -> Result<Recorded, StoreError>;

    /// The id of the match of the game with this number, if it has been recorded.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn match_of_game(&self, game: i64) -> Result<Option<i64>, StoreError>;

    /// The match with this id.
    ///
    /// # Errors
    /// Fails if the database does, or if its rows are not a valid record.
    async fn match_with_id(&self, id: i64) -> Result<Option<Stored>, StoreError>;

    /// When a match began, and its game type as the game names it; `None` if there is no such
    /// match.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn start_of(&self, id: i64) -> Result<Option<(Timestamp, String)>, StoreError>;

    /// The next matches after `cursor`, at most `limit`, and the cursor after the last of them. An
    /// empty list means that there are no more.
    ///
    /// # Errors
    /// Fails if the database does, or if its rows are not a valid record.
    async fn matches(
        &self,
        cursor: Cursor,
        limit: u32,
    ) -> Result<(Vec<Stored>, Cursor), StoreError>;

    /// The number of matches on disk, and the highest id.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn extent(&self) -> Result<(i64, i64), StoreError>;

    /// When the last match ended; `None` if there is no match.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn last_end(&self) -> Result<Option<Timestamp>, StoreError>;

    /// The number of matches up to `cursor`, and the highest id among them.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn extent_to(&self, cursor: Cursor) -> Result<(i64, i64), StoreError>;
}
