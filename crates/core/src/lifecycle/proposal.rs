//! What a search has found, and what it searched among.

use std::sync::Arc;

use super::TicketNumber;
use crate::domain::Timestamp;

/// Teams that a search has found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Proposal {
    /// The tickets of each team.
    pub teams: Vec<Vec<TicketNumber>>,
    /// Number of players that each team should have.
    pub size: u32,
    /// The mode of the match, if a rule picks one.
    pub mode: Option<String>,
    /// The map of the match, if a rule picks one.
    pub map: Option<String>,
    /// What the violations of rules that are not hard cost together.
    pub penalty: f64,
    /// The predicted chance that team 0 wins.
    pub chance: Option<f64>,
    /// The seed of the round.
    pub seed: u64,
    /// When the round began, until which the waits of these tickets count.
    pub searched_at: Timestamp,
    /// The ruleset whose rating system predicts the chance.
    pub ruleset: String,
    /// What each rule found, one line each. In memory, a match does not keep them.
    pub why: Vec<String>,
    /// What the round searched among; `None` if that is too large to store. In memory, a match does not
    /// keep it.
    pub pool: Option<Arc<SearchedPool>>,
}

/// What a round searched among: with the contents of the tickets, enough to find its matches again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SearchedPool {
    /// The name of the queue.
    pub queue: String,
    /// The configuration of the queue, as JSON.
    pub settings: String,
    /// The seed of all random numbers.
    pub seed: u64,
    /// How much was searched.
    pub effort: u32,
    /// The version of the program.
    pub version: String,
    /// When the round began, until which the waits of the tickets count.
    pub searched_at: Timestamp,
    /// The numbers of the tickets, as in `3-7 9`.
    pub tickets: String,
    /// What was known of their players, as JSON.
    pub known: String,
    /// How the rating system turns strengths into chances, as JSON; `None` before its first rated match.
    pub outlook: Option<String>,
}
