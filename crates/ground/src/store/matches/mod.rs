//! The matches: how they are recorded, read in order, and listed.
//!
//! Each is written whole or not at all, and only an operator changes it afterwards.
//! The numbers that a database gives to new rows are never used again, even if the row is gone.

pub(in crate::store) mod chances;
pub(in crate::store) mod insert;
pub(in crate::store) mod lately;
pub(in crate::store) mod latest;
pub(in crate::store) mod logs;
pub(in crate::store) mod of_person;
pub(in crate::store) mod read_matches;
pub(in crate::store) mod record;
pub(in crate::store) mod reported;

use serde::{Deserialize, Serialize};

use crate::{
    model::{MatchRecord, Timestamp, fingerprint::Fingerprint},
    store::{
        Store, StoreError,
        db::{At, FromColumn, Row, *},
    },
};

/// The matches.
#[derive(Clone, Copy, Debug)]
pub struct Matches<'a>(&'a Store);

impl Store {
    /// The matches.
    pub fn matches(&self) -> Matches<'_> {
        Matches(self)
    }
}

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
pub struct StoredMatch {
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
pub struct Cursor(Option<(Timestamp, Fingerprint)>);

/// A position is in two columns: `ended_at` and `fingerprint`.
impl FromColumn<'_> for Cursor {
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
    pub(super) fn position(self) -> (Timestamp, [u8; 16]) {
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

/// The highest number that was given to a row of a table, also if the row was removed; 0 if there was none.
pub(super) async fn last_number(
    tx: &mut PooledConnection,
    table: &str,
    column: &str,
) -> Result<i64, StoreError> {
    let highest = scalar(format!("SELECT coalesce(max({column}), 0) FROM {table}"));
    let highest: i64 = highest.fetch_one(&mut *tx).await?;
    let counted = match tx.dialect() {
        Dialect::Sqlite => {
            scalar("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = $1").bind(table)
        }
        Dialect::Postgres => scalar(
            "SELECT coalesce(pg_sequence_last_value(CAST(pg_get_serial_sequence($1, $2) AS regclass)), 0)",
        )
        .bind(table)
        .bind(column),
    };
    Ok(highest.max(counted.fetch_one(tx).await?))
}

/// Makes the next row of a table get a number that is higher than this one, if the table counts.
pub(super) async fn set_last_number(
    tx: &mut PooledConnection,
    table: &str,
    column: &str,
    last: i64,
) -> Result<(), StoreError> {
    if last < 1 {
        return Ok(());
    }
    let set = match tx.dialect() {
        Dialect::Sqlite => {
            let delete = sql("DELETE FROM sqlite_sequence WHERE name = $1").bind(table);
            delete.execute(&mut *tx).await?;
            let insert =
                "INSERT INTO sqlite_sequence (name, seq) SELECT name, $2 FROM sqlite_schema
                 WHERE type = 'table' AND name = $1 AND sql LIKE '%AUTOINCREMENT%'";
            sql(insert).bind(table).bind(last)
        }
        Dialect::Postgres => {
            let set = "SELECT setval(CAST(pg_get_serial_sequence($1, $2) AS regclass), $3)";
            sql(set).bind(table).bind(column).bind(last)
        }
    };
    set.execute(tx).await.map(drop)
}
