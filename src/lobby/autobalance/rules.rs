//! When a game counts as unbalanced, and who may be moved then.

use serde::{Deserialize, Serialize};

/// A set of rules. Times are in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AutoBalanceRules {
    /// Whether anybody is moved at all.
    pub on: bool,
    /// With less play left than this, nobody is.
    pub quiet_end: u64,
    /// Teams whose sizes differ by no more than this are balanced, whatever their power; `None` for
    /// no such exception.
    pub like_sizes: Option<usize>,
    /// Sizes that are unbalanced, whatever the power: (at least so many, against at most so many).
    pub lopsided: Vec<(usize, usize)>,
    /// A difference of power that is unbalanced.
    pub gap: Gap,
    /// What a player's power is.
    pub power: Power,
    /// What the weakest player counts under a power by rank, so that every head is worth something.
    pub rank_base: u32,
    /// For how long the teams must have been unbalanced.
    pub delay: u64,
    /// The share of their team, from below by points, that may be moved: 0 to 1, rounded down.
    pub movable_share: f64,
    /// Whether nobody is moved twice in a game.
    pub once: bool,
    /// Who is moved.
    pub choice: MoveRule,
}

/// A difference of power.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gap {
    /// At least so much more.
    Points(f64),
    /// More by over this share of the weaker team's.
    Share(f64),
}

/// What a player counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Power {
    /// Their weight.
    Weight,
    /// Their rank by weight among all players, ascending, on top of `rank_base`.
    Rank,
    /// Half of that, half of their rank by current points.
    RankAndPoints,
}

/// Who is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MoveRule {
    /// Whoever of the stronger team dies first, unless that tips the balance.
    WhoDies,
    /// Whoever brings the teams closest, again and again, when they die.
    Closest,
}

impl AutoBalanceRules {
    /// Sector's Edge, by its published specification (version 1.2.2, with points).
    pub fn sectors_edge() -> Self {
        Self {
            on: true,
            quiet_end: 180_000,
            like_sizes: Some(1),
            lopsided: vec![(2, 0), (3, 1), (4, 2)],
            gap: Gap::Points(10.0),
            power: Power::RankAndPoints,
            rank_base: 5,
            delay: 20_000,
            movable_share: 0.67,
            once: true,
            choice: MoveRule::WhoDies,
        }
    }

    /// What a player of Sector's Edge proposed instead: weights that differ by more than 20 %, and
    /// whoever outside a party brings them closest.
    pub fn players_proposal() -> Self {
        Self {
            like_sizes: None,
            lopsided: Vec::new(),
            gap: Gap::Share(0.20),
            power: Power::Weight,
            delay: 0,
            movable_share: 1.0,
            once: false,
            choice: MoveRule::Closest,
            ..Self::sectors_edge()
        }
    }

    /// Whether `strong` outweighs `weak` too much.
    pub(super) fn is_gap(&self, strong: f64, weak: f64) -> bool {
        match self.gap {
            Gap::Points(points) => strong - weak >= points,
            Gap::Share(share) => strong > weak * (1.0 + share),
        }
    }
}

/// Sector's Edge.
impl Default for AutoBalanceRules {
    fn default() -> Self {
        Self::sectors_edge()
    }
}
