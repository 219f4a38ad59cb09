//! Matches that clients record over HTTP, and the keys under which they do: a repetition gets the first answer.

use crate::domain::{Fingerprint, MatchChances, MatchRecord};

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
