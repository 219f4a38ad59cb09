//! Decisions in running games: a log of bounded length, from which the oldest are deleted first.

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
