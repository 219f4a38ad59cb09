//! When a game counts as unbalanced, and who may be moved then.

use serde::{Deserialize, Serialize};

use crate::domain::units::{Count, MaxDifference, PositiveAmount, Share, UpToADay};

/// A set of rules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AutoBalanceRules {
    /// Whether anybody is moved at all.
    #[serde(default = "on")]
    pub on: bool,
    /// With less play left than this, nobody is.
    pub quiet_end_seconds: UpToADay,
    /// Teams whose sizes differ by no more than this are balanced, whatever their power.
    pub like_sizes: MaxDifference,
    /// Sizes that are unbalanced, whatever the power: (at least so many, against at most so many).
    pub lopsided: Lopsided,
    /// A difference of power that is unbalanced, in the unit of `gap_of`.
    pub gap: PositiveAmount,
    /// The unit of `gap`.
    pub gap_of: GapUnit,
    /// What a player's power is.
    pub power: Power,
    /// What the weakest player counts under a power by rank, so that every head is worth something.
    pub rank_base: Count<0, 1_000>,
    /// For how long the teams must have been unbalanced.
    pub delay_seconds: UpToADay,
    /// The share of their team, from below by points, that may be moved, rounded down.
    pub movable_share: Share,
    /// Whether nobody is moved twice in a game.
    pub once: bool,
    /// Who is moved.
    pub choice: MoveRule,
}

/// The unit of a difference of the teams' powers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GapUnit {
    /// Points of power, at least that many.
    Points,
    /// A share of the weaker team's power, more than that.
    Share,
}

/// Sizes of two teams that are unbalanced: at most 128 pairs (at least, at most), larger first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<(usize, usize)>")]
pub struct Lopsided(pub Vec<(usize, usize)>);

impl TryFrom<Vec<(usize, usize)>> for Lopsided {
    type Error = &'static str;

    fn try_from(sizes: Vec<(usize, usize)>) -> Result<Self, Self::Error> {
        if sizes.len() <= 128 && sizes.iter().all(|(larger, smaller)| larger > smaller) {
            Ok(Self(sizes))
        } else {
            Err("must be up to 128 pairs, the larger number first")
        }
    }
}

fn on() -> bool {
    true
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
            quiet_end_seconds: const { UpToADay::of(180) },
            like_sizes: const { MaxDifference::of(1) },
            lopsided: Lopsided(vec![(2, 0), (3, 1), (4, 2)]),
            gap: const { PositiveAmount::of(10.0) },
            gap_of: GapUnit::Points,
            power: Power::RankAndPoints,
            rank_base: const { Count::of(5) },
            delay_seconds: const { UpToADay::of(20) },
            movable_share: const { Share::of(0.67) },
            once: true,
            choice: MoveRule::WhoDies,
        }
    }

    /// What a player of Sector's Edge proposed instead: weights that differ by more than 20 %, and
    /// whoever outside a party brings them closest.
    pub fn players_proposal() -> Self {
        Self {
            like_sizes: MaxDifference::OFF,
            lopsided: Lopsided(Vec::new()),
            gap: const { PositiveAmount::of(0.20) },
            gap_of: GapUnit::Share,
            power: Power::Weight,
            delay_seconds: const { UpToADay::of(0) },
            movable_share: const { Share::of(1.0) },
            once: false,
            choice: MoveRule::Closest,
            ..Self::sectors_edge()
        }
    }

    /// Whether `strong` outweighs `weak` too much.
    pub(super) fn is_gap(&self, strong: f64, weak: f64) -> bool {
        let gap = self.gap.get();
        match self.gap_of {
            GapUnit::Points => strong - weak >= gap,
            GapUnit::Share => strong > weak * (1.0 + gap),
        }
    }
}

/// Sector's Edge.
impl Default for AutoBalanceRules {
    fn default() -> Self {
        Self::sectors_edge()
    }
}
