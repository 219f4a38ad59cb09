//! One rating system's view of one ruleset (or of all of a game type): strengths as weights.

use std::collections::BTreeMap;

use super::{Played, Weight};
use crate::{
    domain::{MatchRecord, PlayerKey, Ruleset, Timestamp},
    rating::{Game, Player, Scale, System},
};

/// A rating system, and who its dense numbers are.
pub(super) struct Standing {
    pub system: Box<dyn System>,
    players: BTreeMap<PlayerKey, Known>,
}

#[derive(Clone, Debug)]
struct Known {
    player: Player,
    name: String,
    games: u32,
    last_seen: Timestamp,
}

impl Clone for Standing {
    fn clone(&self) -> Self {
        Self {
            system: self.system.boxed_clone(),
            players: self.players.clone(),
        }
    }
}

/// How strengths become weights: weight = 50 + 50 · (strength − newcomer) / unit, within 0 to 100.
///
/// 50 is an average newcomer. The unit is the larger of two. One is what one more average player is
/// worth, where the system learnt it: a player of weight 50 then adds to a team's sum of weights
/// what they add to its strength, even 5 against 4. The other is 2.5 root mean squares of what the
/// known players differ from a newcomer, so that few are clamped.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ruler {
    newcomer: f64,
    unit: f64,
}

/// One in eighty of a normal distribution lies further out.
const SPREAD: f64 = 2.5;

impl Ruler {
    fn of(scale: Scale, strengths: impl Iterator<Item = f64>) -> Self {
        let (newcomer, one_more) = match scale {
            Scale::Weights => (50.0, f64::INFINITY),
            Scale::Strengths { newcomer, one_more } => (newcomer, one_more),
        };
        if one_more == f64::INFINITY {
            return Self {
                newcomer,
                unit: 50.0,
            };
        }
        let (mut squares, mut count) = (0.0, 0.0);
        for strength in strengths {
            squares += (strength - newcomer) * (strength - newcomer);
            count += 1.0;
        }
        let spread = libm::sqrt(squares / f64::max(count, 1.0));
        let unit = one_more.max(SPREAD * spread);
        Self { newcomer, unit }
    }

    fn weight(&self, strength: f64) -> f64 {
        if self.unit > 0.0 {
            let weight = 50.0 + 50.0 * (strength - self.newcomer) / self.unit;
            weight.clamp(0.0, 100.0)
        } else {
            50.0 // nobody differs
        }
    }
}

impl Standing {
    pub fn new(system: Box<dyn System>) -> Self {
        Self {
            system,
            players: BTreeMap::new(),
        }
    }

    /// Learns from a game: who took part by the record, what they did by the game.
    pub fn learn(&mut self, record: &MatchRecord, played: &[Played], game: &Game) {
        for (p, tally) in played.iter().zip(&game.tallies) {
            let participant = &record.participants[p.participant];
            let fresh = || Known {
                player: tally.player,
                name: String::new(),
                games: 0,
                last_seen: record.end,
            };
            let known = self.players.entry(participant.key.clone());
            let known = known.or_insert_with(fresh);
            known.name.clone_from(&participant.name);
            known.games += u32::from(p.counts);
            known.last_seen = record.end;
        }
        self.system.update(game);
    }

    /// Whether somebody has a rated game here.
    pub fn knows(&self, key: &PlayerKey) -> bool {
        self.players.get(key).is_some_and(|known| known.games > 0)
    }

    /// Everyone with a rated game here, by key, as known under `ruleset`.
    pub fn weights<'a>(&'a self, ruleset: &'a Ruleset) -> impl Iterator<Item = Weight<'a>> {
        let rated = || {
            let players = self.players.iter();
            players.filter_map(|(key, known)| {
                let strength = self.system.strength(known.player)?;
                (known.games > 0).then_some((key, known, strength))
            })
        };
        let ruler = Ruler::of(self.system.scale(), rated().map(|(_, _, s)| s.mean));
        rated().map(move |(key, known, strength)| Weight {
            ruleset,
            key,
            name: &known.name,
            weight: ruler.weight(strength.mean),
            deviation: 50.0 * strength.deviation / ruler.unit.max(f64::MIN_POSITIVE),
            games: known.games,
            last_seen: known.last_seen,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(newcomer: f64, one_more: f64) -> Scale {
        Scale::Strengths { newcomer, one_more }
    }

    #[test]
    fn weights_are_linear_in_strength_and_clamped() {
        let ruler = Ruler::of(scale(1.0, 0.0), [0.0, 2.0].into_iter());
        assert_eq!(ruler.weight(1.0), 50.0);
        assert_eq!((ruler.weight(2.0), ruler.weight(0.0)), (70.0, 30.0));
        assert_eq!((ruler.weight(9.0), ruler.weight(-9.0)), (100.0, 0.0));
    }

    #[test]
    fn where_one_more_player_rules_sums_of_weights_are_strengths() {
        let ruler = Ruler::of(scale(0.0, 4.0), [-0.5, 0.5].into_iter());
        let strengths = [0.5, -0.5, 0.25];
        // Each adds 4 to a team just by being there.
        let team: f64 = strengths.iter().map(|s| 4.0 + s).sum();
        let weights: f64 = strengths.iter().map(|s| ruler.weight(*s)).sum();
        assert!((weights / 50.0 * 4.0 - team).abs() < 1e-12);
    }

    #[test]
    fn weights_stay_weights_and_nobody_is_fifty() {
        let ruler = Ruler::of(Scale::Weights, [10.0].into_iter());
        assert_eq!(ruler.weight(81.25), 81.25);
        assert_eq!(Ruler::of(scale(3.0, 0.0), [].into_iter()).weight(3.0), 50.0);
    }
}
