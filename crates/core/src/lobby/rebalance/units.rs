//! Who can be moved, and with whom.

use super::{Rebalance, plan::MoveUnit};
use crate::lobby::MoveBlock;
use crate::partition::Counted;

/// The share of a team, from the weakest up, whose players may be moved if the top is spared.
const LOWER: f64 = 0.67;

impl Rebalance {
    /// The units that can be moved: single humans, and the members of a party on one team, none of whom is `held`.
    pub(super) fn units(&self, held: &[Option<MoveBlock>]) -> Vec<MoveUnit> {
        let humans = &self.snapshot.humans;
        let mut units: Vec<MoveUnit> = Vec::new();
        for (who, human) in humans.iter().enumerate() {
            let Some(team) = human.team else { continue };
            let mates = || {
                self.snapshot
                    .mates(who)
                    .filter(|&mate| humans[mate].team == Some(team))
            };
            let together: Vec<usize> = std::iter::once(who).chain(mates()).collect();
            // A party is one unit. It stays if one of its members must.
            let first = together.iter().all(|&mate| mate >= who);
            if first && !together.iter().any(|&mate| held[mate].is_some()) {
                units.push(MoveUnit {
                    counted: (together.iter())
                        .map(|&mate| self.snapshot.counted(mate))
                        .fold(Counted::default(), |sum, mate| sum + mate),
                    from: usize::from(team),
                    members: together,
                });
            }
        }
        units
    }

    /// For each human, why they must not be moved even if they want to; `None` if they may.
    pub(super) fn held_anyway(&self) -> Vec<Option<MoveBlock>> {
        let humans = self.snapshot.humans.iter();
        let pinned = |pin: Option<u8>| pin.map(|_| MoveBlock::Pinned);
        let protected = |held: Option<MoveBlock>| held.filter(|why| *why == MoveBlock::Protected);
        humans
            .map(|human| pinned(human.pin).or(protected(human.held)))
            .collect()
    }

    /// For each human, why they must not be moved; `None` if they may.
    pub(super) fn held(&self) -> Vec<Option<MoveBlock>> {
        let humans = &self.snapshot.humans;
        let pinned = |pin: Option<u8>| pin.map(|_| MoveBlock::Pinned);
        let mut held: Vec<Option<MoveBlock>> = (humans.iter())
            .map(|human| pinned(human.pin).or(human.held))
            .collect();
        for team in 0..self.snapshot.teams {
            let free = |held: &[Option<MoveBlock>]| -> Vec<usize> {
                let on_team = (0..humans.len()).filter(|&who| humans[who].team == Some(team));
                on_team.filter(|&who| held[who].is_none()).collect()
            };
            if self.settings.spare_top {
                let free = free(&held);
                let lower = self.snapshot.lower_share(free.clone(), LOWER);
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
