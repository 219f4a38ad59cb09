//! The players outside the covariance: each one's strength alone, in few bytes, because there may be millions.

use serde::{Deserialize, Serialize};

use super::{
    bank::{Bank, Member},
    filter::Prior,
};
use crate::{
    Player, Strength,
    player_map::{PlayerMap, Shared},
};

/// The strengths of the players outside the covariance.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Absent {
    players: PlayerMap<Away>,
    /// The members of the bank when players have left the covariance: the prior of each, and whether it learns from
    /// points. There are as many as there were different banks.
    banks: Shared<Vec<Vec<(Prior, bool)>>>,
}

/// The strength of a player outside the covariance.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Away {
    /// Stated by an operator: the same for every member of the bank.
    Stated(Strength),
    /// Adopted from other rulesets: the same for every member of the bank, with its deviation between
    /// players as the largest that there is.
    Adopted(Strength),
    /// Moved out of the covariance when the bank had one member; the number of that bank.
    Alone(u32, Strength),
    /// Moved out of the covariance: each member's own estimate, and the number of the bank.
    Dormant(u32, Box<[Strength]>),
}

impl Absent {
    /// Whether the player is one of them.
    pub(super) fn has(&self, player: Player) -> bool {
        self.players.get(player).is_some()
    }

    /// Adds a player, or replaces what was known.
    pub(super) fn set(&mut self, player: Player, away: Away) {
        self.players.set(player, away);
    }

    /// Removes a player, who comes back.
    pub(super) fn take(&mut self, player: Player) -> Option<Away> {
        self.players.remove(player)
    }

    /// One member's estimate of a player; `None` if the player is not absent.
    pub(super) fn strength(&self, member: &Member, player: Player) -> Option<Strength> {
        self.of(self.players.get(player)?, member)
    }

    /// The estimate of one member. A member that was created later gets the estimate of the closest
    /// one: the same prior, or the one it was copied from.
    pub(super) fn of(&self, away: &Away, member: &Member) -> Option<Strength> {
        let (bank, each) = match away {
            Away::Stated(strength) => return Some(*strength),
            Away::Adopted(strength) => {
                let deviation = strength.deviation.min(member.prior.skill);
                return Some(Strength {
                    deviation,
                    ..*strength
                });
            }
            Away::Alone(_, strength) => return Some(*strength),
            Away::Dormant(bank, each) => (self.banks.get(*bank as usize)?, each),
        };
        let like = |((prior, points), _): &(&(Prior, bool), &Strength)| {
            let (points, drift) = (*points == member.points, *prior == member.prior);
            (prior.skill == member.prior.skill, points, drift)
        };
        let closest = bank.iter().zip(each).max_by_key(like);
        closest.map(|(_, strength)| *strength)
    }

    /// The number of the bank as it is now.
    pub(super) fn number(&mut self, bank: &Bank) -> u32 {
        let members = bank.members.iter();
        let now: Vec<(Prior, bool)> = members.map(|m| (m.prior, m.points)).collect();
        let known = self.banks.iter().position(|known| *known == now);
        let number = known.unwrap_or_else(|| {
            self.banks.edit().push(now);
            self.banks.len() - 1
        });
        u32::try_from(number).unwrap_or(u32::MAX)
    }

    /// Adds a player who leaves the covariance, with the estimate of each member of the bank.
    pub(super) fn leave(&mut self, player: Player, bank: u32, each: &[Strength]) {
        let away = match each {
            [alone] => Away::Alone(bank, *alone),
            _ => Away::Dormant(bank, each.into()),
        };
        self.players.set(player, away);
    }

    /// Moves the estimates of all players who were in the covariance towards their priors.
    pub(super) fn fade(&mut self, keep: f64) {
        let Self { players, banks } = self;
        for away in players.values_mut() {
            let (bank, each) = match away {
                Away::Stated(_) | Away::Adopted(_) => continue,
                Away::Alone(bank, strength) => (*bank, std::slice::from_mut(strength)),
                Away::Dormant(bank, each) => (*bank, &mut **each),
            };
            let priors = banks.get(bank as usize).into_iter().flatten();
            for ((prior, _), strength) in priors.zip(each) {
                *strength = strength.faded(keep, Strength::prior(prior.skill));
            }
        }
    }
}
