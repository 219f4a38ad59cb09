//! A player's strengths in the parts of a game that a rating system rates apart.

/// A player's strengths on each side of the map and as a commander, in points: 50 is the average seat of the ruleset, and
/// a point is as much as in a weight. They are strengths, not accounts of results, so they have no ends, and matches of
/// others may move them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RoleWeights {
    /// On side 0 and on side 1. `None` if the rating system does not tell them apart, and for players without games on a
    /// side.
    pub sides: Option<[f64; 2]>,
    /// As a commander. `None` if the rating system does not rate commanders apart, and for players who have not
    /// commanded.
    pub commander: Option<f64>,
}
