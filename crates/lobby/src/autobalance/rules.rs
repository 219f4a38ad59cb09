//! The rules of auto-balance: when teams are unbalanced, which humans may then be moved, and whose turn it is: of a
//! team, newcomers go last if they are spared, and the best before them.

use evenkeel_model::units::{Count, MaxDifference, PositiveAmount, Share, UpToADay};
use evenkeel_partition::MoveBlock;
use serde::{Deserialize, Serialize};

use super::{AutoBalance, StayReason};

/// The rules that auto-balance applies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AutoBalanceRules {
    /// Whether auto-balance moves humans at all.
    #[serde(default = "on")]
    pub on: bool,
    /// No human is moved if the remaining time of play is less than this.
    pub quiet_end_seconds: UpToADay,
    /// The difference of sizes up to which teams are balanced, whatever their power.
    pub like_sizes: MaxDifference,
    /// Sizes that are unbalanced whatever the power: at least the first number of players against
    /// at most the second. Where `like_sizes` is a number, all sizes that differ by more than it, and
    /// by more than one, are unbalanced as well.
    pub lopsided: Lopsided,
    /// The difference of power from which on teams are unbalanced, in the unit of `gap_of`.
    pub gap: PositiveAmount,
    /// The unit of `gap`: points of power, or a share of the weaker team's power.
    pub gap_of: GapUnit,
    /// How a player's power is measured.
    pub power: Power,
    /// The power of the weakest player if it is measured by rank; above 0, each player counts.
    pub rank_base: Count<0, 1_000>,
    /// How long the teams must have been unbalanced before a human is moved.
    pub delay_seconds: UpToADay,
    /// The share of a team that may be moved, from the lowest points upwards, rounded down.
    pub movable_share: Share,
    /// Whether each human is moved at most once per game.
    pub once: bool,
    /// Whether newcomers are moved only if no others of their team may be.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub spare_newcomers: bool,
    /// Which human is moved.
    pub choice: MoveRule,
}

/// The unit of a difference of the teams' powers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GapUnit {
    /// Points of power: the stronger team has at least this many more.
    Points,
    /// A share of the weaker team's power: the stronger team exceeds it by more than this share.
    Share,
}

/// Team sizes that are unbalanced: up to 128 pairs of the larger and the smaller number.
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

/// How a player's power is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Power {
    /// The player's weight. Where the game compares teams by their chances to win
    /// (`[balance] objective`), these decide instead of sums of weights.
    Weight,
    /// The player's rank by weight among all players; the lowest has `rank_base`.
    Rank,
    /// The mean of the rank by weight and the rank by current points.
    RankAndPoints,
}

/// Which human is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MoveRule {
    /// The first human of the stronger team who dies, unless the move makes the other team too
    /// strong.
    WhoDies,
    /// The human whose move brings the teams closest together, when they die; then the next one.
    Closest,
}

impl AutoBalanceRules {
    /// The rules of Sector's Edge, as published (version 1.2.2, with points).
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
            spare_newcomers: false,
            choice: MoveRule::WhoDies,
        }
    }

    /// Rules that a player of Sector's Edge proposed: teams are unbalanced if their weights differ
    /// by more than 20 %, and of the humans who are in no party, the one whose move brings the
    /// weights closest together is moved.
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

    /// Whether teams may not stay so many players apart, whatever their powers: two more players are worse than any
    /// difference of power. Never where the operator says that sizes do not count.
    pub(super) fn are_apart(&self, players: usize) -> bool {
        let like = self.like_sizes.get();
        like.is_some_and(|like| players > like.max(1))
    }

    /// Whether a team with power `strong` is too strong for one with power `weak`.
    pub(super) fn is_gap(&self, strong: f64, weak: f64) -> bool {
        let gap = self.gap.get();
        match self.gap_of {
            GapUnit::Points => strong - weak >= gap,
            GapUnit::Share => strong > weak * (1.0 + gap),
        }
    }

    /// Whether a move makes the other team too strong: with the powers after the move, the
    /// difference exceeds the gap. A difference of exactly the gap is allowed.
    pub(super) fn tips(&self, strong: f64, weak: f64) -> bool {
        let gap = self.gap.get();
        match self.gap_of {
            GapUnit::Points => strong - weak > gap,
            GapUnit::Share => strong > weak * (1.0 + gap),
        }
    }
}

/// The rules of Sector's Edge.
impl Default for AutoBalanceRules {
    fn default() -> Self {
        Self::sectors_edge()
    }
}

/// When the turn of a human of a team comes; a lesser one goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MoveTurn {
    /// Nothing is against their move.
    First,
    /// They are among the best of those who are not spared.
    Top,
    /// They are a newcomer, newcomers are spared, and others may be moved.
    Newcomer,
}

impl MoveTurn {
    /// Why a human waits for those whose turn is first.
    pub(super) fn reason(self) -> Option<StayReason> {
        match self {
            MoveTurn::First => None,
            MoveTurn::Top => Some(StayReason::Held(MoveBlock::Top)),
            MoveTurn::Newcomer => Some(StayReason::Newcomer),
        }
    }
}

/// The turns of the humans of a team who may be moved.
pub(super) struct MoveOrder {
    /// Those who go first.
    pub(super) first: Vec<usize>,
    /// Those who go last.
    last: Vec<usize>,
}

impl MoveOrder {
    pub(super) fn turn(&self, who: usize) -> MoveTurn {
        match (self.last.contains(&who), self.first.contains(&who)) {
            (true, _) => MoveTurn::Newcomer,
            (false, true) => MoveTurn::First,
            (false, false) => MoveTurn::Top,
        }
    }
}

impl AutoBalance {
    /// The turns of these humans of one team. As many go first as if nobody were spared, as far as there are others than
    /// newcomers. If all are newcomers, they go like anybody else.
    pub(super) fn order(&self, movable: Vec<usize>) -> MoveOrder {
        let (view, rules) = (&self.situation.view, &self.situation.rules);
        let all = movable.len();
        let is_spared = |who: &usize| rules.spare_newcomers && view.humans[*who].newcomer;
        let (spared, others): (Vec<usize>, Vec<usize>) = movable.into_iter().partition(is_spared);
        let (last, others) = match others.is_empty() {
            true => (others, spared),
            false => (spared, others),
        };
        // The share of all, as a share of the others. Where nobody is spared, it is exactly that of the rules.
        let share = rules.movable_share.get() * (all as f64 / others.len().max(1) as f64);
        MoveOrder {
            first: view.lower_share(others, share),
            last,
        }
    }
}
