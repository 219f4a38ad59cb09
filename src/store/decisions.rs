//! Decisions taken in running games: a log of bounded length, the oldest deleted first.

use async_trait::async_trait;

use super::StoreError;
use crate::domain::Timestamp;

/// A decision on disk.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionRow {
    /// When it was taken.
    pub made_at: Timestamp,
    /// The game server; empty if it has no name.
    pub server: String,
    /// The key of the ruleset.
    pub ruleset: String,
    /// A number that all decisions of one game share.
    pub game: i64,
    /// Which kind of decision: `balance`, `place`, ….
    pub kind: String,
    /// The seed of its random numbers.
    pub seed: u64,
    /// The predicted chance that team 0 wins, if one was predicted.
    pub chance: Option<f64>,
    /// The question, the seed and the answer, as JSON.
    pub decision: String,
}

/// One thing to write about the decisions of a game.
#[derive(Clone, Debug, PartialEq)]
pub enum DecisionNote {
    /// A decision was taken.
    Decided(DecisionRow),
    /// A game became a match.
    Became {
        /// The number that its decisions share.
        game: i64,
        /// The id of the match.
        match_id: i64,
    },
}

/// The log of decisions.
#[async_trait]
pub trait Decisions: Send + Sync {
    /// Writes notes in order, all or none, and deletes all decisions but the last `keep`.
    ///
    /// # Errors
    /// The database's.
    async fn write_decisions(&self, notes: &[DecisionNote], keep: u32) -> Result<(), StoreError>;

    /// The decision with this id, if it has not been deleted.
    ///
    /// # Errors
    /// The database's.
    async fn decision(&self, id: i64) -> Result<Option<DecisionRow>, StoreError>;
}
