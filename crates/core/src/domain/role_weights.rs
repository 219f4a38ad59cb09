//! A player's weights in the parts of a game that a rating system rates apart.

/// A player's weights on each side of the map and as a commander, 0 to 100. 50 is a player who is
/// new to it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RoleWeights {
    /// The weights on side 0 and on side 1. `None` if the rating system does not tell them apart, and
    /// for players without games on a side.
    pub sides: Option<[f64; 2]>,
    /// The weight as a commander. `None` if the rating system does not rate commanders apart, and for
    /// players who have not commanded.
    pub commander: Option<f64>,
}
