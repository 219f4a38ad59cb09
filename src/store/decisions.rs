//! Decisions in running games: a log of bounded length, from which the oldest are deleted first.

use async_trait::async_trait;

use super::StoreError;
use crate::domain::Timestamp;

/// A decision as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct DecisionRow {
    /// When the decision was made.
    pub made_at: Timestamp,
    /// The game server; empty if it has no name.
    pub server: String,
    /// The key of the ruleset.
    pub ruleset: String,
    /// A number that the decisions of one game have in common.
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

/// A change to the log of decisions.
#[derive(Clone, Debug, PartialEq)]
pub enum DecisionNote {
    /// A decision that was made in a running game.
    Decided(DecisionRow),
    /// A game was stored as a match.
    Became {
        /// The number of its decisions ([`DecisionRow::game`]).
        game: i64,
        /// The id of the match.
        match_id: i64,
    },
}

/// Access to the log of decisions.
#[async_trait]
pub trait Decisions: Send + Sync {
    /// Applies the notes in order, all or none, then deletes decisions so that the last `keep` are left: the oldest
    /// first, and not many more than were written, so that others need not wait for long.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn write_decisions(&self, notes: &[DecisionNote], keep: u32) -> Result<(), StoreError>;

    /// Writes one decision, and returns its number. Then deletes old ones, as
    /// [`write_decisions`](Self::write_decisions) does.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn keep_decision(&self, decision: &DecisionRow, keep: u32) -> Result<i64, StoreError>;

    /// Deletes decisions that were made before an instant: of the `most` oldest ones. Returns how many.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn drop_decisions(&self, before: Timestamp, most: u32) -> Result<u64, StoreError>;

    /// The decision with this id; `None` if there is none, or if it has been deleted.
    ///
    /// # Errors
    /// Fails if the database does.
    async fn decision(&self, id: i64) -> Result<Option<DecisionRow>, StoreError>;
}
