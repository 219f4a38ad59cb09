//! The rules of auto-balance: when teams are unbalanced, and who may be moved then.

use serde::{Deserialize, Serialize};

/// A set of rules. Times are in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AutoBalanceRules {
    /// Whether auto-balance moves humans at all.
    pub on: bool,
    /// With less play time left than this, no human is moved.
    pub quiet_end: u64,
    /// Teams whose sizes differ by at most this are balanced, whatever their power; `None` to compare
    /// their power always.
    pub like_sizes: Option<usize>,
    /// Sizes that are unbalanced, whatever the power: at least the first number of players against
    /// at most the second.
    pub lopsided: Vec<(usize, usize)>,
    /// The difference of power from which teams are unbalanced.
    pub gap: Gap,
    /// How a player's power is measured.
    pub power: Power,
    /// The power of the weakest player where it is measured by rank, so that each player counts.
    pub rank_base: u32,
    /// For how long the teams must have been unbalanced before a human is moved.
    pub delay: u64,
    /// The share of a team that may be moved, from the lowest points up: 0 to 1, rounded down.
    pub movable_share: f64,
    /// Whether each human is moved at most once in a game.
    pub once: bool,
    /// Which human is moved.
    pub choice: MoveRule,
}

/// A difference of power that makes teams unbalanced.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gap {
    /// The stronger team has at least this much more.
    Points(f64),
    /// The stronger team has more than the weaker team's power and this share of it.
    Share(f64),
}

/// How a player's power is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Power {
    /// By weight.
    Weight,
    /// By rank of weight among all players, the lowest having `rank_base`.
    Rank,
    /// The mean of that and of the rank by current points.
    RankAndPoints,
}

/// Which human is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MoveRule {
    /// The first of the stronger team who dies, unless that makes the other team too strong.
    WhoDies,
    /// The one who brings the teams closest together, once they die; then the next.
    Closest,
}

impl AutoBalanceRules {
    /// The rules of Sector's Edge, as published (version 1.2.2, with points).
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

    /// The rules that a player of Sector's Edge proposed instead: teams are unbalanced if their weights
    /// differ by more than 20 %, and the human outside parties who brings them closest is moved.
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

    /// Whether a team of power `strong` is too strong for one of power `weak`.
    pub(super) fn is_gap(&self, strong: f64, weak: f64) -> bool {
        match self.gap {
            Gap::Points(points) => strong - weak >= points,
            Gap::Share(share) => strong > weak * (1.0 + share),
        }
    }
}

/// The rules of Sector's Edge.
impl Default for AutoBalanceRules {
    fn default() -> Self {
        Self::sectors_edge()
    }
}
