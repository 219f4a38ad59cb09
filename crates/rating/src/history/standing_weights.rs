//! The weights of the players in a standing.

use super::{People, Standing, Weight, curve::Curve, people::Person};
use crate::Player;
use evenkeel_model::{RoleWeights, Ruleset};

impl Standing {
    /// A player's weight, labelled with `ruleset`; `None` without a rated game in this standing.
    pub fn weight<'a>(
        &self,
        ruleset: &'a Ruleset,
        person: &'a Person,
        player: Player,
    ) -> Option<Weight<'a>> {
        let career = self.careers.get(player)?;
        let account = career.account.as_ref()?;
        let strength = self.system.strength(player)?;
        let curve = self.curve();
        Some(Weight {
            ruleset,
            key: &person.key,
            name: person.name(),
            weight: account.weight,
            deviation: account.deviation,
            strength: strength.mean - curve.newcomer(),
            points: curve.points(strength.mean),
            doubt: strength.deviation,
            rank: self.ladder.rank(player, account.weight),
            roles: self.role_weights(curve, player),
            games: career.games,
            wins: career.wins,
            first_seen: career.first_seen,
            last_seen: career.last_seen,
            hours: career.minutes / 60.0,
        })
    }

    /// The weights of all players with a rated game in this standing, by key, labelled with `ruleset`.
    pub fn weights<'a>(&self, ruleset: &'a Ruleset, people: &'a People) -> Vec<Weight<'a>> {
        let players = self.careers.players();
        let weight = |player| self.weight(ruleset, people.get(player)?, player);
        let mut weights: Vec<Weight<'a>> = players.filter_map(weight).collect();
        weights.sort_by(|a, b| a.key.cmp(b.key));
        weights
    }

    /// A player's strengths on each side and as a commander, in points.
    fn role_weights(&self, curve: Curve, player: Player) -> RoleWeights {
        let roles = self.system.roles(player);
        let points = |strengths: [f64; 2]| strengths.map(|strength| curve.points(strength));
        RoleWeights {
            sides: roles.sides.map(points),
            commander: roles.commander.map(|strength| curve.points(strength)),
        }
    }
}
