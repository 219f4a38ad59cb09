//! Who can be moved, and with whom.

use super::Rebalance;
use crate::lobby::moves::Unit;
use crate::partition::MoveBlock;

/// The share of a team, from the weakest up, whose players may be moved if the top is spared.
const LOWER: f64 = 0.67;

impl Rebalance {
    /// The units that can be moved. A party that is not in `split` is one unit: it stays if one of its members is `held`.
    pub(super) fn units(&self, held: &[Option<MoveBlock>], split: &[&str]) -> Vec<Unit> {
        let humans = 0..self.view.humans.len();
        let placed = humans.filter(|&who| self.view.humans[who].team.is_some());
        let mut units = Unit::of(&self.view, placed, split);
        units.retain(|unit| unit.members.iter().all(|&member| held[member].is_none()));
        units
    }

    /// For each human, why they must not be moved even if they want to; `None` if they may.
    pub(super) fn held_anyway(&self) -> Vec<Option<MoveBlock>> {
        let humans = self.view.humans.iter();
        let pinned = |pin: Option<u8>| pin.map(|_| MoveBlock::Pinned);
        let protected = |held: Option<MoveBlock>| held.filter(|why| *why == MoveBlock::Protected);
        humans
            .map(|human| pinned(human.pin).or(protected(human.held)))
            .collect()
    }

    /// For each human, why they must not be moved; `None` if they may.
    pub(super) fn held(&self) -> Vec<Option<MoveBlock>> {
        let humans = &self.view.humans;
        let pinned = |pin: Option<u8>| pin.map(|_| MoveBlock::Pinned);
        let mut held: Vec<Option<MoveBlock>> = (humans.iter())
            .map(|human| pinned(human.pin).or(human.held))
            .collect();
        for team in 0..self.view.teams {
            let free = |held: &[Option<MoveBlock>]| -> Vec<usize> {
                let on_team = (0..humans.len()).filter(|&who| humans[who].team == Some(team));
                on_team.filter(|&who| held[who].is_none()).collect()
            };
            if self.settings.spare_top {
                let free = free(&held);
                let lower = self.view.lower_share(free.clone(), LOWER);
                let top = free.iter().filter(|who| !lower.contains(who));
                top.for_each(|&who| held[who] = Some(MoveBlock::Top));
            }
            if self.settings.newest_first {
                let free = free(&held);
                let older = free
                    .len()
                    .saturating_sub(self.settings.max_moves.as_usize());
                free[..older]
                    .iter()
                    .for_each(|&who| held[who] = Some(MoveBlock::CameFirst));
            }
        }
        held
    }
}
