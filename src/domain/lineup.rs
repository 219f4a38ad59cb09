//! A lineup that has not been played yet, as a prediction takes it.

use super::PlayerKey;

/// A player of a lineup to predict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineupPlayer {
    /// The identity that predictions know the player by.
    pub key: PlayerKey,
    /// The number of the player's party, which only its members share; `None` without a party.
    pub party: Option<u32>,
}

/// A player without a party.
impl From<PlayerKey> for LineupPlayer {
    fn from(key: PlayerKey) -> Self {
        Self { key, party: None }
    }
}
