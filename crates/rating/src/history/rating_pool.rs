//! One rating system applied to one level: the strengths of its players, and their accounts.
//!
//! The [account](Account) of a player is the weight that people read: a [`Curve`] says which weight a strength
//! stands for. Decisions by chance add up the strengths themselves, less a newcomer's.

use std::fmt;

use evenkeel_model::{
    Ruleset, Timestamp,
    weight::{Rank, RoleWeights, Standing, StartWeight, WeightEntry},
};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};

use super::{
    LineupReading, People, Weight,
    newcomers::{Elsewhere, Features, KnownElsewhere, Newcomers, SETTLED, StartsByNumber, prior},
    people::Person,
    weight::{self, Account, AverageSeat, Curve, TeamResult, soft},
};
use crate::{
    Player, RatedGame, Seat, Settings, Strength, System, SystemName,
    divisions::{self, Ladder, MeasuredPlayer},
    player_map::PlayerMap,
    system::{Effects, Scale},
};

/// A rating system, and the players who have been in its games.
pub(super) struct RatingPool {
    name: SystemName,
    pub system: Box<dyn System>,
    pub(super) careers: PlayerMap<Career>,
    /// Whom the weight 50 stands for.
    average: AverageSeat,
    newcomers: Newcomers,
    spread: Spread,
    pub(super) ladder: Ladder,
    elsewhere: Elsewhere,
}

/// The weights between which somebody unknown is counted: how strong newcomers are is learned from few of them.
const UNKNOWN: (f64, f64) = (35.0, 65.0);
/// The least deviation of a player's estimate after their first match, as a factor on the one before it: one match
/// does not show more.
const LEAST_KNOWN: f64 = 2.0 / 3.0;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Career {
    pub(super) games: u32,
    pub(super) wins: u32,
    pub(super) first_seen: Timestamp,
    pub(super) last_seen: Timestamp,
    /// Time played in rated games.
    pub(super) minutes: f64,
    /// The features of their first game, until [`SETTLED`] games.
    pub(super) first: Option<Features>,
    /// The player's results; `None` before the first game from which they learned.
    pub(super) account: Option<Account>,
}

impl Clone for RatingPool {
    fn clone(&self) -> Self {
        Self {
            name: self.name,
            system: self.system.boxed_clone(),
            careers: self.careers.clone(),
            average: self.average,
            newcomers: self.newcomers.clone(),
            spread: self.spread,
            ladder: self.ladder.clone(),
            elsewhere: self.elsewhere.clone(),
        }
    }
}

impl Serialize for RatingPool {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let state = self.system.save().map_err(ser::Error::custom)?;
        let state = Blob(state);
        let Self {
            careers,
            average,
            newcomers,
            spread,
            ladder,
            elsewhere,
            ..
        } = self;
        let learned = (careers, average, newcomers, spread, ladder, elsewhere);
        (self.name, state, learned).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RatingPool {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (name, state, learned) = <(SystemName, &[u8], _)>::deserialize(deserializer)?;
        let (careers, average, newcomers, spread, ladder, elsewhere) = learned;
        Ok(Self {
            name,
            system: name.restore(state).map_err(de::Error::custom)?,
            careers,
            average,
            newcomers,
            spread,
            ladder,
            elsewhere,
        })
    }
}

impl RatingPool {
    pub(super) fn new(settings: &Settings) -> Self {
        Self {
            name: settings.system.name(),
            system: settings.system.name().build(settings),
            careers: PlayerMap::default(),
            average: AverageSeat::default(),
            newcomers: Newcomers::default(),
            spread: Spread::default(),
            ladder: Ladder::default(),
            elsewhere: Elsewhere::default(),
        }
    }

    /// Learns from a game that ended at `end`. Returns what it entered into the accounts of those who learned from it.
    pub(super) fn learn(
        &mut self,
        game: &RatedGame,
        end: Timestamp,
        starts: StartsByNumber<'_>,
    ) -> Vec<(Player, WeightEntry)> {
        let learners = learners(game);
        let opened: Vec<f64> = (learners.iter())
            .map(|player| self.weight_of(*player, starts))
            .collect();
        let results = self.results(game);
        self.start(game, starts);
        let newcomers = self.newcomers_of(game);
        for tally in &game.tallies {
            let fresh = || Career {
                games: 0,
                wins: 0,
                first_seen: end,
                last_seen: end,
                minutes: 0.0,
                first: None,
                account: None,
            };
            let career = self.careers.enter(tally.player, fresh);
            career.games += u32::from(tally.learns);
            career.wins += u32::from(tally.learns && tally.won);
            career.last_seen = end;
            career.minutes += tally.minutes;
        }
        self.system.update(game);
        self.spread.add(&game.scores);
        for tally in game.tallies.iter().filter(|t| t.learns) {
            let started = starts.of(tally.player).is_some();
            self.seed(game, tally.player, started);
            self.compare(tally.player);
        }
        for (player, deviation) in newcomers {
            self.system.widen(player, LEAST_KNOWN * deviation);
        }
        let seats: Vec<Effects> = learners.iter().filter_map(|p| self.factors(*p)).collect();
        self.average.add(&seats);
        let learners = learners.into_iter().zip(opened);
        let entered = learners.filter_map(|(player, before)| {
            Some((player, self.enter(game, player, before, &results)?))
        });
        entered.collect()
    }

    /// The teams' results, as accounts see them; empty where strengths are weights, and without a result.
    fn results(&self, game: &RatedGame) -> Vec<TeamResult> {
        match self.system.scale() {
            Scale::Weights => Vec::new(),
            Scale::Strengths { .. } => weight::results(game, |a, b| self.system.beats(game, a, b)),
        }
    }

    /// Enters a game that was learned from into a player's account, which stood at `before`. A system without strengths
    /// keeps its own number.
    fn enter(
        &mut self,
        game: &RatedGame,
        player: Player,
        before: f64,
        results: &[TeamResult],
    ) -> Option<WeightEntry> {
        let strength = self.system.strength(player)?;
        let curve = self.curve();
        let (points, deviation) = (curve.points(strength.mean), curve.deviation(strength));
        let career = self.careers.get_mut(player)?;
        let account = (career.account).get_or_insert_with(|| Account::open(before));
        let cause = match curve {
            Curve::Weights => {
                account.set(points, deviation);
                None
            }
            Curve::Strengths(_) => {
                let part = weight::part(game, player, results);
                Some(account.enter(part, soft(points), deviation))
            }
        };
        Some(WeightEntry {
            before,
            weight: account.weight,
            deviation,
            cause,
        })
    }

    /// The factors of a player on the effects that all share; `None` for a player whom the system has not seen.
    fn factors(&self, player: Player) -> Option<Effects> {
        self.system.parts(player).map(|parts| parts.factors)
    }

    /// Which weights strengths stand for now.
    pub(super) fn curve(&self) -> Curve {
        let effects = self.system.effects();
        Curve::new(self.system.scale(), effects, self.average.factors())
    }

    /// The weight of a player now: what the account says, or with which weight it would begin.
    pub(super) fn weight_of(&self, player: Player, starts: StartsByNumber<'_>) -> f64 {
        let account = self.account(player);
        account.map_or_else(|| self.first_weight(player, starts), |own| own.weight)
    }

    /// The weight with which the account of a player begins: the one from games whose weights count as they are, the one
    /// that an operator has stated, or that of the strength, which is a newcomer's unless something is known from elsewhere.
    fn first_weight(&self, player: Player, starts: StartsByNumber<'_>) -> f64 {
        let curve = self.curve();
        let points = || {
            let strength = self.system.strength(player);
            curve.points(strength.map_or(curve.newcomer(), |own| own.mean))
        };
        let is_own = curve == Curve::Weights; // a number of the system's own
        match (self.elsewhere.of(player), starts.of(player)) {
            (None, Some(start)) => start.weight,
            (Some(Some(near)), _) if !is_own => near,
            (None, None) if !is_own => points().clamp(UNKNOWN.0, UNKNOWN.1),
            _ if is_own => points().clamp(0.0, 100.0),
            _ => soft(points()),
        }
    }

    /// The weight of somebody of whom nothing is known.
    pub(super) fn unknown_weight(&self) -> f64 {
        let curve = self.curve();
        curve.points(curve.newcomer()).clamp(UNKNOWN.0, UNKNOWN.1)
    }

    /// The account of a player with a game from which they learned.
    pub(super) fn account(&self, player: Player) -> Option<&Account> {
        self.careers.get(player)?.account.as_ref()
    }

    /// Starts a new season: strengths and accounts keep the share `keep` of their distance from a newcomer's and from 50.
    pub(super) fn new_season(&mut self, keep: f64) {
        self.system.new_season(keep);
        let curve = self.curve();
        for player in self.careers.players().collect::<Vec<_>>() {
            let Some(strength) = self.system.strength(player) else {
                continue;
            };
            let career = self.careers.get_mut(player);
            let Some(account) = career.and_then(|career| career.account.as_mut()) else {
                continue;
            };
            let deviation = curve.deviation(strength);
            match curve {
                Curve::Weights => account.set(curve.points(strength.mean), deviation),
                Curve::Strengths(_) => account.new_season(keep, deviation),
            }
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
    pub(super) fn divide(
        &mut self,
        settings: &divisions::Settings,
        game: &RatedGame,
        people: &People,
    ) {
        let mut ladder = std::mem::take(&mut self.ladder);
        let is_human = |player: &Player| people.is_human(*player);
        let measured = |player| self.measured(player);
        let playing = game.tallies.iter().filter(|tally| tally.learns);
        let playing = playing.map(|tally| tally.player).filter(is_human);
        let seen = |player| self.careers.get(player).map(|career| career.last_seen);
        let latest = (game.tallies.iter()).find_map(|tally| seen(tally.player));
        let has_place = |one: &MeasuredPlayer| {
            let standing = latest.zip(seen(one.player)).map(|(latest, last_seen)| {
                Standing::of(one.games, one.deviation, last_seen, latest)
            });
            standing == Some(Standing::Placed)
        };
        ladder.learn(settings, playing.filter_map(measured), || {
            let humans = self.careers.players().filter(is_human);
            humans.filter_map(measured).filter(has_place).collect()
        });
        self.ladder = ladder;
    }

    /// The weight of a player with a rated game in this rating pool, and how sure it is.
    pub(super) fn measured(&self, player: Player) -> Option<MeasuredPlayer> {
        let career = self.careers.get(player)?;
        let account = career.account.as_ref()?;
        Some(MeasuredPlayer {
            player,
            weight: account.weight,
            deviation: account.deviation,
            games: career.games,
        })
    }

    /// Number of games that a player has learned from.
    pub(super) fn games(&self, player: Player) -> u32 {
        self.careers.get(player).map_or(0, |career| career.games)
    }

    pub(super) fn ladder(&self) -> &Ladder {
        &self.ladder
    }

    /// At least the players who have been in a game since an older copy.
    pub(super) fn played_since(&self, before: &Self) -> Vec<Player> {
        self.careers.unlike(&before.careers)
    }

    /// The rank that a weight has in this rating pool. `None` where there are no divisions.
    pub(super) fn rank_of_weight(&self, weight: f64) -> Option<Rank> {
        self.ladder.rank_of_weight(weight)
    }

    /// Lets the players of a game who are new to this rating pool start at these weights, unless they are known from
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
        let above = self.curve().strength(start.weight);
        prior(start, above, self.system.scale())
    }

    /// Takes over what is known elsewhere of a player without a rated game in this rating pool as a prior, in the place of an
    /// earlier one.
    pub(super) fn adopt(
        &mut self,
        player: Player,
        known: KnownElsewhere,
        start: Option<StartWeight>,
    ) {
        let unknown = start.map_or_else(|| self.nobody(), |start| self.stated(start));
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
        self.elsewhere.compare(player, after, scale);
    }

    /// The estimate of a player's strength, relative to a newcomer: from their games, or the prior of a player who is
    /// known from elsewhere.
    pub(super) fn estimate(&self, player: Player) -> Option<Strength> {
        let strength = self.system.strength(player)?;
        let mean = strength.mean - self.system.scale().newcomer();
        Some(Strength { mean, ..strength })
    }

    /// Replaces a weight from elsewhere by the one that its player has in this rating pool before the first game.
    pub(super) fn convert(
        &self,
        player: Player,
        weight: &mut Weight<'_>,
        starts: StartsByNumber<'_>,
    ) {
        let Some(strength) = self.system.strength(player) else {
            return;
        };
        let curve = self.curve();
        weight.weight = self.first_weight(player, starts);
        weight.deviation = curve.deviation(strength);
        weight.strength = strength.mean - curve.newcomer();
        weight.points = curve.points(strength.mean);
        weight.strength_deviation = strength.deviation;
    }

    /// After a player's first game, combines their estimate with the newcomer regression's; after
    /// [`SETTLED`] games, lets the regression learn from the player's first game.
    fn seed(&mut self, game: &RatedGame, player: Player, started: bool) {
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
    pub(super) fn warnings(&self) -> Vec<String> {
        let newcomers = "newcomers start at a strength predicted from their first game".to_owned();
        let newcomers = self.newcomers.believed().then_some(newcomers);
        self.system.warning().into_iter().chain(newcomers).collect()
    }

    /// Whether the player has a rated game in this rating pool.
    pub(super) fn knows(&self, player: Player) -> bool {
        self.careers.get(player).is_some_and(|c| c.games > 0)
    }

    /// The rating system's prediction for a lineup of two teams, with its inputs.
    pub(super) fn reading(&self, game: &RatedGame) -> LineupReading {
        let (win_model, chance) = self.system.win_model_and_chance(game);
        let newcomer = self.system.scale().newcomer();
        let strength = |player| self.system.strength(player).map_or(newcomer, |s| s.mean);
        let sum = |team: usize| -> f64 {
            let seats = game.team(team).iter();
            let friends = |seat| win_model.company.per_friend * game.friends(seat) as f64;
            let command = |seat: &Seat| match seat.command > 0.0 {
                true => seat.command * self.system.command(seat.player, game),
                false => 0.0,
            };
            seats
                .map(|seat| strength(seat.player) - newcomer + friends(seat) + command(seat))
                .sum()
        };
        LineupReading {
            win_model,
            edge: win_model.link.edge(chance),
            strengths: [sum(0), sum(1)],
        }
    }

    /// How far apart the final scores of such games are.
    pub(super) fn spread(&self) -> Spread {
        self.spread
    }

    /// The strength that has this weight, minus a newcomer's. The weight is limited to 0 to 100.
    pub(super) fn strength_at(&self, weight: f64) -> f64 {
        self.curve().strength(weight)
    }

    /// The points of a strength above a newcomer's: linear, without the soft ends of a weight.
    pub(super) fn points_of(&self, strength: f64) -> f64 {
        let curve = self.curve();
        curve.points(curve.newcomer() + strength)
    }

    /// All players who have been in a game of this rating pool, rated or not.
    pub(super) fn players(&self) -> impl Iterator<Item = Player> {
        self.careers.players()
    }
}

/// The players who learn from a game, each once, in the order of the tallies.
fn learners(game: &RatedGame) -> Vec<Player> {
    let mut learners: Vec<Player> = Vec::with_capacity(game.tallies.len());
    for tally in game.tallies.iter().filter(|tally| tally.learns) {
        if !learners.contains(&tally.player) {
            learners.push(tally.player);
        }
    }
    learners
}

impl RatingPool {
    /// A player's weight, labelled with `ruleset`; `None` without a rated game in this rating pool.
    pub(super) fn weight<'a>(
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
            strength_deviation: strength.deviation,
            rank: self.ladder.rank(player, account.weight),
            roles: self.role_weights(curve, player),
            games: career.games,
            wins: career.wins,
            first_seen: career.first_seen,
            last_seen: career.last_seen,
            hours: career.minutes / 60.0,
        })
    }

    /// The weights of all players with a rated game in this rating pool, by key, labelled with `ruleset`.
    pub(super) fn weights<'a>(&self, ruleset: &'a Ruleset, people: &'a People) -> Vec<Weight<'a>> {
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

/// Bytes, for example the state of something in a form of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Blob(Vec<u8>);

impl Serialize for Blob {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Blob {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Bytes;
        impl de::Visitor<'_> for Bytes {
            type Value = Blob;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Blob, E> {
                Ok(Blob(bytes.to_vec()))
            }
        }
        deserializer.deserialize_bytes(Bytes)
    }
}

/// How far apart the final scores of matches are; the latest matches count most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Spread {
    /// Number of matches, older ones counting less.
    pub matches: f64,
    /// Sum of the squared differences between two teams' final scores in them.
    squares: f64,
}

/// The factor on all earlier matches in the spread when another match is added, because servers
/// change their score and time limits.
const FADING: f64 = 0.98;

impl Spread {
    /// Adds the final scores of a match. With more than two teams, the mean over all pairs of teams
    /// counts as one match.
    pub(super) fn add(&mut self, scores: &[f64]) {
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

#[cfg(test)]
mod tests {
    use super::*;

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
