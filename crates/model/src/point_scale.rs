//! The scale of points: how strengths are shown, and the unit of weights.

/// Where the strengths of a rating system lie in points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointScale {
    /// The strength of the average seat, which is 50 points.
    pub average: f64,
    /// The strength of a newcomer.
    pub newcomer: f64,
    /// The unit: a sixth of the strength from 50 to 100 points.
    pub unit: f64,
}
