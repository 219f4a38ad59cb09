//! The number by which rating systems know a player.

use serde::{Deserialize, Serialize};

/// A player's dense number: the fold numbers identities from 0 in the order of their first match.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Player(pub u32);

impl Player {
    /// The number as an index into a vector.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
