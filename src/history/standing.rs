//! One rating system's view of one ruleset (or of all of a game type): strengths as weights.
//!
//! Two scales serve two ends. A [`Curve`] makes the weight that people read: its unit is a constant of
//! the rating system, so that a weight moves by its player's games alone. A [`Ruler`] makes the worth
//! that the search for an even chance sums up: it is linear, so that the sum of a team's worths is the
//! team's strength.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use super::{
    Field, Weight,
    digest::Person,
    newcomers::{Features, Newcomers, SETTLED},
};
use crate::{
    domain::{Ruleset, Timestamp},
    rating::{Game, Player, Roll, Scale, Settings, Strength, System, SystemName},
};

/// A rating system, and who has played.
pub(super) struct Standing {
    name: SystemName,
    pub system: Box<dyn System>,
    careers: Roll<Career>,
    newcomers: Newcomers,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Career {
    games: u32,
    last_seen: Timestamp,
    /// How their first game went, until they are settled.
    first: Option<Features>,
}

impl Clone for Standing {
    fn clone(&self) -> Self {
        Self {
            name: self.name,
            system: self.system.boxed_clone(),
            careers: self.careers.clone(),
            newcomers: self.newcomers.clone(),
        }
    }
}

impl Serialize for Standing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let state = self.system.save().map_err(ser::Error::custom)?;
        (self.name, state, &self.careers, &self.newcomers).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Standing {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (name, state, careers, newcomers) =
            <(SystemName, &[u8], _, _)>::deserialize(deserializer)?;
        Ok(Self {
            name,
            system: name.restore(state).map_err(de::Error::custom)?,
            careers,
            newcomers,
        })
    }
}

/// How strengths become weights: weight = 50 ± 50 · x² / (x² + halfway²), x being the strength above
/// a newcomer's, and the sign that of x.
///
/// 50 is a newcomer, and nobody reaches 0 or 100. The square keeps little evidence near 50, where the
/// rating system's mean has hardly left what it believed beforehand: the weight grows with x, and
/// ten wins move it about four times as far as one.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Curve {
    /// Strengths are weights.
    Weights,
    Strengths {
        newcomer: f64,
        halfway: f64,
    },
}

impl Curve {
    fn of(scale: Scale) -> Self {
        match scale {
            Scale::Weights => Self::Weights,
            Scale::Strengths {
                newcomer, halfway, ..
            } => Self::Strengths { newcomer, halfway },
        }
    }

    fn weight(self, strength: f64) -> f64 {
        let weight = match self {
            Self::Weights => strength,
            Self::Strengths { newcomer, halfway } => {
                let above = (strength - newcomer) / halfway;
                let square = above * above;
                // 1 − 1 / (1 + square) is 1, not no number, where the square overflows.
                50.0 + libm::copysign(50.0 - 50.0 / (1.0 + square), above)
            }
        };
        if weight.is_finite() {
            weight.clamp(0.0, 100.0)
        } else {
            50.0
        }
    }

    /// Half the difference between the weights one deviation above and below.
    fn deviation(self, strength: Strength) -> f64 {
        let at = |strength| self.weight(strength);
        let Strength { mean, deviation } = strength;
        (at(mean + deviation) - at(mean - deviation)) / 2.0
    }
}

/// How strengths become worths: worth = 50 + 50 · (strength − newcomer) / unit, within 0 to 100.
///
/// 50 is an average newcomer. The unit is the larger of two. One is what one more average player is
/// worth, where the system learnt it: a player of worth 50 then adds to a team's sum what they add to
/// its strength, even 5 against 4. The other is 2.5 root mean squares of what the known players
/// differ from a newcomer, so that few are clamped.
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
            Scale::Strengths {
                newcomer, one_more, ..
            } => (newcomer, one_more),
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

    fn worth(&self, strength: f64) -> f64 {
        let worth = 50.0 + 50.0 * (strength - self.newcomer) / self.unit;
        match self.unit > 0.0 && worth.is_finite() {
            true => worth.clamp(0.0, 100.0),
            false => 50.0, // nobody differs
        }
    }
}

impl Standing {
    pub fn new(settings: &Settings) -> Self {
        Self {
            name: settings.system,
            system: settings.system.build(settings),
            careers: Roll::default(),
            newcomers: Newcomers::default(),
        }
    }

    /// Learns from a game that ended then.
    pub fn learn(&mut self, game: &Game, end: Timestamp) {
        for tally in &game.tallies {
            let fresh = || Career {
                games: 0,
                last_seen: end,
                first: None,
            };
            let career = self.careers.enter(tally.player, fresh);
            career.games += u32::from(tally.learns);
            career.last_seen = end;
        }
        self.system.update(game);
        for tally in game.tallies.iter().filter(|t| t.learns) {
            self.place(game, tally.player);
        }
    }

    /// Gives somebody after their first game a starting value, and learns from the first game of
    /// somebody who is settled.
    fn place(&mut self, game: &Game, player: Player) {
        let Some(career) = self.careers.get_mut(player) else {
            return;
        };
        if career.games != 1 && career.games != SETTLED {
            return;
        }
        let newcomer = match self.system.scale() {
            Scale::Strengths { newcomer, .. } => newcomer,
            Scale::Weights => return, // a share of points or places starts where it is
        };
        if career.games == 1 {
            career.first = Newcomers::features(game, player);
            let start = career
                .first
                .and_then(|first| self.newcomers.predict(&first));
            if let Some(start) = start {
                let mean = newcomer + start.mean;
                self.system.hint(player, Strength { mean, ..start });
            }
        } else if let Some(first) = career.first.take()
            && let Some(known) = self.system.strength(player)
        {
            let mean = known.mean - newcomer;
            self.newcomers.learn(&first, Strength { mean, ..known });
        }
    }

    /// What an operator should know.
    pub fn remarks(&self) -> Vec<String> {
        let newcomers = "newcomers start where their first game points to".to_owned();
        let newcomers = self.newcomers.believed().then_some(newcomers);
        self.system.remark().into_iter().chain(newcomers).collect()
    }

    /// Whether somebody has a rated game here.
    pub fn knows(&self, player: Player) -> bool {
        self.careers.get(player).is_some_and(|c| c.games > 0)
    }

    /// What the first side of a game is worth, and an empty place on a team.
    pub fn field(&self, game: &Game) -> Field {
        let rated = self.careers.players().filter(|p| self.knows(*p));
        let strengths = rated.filter_map(|p| Some(self.system.strength(p)?.mean));
        let scale = self.system.scale();
        let ruler = Ruler::of(scale, strengths);
        let worth = |strength: f64| match ruler.unit > 0.0 {
            true => 50.0 * strength / ruler.unit,
            false => 0.0, // nobody differs, and so nothing can be told in weights
        };
        let empty = match scale {
            Scale::Weights => 50.0, // such systems compare what everyone differs from 50
            Scale::Strengths { one_more, .. } => (50.0 - worth(one_more)).clamp(0.0, 50.0),
        };
        Field {
            side: worth(self.system.side(game)),
            empty,
        }
    }

    /// Everyone who was ever in a game here.
    pub fn players(&self) -> impl Iterator<Item = Player> {
        self.careers.players()
    }

    /// Everyone with a rated game here, by key, as known under `ruleset`.
    pub fn weights<'a>(&self, ruleset: &'a Ruleset, people: &'a [Person]) -> Vec<Weight<'a>> {
        let rated = self.careers.players().filter(|p| self.knows(*p));
        let rated = rated.filter_map(|player| {
            let strength = self.system.strength(player)?;
            Some((
                people.get(player.index())?,
                self.careers.get(player)?,
                strength,
            ))
        });
        let rated: Vec<_> = rated.collect();
        let scale = self.system.scale();
        let curve = Curve::of(scale);
        let ruler = Ruler::of(scale, rated.iter().map(|(_, _, s)| s.mean));
        let weight = |(person, career, strength): (&'a Person, &Career, Strength)| Weight {
            ruleset,
            key: &person.key,
            name: &person.name,
            weight: curve.weight(strength.mean),
            deviation: curve.deviation(strength),
            worth: ruler.worth(strength.mean),
            games: career.games,
            last_seen: career.last_seen,
        };
        let mut weights: Vec<Weight<'a>> = rated.into_iter().map(weight).collect();
        weights.sort_by(|a, b| a.key.cmp(b.key));
        weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(newcomer: f64, one_more: f64) -> Scale {
        Scale::Strengths {
            newcomer,
            one_more,
            halfway: 2.0,
        }
    }

    #[test]
    fn worths_are_linear_in_strength_and_clamped() {
        let ruler = Ruler::of(scale(1.0, 0.0), [0.0, 2.0].into_iter());
        assert_eq!(ruler.worth(1.0), 50.0);
        assert_eq!((ruler.worth(2.0), ruler.worth(0.0)), (70.0, 30.0));
        assert_eq!((ruler.worth(9.0), ruler.worth(-9.0)), (100.0, 0.0));
    }

    #[test]
    fn weights_grow_with_strength_from_fifty_and_stay_in_range() {
        let curve = Curve::of(scale(1.0, 0.0));
        let weights = [1.0, 1.5, 2.0, 3.0, 5.0, -1.0].map(|strength| curve.weight(strength));
        let by_hand = [0.0, 1.0 / 17.0, 0.2, 0.5, 0.8, -0.5].map(|part| 50.0 + 50.0 * part);
        for (weight, by_hand) in weights.iter().zip(by_hand) {
            assert!((weight - by_hand).abs() < 1e-12, "{weight} {by_hand}");
        }
        assert_eq!(curve.weight(1e300), 100.0);
        assert_eq!(curve.weight(f64::NAN), 50.0);
        let known = Strength {
            mean: 1.0,
            deviation: 2.0,
        };
        assert_eq!(curve.deviation(known), 25.0);
    }

    #[test]
    fn where_one_more_player_rules_sums_of_worths_are_strengths() {
        let ruler = Ruler::of(scale(0.0, 4.0), [-0.5, 0.5].into_iter());
        let strengths = [0.5, -0.5, 0.25];
        // Each adds 4 to a team just by being there.
        let team: f64 = strengths.iter().map(|s| 4.0 + s).sum();
        let worths: f64 = strengths.iter().map(|s| ruler.worth(*s)).sum();
        assert!((worths / 50.0 * 4.0 - team).abs() < 1e-12);
    }

    #[test]
    fn weights_stay_weights_and_nobody_is_fifty() {
        let ruler = Ruler::of(Scale::Weights, [10.0].into_iter());
        assert_eq!(ruler.worth(81.25), 81.25);
        assert_eq!(Curve::of(Scale::Weights).weight(81.25), 81.25);
        assert_eq!(Ruler::of(scale(3.0, 0.0), [].into_iter()).worth(3.0), 50.0);
    }
}
