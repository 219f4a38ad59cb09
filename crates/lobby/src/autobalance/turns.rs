//! Whose turn it is to be moved: of a team, newcomers go last if they are spared, and the best before them.

use super::{AutoBalance, StayReason};
use evenkeel_partition::MoveBlock;

/// When the turn of a human of a team comes; a lesser one goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Turn {
    /// Nothing is against their move.
    First,
    /// They are among the best of those who are not spared.
    Top,
    /// They are a newcomer, newcomers are spared, and others may be moved.
    Newcomer,
}

impl Turn {
    /// Why a human waits for those whose turn is first.
    pub(super) fn reason(self) -> Option<StayReason> {
        match self {
            Turn::First => None,
            Turn::Top => Some(StayReason::Held(MoveBlock::Top)),
            Turn::Newcomer => Some(StayReason::Newcomer),
        }
    }
}

/// The turns of the humans of a team who may be moved.
pub(super) struct Order {
    /// Those who go first.
    pub(super) first: Vec<usize>,
    /// Those who go last.
    last: Vec<usize>,
}

impl Order {
    pub(super) fn turn(&self, who: usize) -> Turn {
        match (self.last.contains(&who), self.first.contains(&who)) {
            (true, _) => Turn::Newcomer,
            (false, true) => Turn::First,
            (false, false) => Turn::Top,
        }
    }
}

impl AutoBalance {
    /// The turns of these humans of one team. As many go first as if nobody were spared, as far as there are others than
    /// newcomers. If all are newcomers, they go like anybody else.
    pub(super) fn order(&self, movable: Vec<usize>) -> Order {
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
        Order {
            first: view.lower_share(others, share),
            last,
        }
    }
}
