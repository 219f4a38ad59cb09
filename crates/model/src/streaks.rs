//! One team wins again and again by far.

use serde::{Deserialize, Serialize};

use super::worded;

/// The same team has won several times in a row, by far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Streak {
    /// The team, counted from 0.
    pub team: u8,
    /// How often it has won.
    pub wins: u32,
    /// What it has won.
    pub of: Contest,
}

worded! {
    /// What a team can win.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Contest {
        /// Rounds of the running game, or whatever else scores.
        Rounds = "rounds",
        /// Matches.
        Matches = "matches",
    }
}
