//! The id of a match.

/// The id of a match. A match of a queue has it from the moment it is formed, and END replies it.
pub type MatchId = i64;
