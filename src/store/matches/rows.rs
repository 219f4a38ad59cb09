//! Match records: how they are written, and the order in which they are read.

use serde::{Deserialize, Serialize};

use crate::{
    model::{Fingerprint, MatchRecord, Timestamp},
    store::{
        StoreError,
        db::{At, Column, Row},
    },
};

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor(pub(super) Option<(Timestamp, Fingerprint)>);

/// A position is in two columns: `ended_at` and `fingerprint`.
impl Column<'_> for Cursor {
    fn read(row: &Row, _: At<'_>) -> Result<Self, StoreError> {
        Ok(Self::after(row.get("ended_at")?, row.get("fingerprint")?))
    }
}

impl Cursor {
    /// The position before the first match.
    pub const START: Self = Self(None);

    /// The position after the match that ended at `end` and has this fingerprint.
    pub fn after(end: Timestamp, fingerprint: Fingerprint) -> Self {
        Self(Some((end, fingerprint)))
    }

    /// The end and the fingerprint of the match before it; values below those of any match at the start.
    pub(in crate::store) fn place(self) -> (Timestamp, [u8; 16]) {
        let start = (Timestamp(i64::MIN), [0; 16]);
        self.0.map_or(start, |(end, print)| (end, print.0))
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
