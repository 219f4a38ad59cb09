//! How a game server reports the end of a game.

use serde::{Deserialize, Serialize};

/// Who won, as END states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The final scores decide: the team with the highest score wins, and a tie is a draw.
    Scores,
    /// This team won, whatever the scores.
    Won(u8),
    /// The game is a draw, whatever the scores.
    Draw,
}
