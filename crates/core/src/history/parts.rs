//! What strengths are computed from: the part of each player, beside the weight, and what all players of a ruleset share.
//!
//! A match changes what is shared, and the parts of few players. So who stores parts writes few of them after a match,
//! and computes the strengths when they are read, with [`Shares::points`] or the same in SQL.

use std::collections::BTreeSet;

use super::{
    Fold, Level, Standing, Weight,
    curve::{Curve, POINTS_PER_UNIT},
    people::Person,
};
use crate::{
    domain::{Kind, PlayerKey, PointScale, Rank, RoleWeights, Ruleset, Timestamp},
    rating::{Effects, Parts, Player, with_effects},
};

/// The part of one player under one ruleset.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightParts<'a> {
    /// The player: kind (human or bot) and id.
    pub key: &'a PlayerKey,
    /// The name in their latest match.
    pub name: &'a str,
    /// The weight that the player's results have given.
    pub weight: f64,
    /// The standard deviation of the weight.
    pub deviation: f64,
    /// What the strengths are computed from.
    pub parts: Parts,
    /// The division that the player holds.
    pub division: Option<u8>,
    /// Number of rated games that the player was in.
    pub games: u32,
    /// The end of the last of them.
    pub last_seen: Timestamp,
}

/// What all players of a ruleset share.
#[derive(Clone, Debug, PartialEq)]
pub struct Shares {
    /// The effects on which players have factors.
    pub effects: Effects,
    /// The scale of strengths; `None` where strengths are weights.
    pub scale: Option<PointScale>,
    /// Of each division, the weights at which its progress is 0 and 1.
    pub divisions: Vec<(f64, f64)>,
}

impl Shares {
    /// The points of weight in a unit of strength.
    pub const POINTS_PER_UNIT: f64 = POINTS_PER_UNIT;

    fn curve(&self) -> Curve {
        match self.scale {
            None => Curve::Weights,
            Some(scale) => Curve::Strengths(scale),
        }
    }

    /// The points of a strength of which this is the player's own part. The databases' views compute the same bits.
    pub fn points(&self, own: f64, factors: Effects) -> f64 {
        self.curve()
            .points(with_effects(own, self.effects, factors))
    }

    /// The weight of a player with this part, labelled with `ruleset`. First match and hours, which a part does not
    /// have, are those of the last match and none.
    pub fn weight_of<'a>(&self, ruleset: &'a Ruleset, part: &WeightParts<'a>) -> Weight<'a> {
        let Parts {
            own,
            roles,
            factors,
        } = part.parts;
        let curve = self.curve();
        let role = |own: f64| self.points(own, factors);
        let weight = part.weight;
        Weight {
            ruleset,
            key: part.key,
            name: part.name,
            weight,
            deviation: part.deviation,
            strength: with_effects(own.mean, self.effects, factors) - curve.newcomer(),
            points: self.points(own.mean, factors),
            doubt: own.deviation,
            rank: part
                .division
                .and_then(|division| self.rank(division, weight)),
            roles: RoleWeights {
                sides: roles.sides.map(|sides| sides.map(role)),
                commander: roles.commander.map(role),
            },
            games: part.games,
            first_seen: part.last_seen,
            last_seen: part.last_seen,
            hours: 0.0,
        }
    }

    /// The rank of a player of a division with a weight.
    pub fn rank(&self, division: u8, weight: f64) -> Option<Rank> {
        let (low, high) = *self.divisions.get(usize::from(division))?;
        let progress = match high > low {
            true => ((weight - low) / (high - low)).clamp(0.0, 1.0),
            false => 0.0,
        };
        Some(Rank { division, progress })
    }
}

impl Standing {
    /// The part of a player; `None` without a rated game in this standing.
    fn parts<'a>(&self, person: &'a Person, player: Player) -> Option<WeightParts<'a>> {
        let measured = self.measured(player)?;
        Some(WeightParts {
            key: &person.key,
            name: person.name(),
            weight: measured.weight,
            deviation: measured.deviation,
            parts: self.system.parts(player)?,
            division: self.division(player),
            games: measured.games,
            last_seen: self.last_seen(player)?,
        })
    }

    fn shares(&self) -> Shares {
        Shares {
            effects: self.system.effects(),
            scale: match self.curve() {
                Curve::Weights => None,
                Curve::Strengths(scale) => Some(scale),
            },
            divisions: self.ladder().spans(),
        }
    }

    /// The players whose parts may differ from those of an older copy of this standing, unless a season has begun;
    /// `None` if all may.
    fn unlike(&self, before: &Self) -> Option<Vec<Player>> {
        let mut players = before.system.unsettled()?;
        players.extend(self.system.unsettled()?);
        players.extend(self.played_since(before));
        Some(players)
    }
}

impl Fold {
    /// What all players of a ruleset share; `None` without a rated match of it.
    pub fn shares(&self, ruleset: &Ruleset) -> Option<Shares> {
        let own = self.levels().standing(ruleset, Level::Ruleset);
        own.map(Standing::shares)
    }

    /// The players of a ruleset whose parts may change without a game of theirs; `None` if those of all may.
    pub fn unsettled(&self, ruleset: &Ruleset) -> Option<Vec<&PlayerKey>> {
        let own = self.levels().standing(ruleset, Level::Ruleset)?;
        let players = own.system.unsettled()?.into_iter();
        let people = players.filter_map(|player| self.people().get(player));
        Some(people.map(|person| &person.key).collect())
    }

    /// The part of a player under a ruleset; `None` without a rated game of it.
    pub fn part(&self, ruleset: &Ruleset, kind: Kind, id: &str) -> Option<WeightParts<'_>> {
        self.part_of(ruleset, self.people().number(kind, id)?)
    }

    fn part_of(&self, ruleset: &Ruleset, player: Player) -> Option<WeightParts<'_>> {
        let own = self.levels().standing(ruleset, Level::Ruleset)?;
        own.parts(self.people().get(player)?, player)
    }

    /// The number of players of a ruleset, those without a rated game included.
    pub fn players_of(&self, ruleset: &Ruleset) -> usize {
        let own = self.levels().standing(ruleset, Level::Ruleset);
        own.map_or(0, |own| own.players().count())
    }

    /// The parts of all players of a ruleset, in no particular order.
    pub fn parts(&self, ruleset: &Ruleset) -> Vec<WeightParts<'_>> {
        let own = self.levels().standing(ruleset, Level::Ruleset);
        let players = own.into_iter().flat_map(Standing::players);
        players
            .filter_map(|player| self.part_of(ruleset, player))
            .collect()
    }

    /// Those of them that differ from the parts of `before`, with the latter. `None` if a player is missing now.
    ///
    /// O(players of the matches between), if this is a continuation of `before`; else O(players).
    pub fn parts_since<'a>(
        &'a self,
        before: &'a Self,
        ruleset: &Ruleset,
    ) -> Option<Vec<(WeightParts<'a>, Option<WeightParts<'a>>)>> {
        let standings = [before, self].map(|fold| fold.levels().standing(ruleset, Level::Ruleset));
        let [Some(old), Some(own)] = standings else {
            let new = self.parts(ruleset).into_iter().map(|part| (part, None));
            return standings[0].is_none().then(|| new.collect());
        };
        let same_season = self.next_season() == before.next_season();
        let candidates = |of: &Self, than: &Self, own: &Standing, old: &Standing| {
            let unlike = own.unlike(old).filter(|_| same_season);
            let unlike =
                unlike.map(|some| some.into_iter().chain(of.people().unlike(than.people())));
            let unlike: BTreeSet<Player> = match unlike {
                Some(some) => some.collect(),
                None => own.players().collect(),
            };
            unlike
        };
        let gone = candidates(before, self, old, own)
            .into_iter()
            .any(|player| {
                let part = before.part_of(ruleset, player);
                part.is_some_and(|part| self.part(ruleset, part.key.kind, &part.key.id).is_none())
            });
        if gone {
            return None;
        }
        let now = candidates(self, before, own, old).into_iter();
        let now = now.filter_map(|player| self.part_of(ruleset, player));
        let pairs = now.map(|part| {
            let was = before.part(ruleset, part.key.kind, &part.key.id);
            (part, was)
        });
        Some(
            pairs
                .filter(|(now, was)| was.as_ref() != Some(now))
                .collect(),
        )
    }
}
