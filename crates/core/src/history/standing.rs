//! One rating system applied to one level: strengths, and their conversion to weights.
//!
//! A [`Curve`] converts a strength to the weight that people read. Its unit is a constant of the
//! rating system, so that only a player's own games move their weight. Decisions by chance
//! add up the strengths themselves, less a newcomer's.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use super::{
    Ladder, LineupReading, Measured, StartsByNumber, Weight,
    digest::Person,
    elsewhere::{Elsewhere, Known},
    newcomers::{Features, Newcomers, SETTLED},
    starts::prior,
};
use crate::{
    domain::{Kind, Rank, RoleWeights, Ruleset, StartWeight, Timestamp, UNITS},
    rating::{
        Player, RatedGame, Roll, Scale, Seat, Settings, Strength, System, SystemName, divisions,
    },
};

/// A rating system, and the players who have been in its games.
pub(super) struct Standing {
    name: SystemName,
    pub system: Box<dyn System>,
    careers: Roll<Career>,
    newcomers: Newcomers,
    spread: Spread,
    ladder: Ladder,
    elsewhere: Elsewhere,
}

/// How far apart the final scores of matches are; the latest matches count most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Number of matches, older ones counting less.
    pub matches: f64,
    /// Sum of the squared differences between two teams' final scores in them.
    squares: f64,
}

/// The least deviation of a player's estimate after their first match, as a factor on the one before it: one match
/// does not show more.
const LEAST_KNOWN: f64 = 2.0 / 3.0;

/// The points of weight in a unit of strength.
const POINTS_PER_UNIT: f64 = 50.0 / UNITS;

/// The factor on all earlier matches in the spread when another match is added, because servers
/// change their score and time limits.
const FADING: f64 = 0.98;

impl Spread {
    /// Adds the final scores of a match. With more than two teams, the mean over all pairs of teams
    /// counts as one match.
    fn add(&mut self, scores: &[f64]) {
        let teams = scores.len() as f64;
        let mean = scores.iter().sum::<f64>() / teams.max(1.0);
        let square: f64 = scores.iter().map(|s| (s - mean) * (s - mean)).sum();
        if scores.len() >= 2 && square.is_finite() {
            self.matches = FADING * self.matches + 1.0;
            self.squares = FADING * self.squares + 2.0 * square / (teams - 1.0);
        }
    }

    /// The mean square of the difference between two teams' final scores; 0 before any match.
    pub fn square(&self) -> f64 {
        match self.matches > 0.0 {
            true => self.squares / self.matches,
            false => 0.0,
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Career {
    games: u32,
    first_seen: Timestamp,
    last_seen: Timestamp,
    /// Time played in rated games.
    minutes: f64,
    /// The features of their first game, until [`SETTLED`] games.
    first: Option<Features>,
}

impl Clone for Standing {
    fn clone(&self) -> Self {
        Self {
            name: self.name,
            system: self.system.boxed_clone(),
            careers: self.careers.clone(),
            newcomers: self.newcomers.clone(),
            spread: self.spread,
            ladder: self.ladder.clone(),
            elsewhere: self.elsewhere.clone(),
        }
    }
}

impl Serialize for Standing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let state = self.system.save().map_err(ser::Error::custom)?;
        let Self {
            careers,
            newcomers,
            spread,
            ladder,
            elsewhere,
            ..
        } = self;
        let learned = (careers, newcomers, spread, ladder, elsewhere);
        (self.name, state, learned).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Standing {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (name, state, learned) = <(SystemName, &[u8], _)>::deserialize(deserializer)?;
        let (careers, newcomers, spread, ladder, elsewhere) = learned;
        Ok(Self {
            name,
            system: name.restore(state).map_err(de::Error::custom)?,
            careers,
            newcomers,
            spread,
            ladder,
            elsewhere,
        })
    }
}

/// Converts strengths to weights: weight = 50 + 50 · x / (6 units), where x is the strength minus a newcomer's; at
/// least 0 and at most 100.
///
/// It is linear, so that the sums of weights order splits as the sums of strengths do: a mutator may do its own
/// partition with weights. A unit is a constant of the rating system.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Curve {
    /// Strengths that are weights already.
    Weights,
    Strengths {
        newcomer: f64,
        unit: f64,
    },
}

impl Curve {
    fn of(scale: Scale) -> Self {
        match scale {
            Scale::Weights => Self::Weights,
            Scale::Strengths { newcomer, unit, .. } => Self::Strengths { newcomer, unit },
        }
    }

    fn weight(self, strength: f64) -> f64 {
        let weight = match self {
            Self::Weights => strength,
            Self::Strengths { newcomer, unit } => {
                50.0 + POINTS_PER_UNIT * (strength - newcomer) / unit
            }
        };
        if weight.is_finite() {
            weight.clamp(0.0, 100.0)
        } else {
            50.0
        }
    }

    /// The strength of a newcomer.
    fn newcomer(self) -> f64 {
        match self {
            Self::Weights => 50.0,
            Self::Strengths { newcomer, .. } => newcomer,
        }
    }

    /// The strength that has this weight, minus a newcomer's. The weight is limited to 0 to 100.
    fn strength(self, weight: f64) -> f64 {
        let above = weight.clamp(0.0, 100.0) - 50.0;
        match self {
            Self::Weights => above,
            Self::Strengths { unit, .. } => above / POINTS_PER_UNIT * unit,
        }
    }

    /// The deviation of a weight that is not limited.
    fn deviation(self, strength: Strength) -> f64 {
        match self {
            Self::Weights => strength.deviation,
            Self::Strengths { unit, .. } => POINTS_PER_UNIT * strength.deviation / unit,
        }
    }
}

impl Standing {
    pub fn new(settings: &Settings) -> Self {
        Self {
            name: settings.system.name(),
            system: settings.system.name().build(settings),
            careers: Roll::default(),
            newcomers: Newcomers::default(),
            spread: Spread::default(),
            ladder: Ladder::default(),
            elsewhere: Elsewhere::default(),
        }
    }

    /// Learns from a game that ended at `end`.
    pub fn learn(&mut self, game: &RatedGame, end: Timestamp, starts: StartsByNumber<'_>) {
        self.start(game, starts);
        let newcomers = self.newcomers_of(game);
        for tally in &game.tallies {
            let fresh = || Career {
                games: 0,
                first_seen: end,
                last_seen: end,
                minutes: 0.0,
                first: None,
            };
            let career = self.careers.enter(tally.player, fresh);
            career.games += u32::from(tally.learns);
            career.last_seen = end;
            career.minutes += tally.minutes;
        }
        self.system.update(game);
        self.spread.add(&game.scores);
        for tally in game.tallies.iter().filter(|t| t.learns) {
            let started = starts.of(tally.player).is_some();
            self.place(game, tally.player, started);
            self.compare(tally.player);
        }
        for (player, deviation) in newcomers {
            self.system.widen(player, LEAST_KNOWN * deviation);
        }
    }

    /// The players of a game who learn from it for the first time, and the deviations of their estimates before it.
    fn newcomers_of(&self, game: &RatedGame) -> Vec<(Player, f64)> {
        let players = game.tallies.iter().filter(|t| t.learns).map(|t| t.player);
        let new = players.filter(|player| !self.knows(*player));
        let deviation = |player| match self.system.strength(player) {
            Some(known) => known.deviation,
            None => self.system.newcomer_deviation(),
        };
        new.map(|player| (player, deviation(player))).collect()
    }

    /// Gives the humans of a game their divisions, after [`learn`](Self::learn) has learned from it.
    /// `people` are all players by number.
    pub fn divide(&mut self, settings: &divisions::Settings, game: &RatedGame, people: &[Person]) {
        let mut ladder = std::mem::take(&mut self.ladder);
        let is_human = |player: &Player| {
            let person = people.get(player.index());
            person.is_some_and(|person| person.key.kind == Kind::Human)
        };
        let measured = |player| self.measured(player);
        let playing = game.tallies.iter().filter(|tally| tally.learns);
        let playing = playing.map(|tally| tally.player).filter(is_human);
        ladder.learn(settings, playing.filter_map(measured), || {
            let humans = self.careers.players().filter(is_human);
            humans.filter_map(measured).collect()
        });
        self.ladder = ladder;
    }

    /// The weight of a player with a rated game in this standing, and how sure it is.
    pub(super) fn measured(&self, player: Player) -> Option<Measured> {
        let career = self.careers.get(player).filter(|c| c.games > 0)?;
        let strength = self.system.strength(player)?;
        let curve = Curve::of(self.system.scale());
        Some(Measured {
            player,
            weight: curve.weight(strength.mean),
            deviation: curve.deviation(strength),
            games: career.games,
        })
    }

    /// A player's weights on each side and as a commander.
    fn role_weights(&self, curve: Curve, player: Player) -> RoleWeights {
        let roles = self.system.roles(player);
        let weights = |strengths: [f64; 2]| strengths.map(|strength| curve.weight(strength));
        RoleWeights {
            sides: roles.sides.map(weights),
            commander: roles.commander.map(|strength| curve.weight(strength)),
        }
    }

    /// The rank that a weight has in this standing. `None` where there are no divisions.
    pub fn rank_of_weight(&self, weight: f64) -> Option<Rank> {
        self.ladder.rank_of_weight(weight)
    }

    /// Lets the players of a game who are new to this standing start at these weights, unless they are known from
    /// elsewhere.
    fn start(&mut self, game: &RatedGame, starts: StartsByNumber<'_>) {
        for player in game.tallies.iter().map(|tally| tally.player) {
            let known = self.system.strength(player).is_some();
            if !known
                && self.careers.get(player).is_none()
                && let Some(start) = starts.of(player)
            {
                self.system.start(player, self.stated(start));
            }
        }
    }

    /// The prior of a player of whom nothing is known.
    fn nobody(&self) -> Strength {
        let deviation = self.system.newcomer_deviation();
        Strength::prior(match deviation > 0.0 {
            true => deviation,
            false => Scale::UNCERTAIN * self.system.scale().unit(),
        })
    }

    /// The prior of a start weight.
    fn stated(&self, start: StartWeight) -> Strength {
        let scale = self.system.scale();
        prior(start, Curve::of(scale).strength(start.weight), scale)
    }

    /// Takes over what is known of a player elsewhere as a prior, in the place of an earlier one. It has an influence
    /// only on a player without a rated game in this standing.
    pub fn adopt(&mut self, player: Player, known: Known, start: Option<StartWeight>) {
        if self.knows(player) {
            return;
        }
        let unknown = start.map_or_else(|| self.nobody(), |start| self.stated(start));
        self.set_prior(player, known, unknown);
    }

    fn set_prior(&mut self, player: Player, known: Known, unknown: Strength) {
        let prior = self.elsewhere.prior(known, unknown);
        self.system.adopt(player, prior);
        let taken = self.estimate(player).unwrap_or(prior);
        self.elsewhere.note(player, known, unknown, taken);
    }

    /// After [`SETTLED`] games of a player who was known from elsewhere, learns how much that said.
    fn compare(&mut self, player: Player) {
        let settled = self.careers.get(player).is_some_and(|c| c.games == SETTLED);
        let Some(after) = self.estimate(player).filter(|_| settled) else {
            return;
        };
        let scale = self.system.scale();
        if self.elsewhere.compare(player, after, scale) {
            let waiting = self.elsewhere.adopted();
            let waiting: Vec<_> = waiting.filter(|(p, ..)| !self.knows(*p)).collect();
            for (player, known, unknown) in waiting {
                self.set_prior(player, known, unknown);
            }
        }
    }

    /// The estimate of a player's strength, relative to a newcomer: from their games, or the prior of a player who is
    /// known from elsewhere.
    pub fn estimate(&self, player: Player) -> Option<Strength> {
        let strength = self.system.strength(player)?;
        let mean = strength.mean - self.system.scale().newcomer();
        Some(Strength { mean, ..strength })
    }

    /// Replaces a weight from elsewhere by the one that its player has in this standing before the first game.
    pub fn convert(&self, player: Player, weight: &mut Weight<'_>) {
        let Some(strength) = self.system.strength(player) else {
            return;
        };
        let curve = Curve::of(self.system.scale());
        weight.weight = curve.weight(strength.mean);
        weight.deviation = curve.deviation(strength);
        weight.strength = strength.mean - curve.newcomer();
        weight.doubt = strength.deviation;
    }

    /// After a player's first game, combines their estimate with the newcomer regression's; after
    /// [`SETTLED`] games, lets the regression learn from the player's first game.
    fn place(&mut self, game: &RatedGame, player: Player, started: bool) {
        let Some(career) = self.careers.get_mut(player) else {
            return;
        };
        if career.games != 1 && career.games != SETTLED {
            return;
        }
        // Only an estimate with a deviation can be combined with other evidence.
        let known = self.system.strength(player).filter(|s| s.deviation > 0.0);
        let (Scale::Strengths { newcomer, .. }, Some(known)) = (self.system.scale(), known) else {
            return;
        };
        if career.games == 1 {
            career.first = Newcomers::features(game, player);
            let start = career
                .first
                .filter(|_| !started) // the operator knows more than a first game shows
                .and_then(|first| self.newcomers.predict(&first));
            if let Some(start) = start {
                let mean = newcomer + start.mean;
                self.system.hint(player, Strength { mean, ..start });
            }
        } else if let Some(first) = career.first.take() {
            let mean = known.mean - newcomer;
            self.newcomers.learn(&first, Strength { mean, ..known });
        }
    }

    /// Warnings for the operator, one sentence each.
    pub fn warnings(&self) -> Vec<String> {
        let newcomers = "newcomers start at a strength predicted from their first game".to_owned();
        let newcomers = self.newcomers.believed().then_some(newcomers);
        self.system.remark().into_iter().chain(newcomers).collect()
    }

    /// Whether the player has a rated game in this standing.
    pub fn knows(&self, player: Player) -> bool {
        self.careers.get(player).is_some_and(|c| c.games > 0)
    }

    /// The rating system's prediction for a lineup of two teams, with its inputs.
    pub fn reading(&self, game: &RatedGame) -> LineupReading {
        let (outlook, chance) = self.system.outlook_and_chance(game);
        let newcomer = Curve::of(self.system.scale()).newcomer();
        let strength = |player| self.system.strength(player).map_or(newcomer, |s| s.mean);
        let sum = |team: usize| -> f64 {
            let seats = game.team(team).iter();
            let friends = |seat| outlook.company.per_friend * game.friends(seat) as f64;
            let command = |seat: &Seat| match seat.command > 0.0 {
                true => seat.command * self.system.command(seat.player, game),
                false => 0.0,
            };
            seats
                .map(|seat| strength(seat.player) - newcomer + friends(seat) + command(seat))
                .sum()
        };
        LineupReading {
            outlook,
            edge: outlook.link.edge(chance),
            strengths: [sum(0), sum(1)],
        }
    }

    /// How far apart the final scores of such games are.
    pub fn spread(&self) -> Spread {
        self.spread
    }

    /// The strength that has this weight, minus a newcomer's. The weight is limited to 0 to 100.
    pub fn strength_at(&self, weight: f64) -> f64 {
        Curve::of(self.system.scale()).strength(weight)
    }

    /// All players who have been in a game of this standing, rated or not.
    pub fn players(&self) -> impl Iterator<Item = Player> {
        self.careers.players()
    }

    /// The weights of all players with a rated game in this standing, by key, labelled with
    /// `ruleset`.
    pub fn weights<'a>(&self, ruleset: &'a Ruleset, people: &'a [Person]) -> Vec<Weight<'a>> {
        let rated = self.careers.players().filter(|p| self.knows(*p));
        let rated = rated.filter_map(|player| {
            let strength = self.system.strength(player)?;
            Some((
                people.get(player.index())?,
                self.careers.get(player)?,
                (player, strength),
            ))
        });
        let rated: Vec<_> = rated.collect();
        let scale = self.system.scale();
        let curve = Curve::of(scale);
        let weight = |(person, career, (player, strength)): (&'a Person, &Career, _)| {
            let Strength { mean, .. } = strength;
            let weight = curve.weight(mean);
            Weight {
                ruleset,
                key: &person.key,
                name: &person.name,
                weight,
                deviation: curve.deviation(strength),
                strength: mean - curve.newcomer(),
                doubt: strength.deviation,
                rank: self.ladder.rank(player, weight),
                roles: self.role_weights(curve, player),
                games: career.games,
                first_seen: career.first_seen,
                last_seen: career.last_seen,
                hours: career.minutes / 60.0,
            }
        };
        let mut weights: Vec<Weight<'a>> = rated.into_iter().map(weight).collect();
        weights.sort_by(|a, b| a.key.cmp(b.key));
        weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(newcomer: f64) -> Scale {
        Scale::Strengths {
            newcomer,
            unit: 2.0,
        }
    }

    #[test]
    fn weights_grow_with_strength_from_fifty_and_stay_in_range() {
        let curve = Curve::of(scale(1.0));
        let weights = [1.0, 1.5, 2.0, 3.0, 5.0, -1.0].map(|strength| curve.weight(strength));
        let by_hand = [0.0, 0.25, 0.5, 1.0, 2.0, -1.0].map(|units| 50.0 + 50.0 * units / 6.0);
        for (weight, by_hand) in weights.iter().zip(by_hand) {
            assert!((weight - by_hand).abs() < 1e-12, "{weight} {by_hand}");
        }
        assert_eq!(curve.weight(1e300), 100.0);
        assert_eq!(curve.weight(-1e300), 0.0);
        assert_eq!(curve.weight(f64::NAN), 50.0);
        let known = Strength {
            mean: 1.0,
            deviation: 2.0,
        };
        assert!((curve.deviation(known) - 50.0 / 6.0).abs() < 1e-12);
    }

    #[test]
    fn a_weight_is_turned_back_into_its_strength() {
        for scale in [scale(1.0), Scale::Weights] {
            let curve = Curve::of(scale);
            for weight in [0.0, 1.0, 20.0, 50.0, 58.0, 75.0, 100.0] {
                let strength = curve.newcomer() + curve.strength(weight);
                assert!((curve.weight(strength) - weight).abs() < 1e-9, "{weight}");
            }
            assert_eq!(curve.strength(101.0), curve.strength(100.0));
            assert_eq!(curve.strength(0.0), -curve.strength(100.0));
        }
        assert!((Curve::of(scale(1.0)).strength(75.0) - 6.0).abs() < 1e-12);
    }

    #[test]
    fn weights_of_a_system_that_has_them_stay() {
        assert_eq!(Curve::of(Scale::Weights).weight(81.25), 81.25);
    }

    #[test]
    fn scores_end_as_far_apart_as_they_did() {
        let mut spread = Spread::default();
        assert_eq!(spread.square(), 0.0);
        (0..50).for_each(|_| spread.add(&[5.0, 2.0]));
        assert!((spread.square() - 9.0).abs() < 1e-9);
        // Three teams, of which two pairs are 3 apart and one pair is not: (9 + 9 + 0) / 3.
        let mut three = Spread::default();
        three.add(&[3.0, 0.0, 0.0]);
        assert!((three.square() - 6.0).abs() < 1e-9);
        (0..400).for_each(|_| spread.add(&[100.0, 0.0]));
        assert!(spread.square() > 9_000.0, "the latest count");
        spread.add(&[]);
        spread.add(&[1.0]);
        assert!(spread.square() > 9_000.0);
    }
}
