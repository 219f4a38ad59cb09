//! A lineup that has not been played yet, in the form that predictions need.

use super::PlayerKey;

/// A player of a lineup to predict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineupPlayer {
    /// The identity by which predictions look up the player.
    pub key: PlayerKey,
    /// The number of the player's party, which only its members share; `None` without a party.
    pub party: Option<u32>,
    /// Whether the player is to command the team.
    pub commands: bool,
}

/// A player without a party who does not command.
impl From<PlayerKey> for LineupPlayer {
    fn from(key: PlayerKey) -> Self {
        Self {
            key,
            party: None,
            commands: false,
        }
    }
}
