//! Matches that clients record over HTTP, and the keys under which they do: a repetition gets the first answer.

use async_trait::async_trait;

use super::StoreError;
use crate::domain::{Fingerprint, MatchChances, MatchRecord, Timestamp};

/// A match that a client records, and what the client is answered.
#[derive(Clone, Debug)]
pub struct ReportedMatch {
    /// The record of the match.
    pub record: MatchRecord,
    /// The fingerprint under which it is recorded.
    pub fingerprint: Fingerprint,
    /// What was predicted of its teams.
    pub chances: MatchChances,
    /// The keys that the client has given it.
    pub keys: Vec<Receipt>,
    /// The code of the reason why it is not rated.
    pub unrated: Option<String>,
    /// The number of the decision that picked its teams.
    pub decision: Option<i64>,
}

/// A key of a client, and what the client has sent under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The key.
    pub key: String,
    /// A hash of what was sent.
    pub body: [u8; 32],
}

/// What became of matches that a client has sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reported {
    /// All are on disk: the id of each, and why it is not rated. What was sent before has the first answer.
    Recorded(Vec<(i64, Option<String>)>),
    /// None is, because something else was sent under this key before.
    OtherBody(String),
}

/// Writes what clients report over HTTP.
#[async_trait]
pub trait Receipts: Send + Sync {
    /// Writes the matches of a client that it has not sent before, all or none, and notes their keys. They are on
    /// disk, and survive a power cut, when this returns.
    ///
    /// # Errors
    /// Fails if a record fails [`MatchRecord::check`], or if the database does.
    async fn record_reported(
        &self,
        client: &str,
        now: Timestamp,
        matches: &[ReportedMatch],
    ) -> Result<Reported, StoreError>;

    /// The client that has recorded a match over HTTP, and when.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn reporter_of(&self, id: i64) -> Result<Option<(String, Timestamp)>, StoreError>;

    /// Deletes the keys of matches that were recorded before an instant.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn drop_receipts(&self, before: Timestamp) -> Result<u64, StoreError>;
}
