//! The synthetic world of a season: who plays when and how strongly, and the laws by which goals fall and matches are
//! won.
//!
//! Strengths, times and all random numbers are drawn before teams are chosen, so that every policy plays the same
//! season.

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use serde::Serialize;

use crate::model::{Ident, Link};

/// The identity of a human of the season.
pub(super) fn human(index: usize) -> Ident {
    Ident::from_text(&format!("player {index}"))
}

/// The name of a bot of the season.
pub(super) fn bot(index: usize) -> Ident {
    Ident::from_text(&format!("Bot {index}"))
}

/// The parameters of a season.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct WorldSettings {
    /// How strengths decide games.
    pub(crate) kind: World,
    /// Number of humans in the season.
    pub(crate) players: usize,
    /// Number of bots that can be added.
    pub(crate) bots: usize,
    /// Number of humans in a game, on average.
    pub(crate) present: usize,
    /// The number of players up to which bots are added.
    pub(crate) min_players: u32,
    /// Standard deviation of ln strength between humans; between bots it is half of it.
    pub(crate) spread: f64,
    /// Standard deviation of ln strength of one player from game to game.
    pub(crate) form: f64,
    /// How much strengths decide: the exponent of the ratio of the teams' strengths that gives the odds of
    /// a goal, or the log odds per unit of ln strength.
    pub(crate) sharpness: f64,
    /// Length of a game in minutes.
    pub(crate) minutes: f64,
    /// Goals of both teams together per minute.
    pub(crate) goals: f64,
    /// Deaths of one player per minute.
    pub(crate) deaths: f64,
    /// How long a human stays, in minutes, on average.
    pub(crate) stay: f64,
    /// The number of humans who leave as soon as their team is `quit_behind` goals behind; they are
    /// the first ones.
    pub(crate) quitters: usize,
    /// The number of goals by which a team must be behind for its quitters to leave.
    pub(crate) quit_behind: f64,
    /// The number of humans who farm points; they are the first ones. There are no quitters then.
    pub(crate) farmers: usize,
    /// The factor on the points of farmers.
    pub(crate) farm_factor: f64,
    /// The share of a farmer's strength that the team lacks, 0 to 1.
    pub(crate) farm_cost: f64,
}

impl WorldSettings {
    /// Goals of both teams together in a game, on average.
    pub(super) fn goals_per_game(&self) -> f64 {
        self.goals * self.minutes
    }
}

#[cfg(test)]
impl Default for WorldSettings {
    /// What the command does without options.
    fn default() -> Self {
        Self {
            kind: World::Ratio,
            players: 40,
            bots: 8,
            present: 10,
            min_players: 8,
            spread: 0.5,
            form: 0.2,
            sharpness: World::Ratio.usual_sharpness(),
            minutes: 20.0,
            goals: 0.5,
            deaths: 1.5,
            stay: 30.0,
            quitters: 0,
            quit_behind: 2.0,
            farmers: 0,
            farm_factor: 3.0,
            farm_cost: 0.0,
        }
    }
}

/// The true strength of each player, as its logarithm.
#[derive(Clone, Debug)]
pub(super) struct TrueStrengths {
    pub(super) humans: Vec<f64>,
    pub(super) bots: Vec<f64>,
}

/// An event of a game, at a millisecond of play. Its numbers from 0 to 1 select the players when
/// the teams are known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SimEvent {
    Arrives(usize),
    Leaves(usize),
    Goal([f64; 2]),
    Kill([f64; 3]),
}

/// One game before teams are chosen.
#[derive(Clone, Debug)]
pub(super) struct GamePlan {
    /// The humans who are present when teams are chosen, by index.
    pub(super) there: Vec<usize>,
    /// The events, sorted by time.
    pub(super) events: Vec<(u64, SimEvent)>,
    /// Each player's form in this game, added to the logarithm of their strength.
    pub(super) form: TrueStrengths,
    /// The seed for the policy's random choices.
    pub(super) seed: u64,
}

/// A stream of random numbers for one game, independent of those for other games.
fn random(seed: u64, season: u64, game: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    for (part, number) in key.chunks_exact_mut(8).zip([seed, season, game]) {
        part.copy_from_slice(&number.to_le_bytes());
    }
    ChaCha8Rng::from_seed(key)
}

impl TrueStrengths {
    pub(super) fn draw(settings: &WorldSettings, seed: u64, season: u64) -> Self {
        let mut random = random(seed, season, u64::MAX);
        let mut of = |count: usize, spread: f64| {
            let mut draw = |_| spread * normal(&mut random);
            (0..count).map(&mut draw).collect()
        };
        let mut humans: Vec<f64> = of(settings.players, settings.spread);
        // Each quitter or farmer has a twin who is not, so that the two kinds are equally strong.
        let first = settings.quitters.max(settings.farmers);
        let twins = humans.len().saturating_sub(first);
        for one in 0..first.min(twins) {
            humans[one] = humans[first + one];
        }
        Self {
            humans,
            bots: of(settings.bots, settings.spread / 2.0),
        }
    }
}

impl GamePlan {
    pub(super) fn draw(settings: &WorldSettings, seed: u64, season: u64, game: u64) -> Self {
        let mut random = random(seed, season, game);
        let draw = &mut random;
        let form = TrueStrengths {
            humans: forms(settings.players, settings.form, draw),
            bots: forms(settings.bots, settings.form, draw),
        };
        // At first, between half and one and a half of the average number are present.
        let least = settings.present.div_ceil(2);
        let count = least + below(draw, settings.present + 1);
        let mut away: Vec<usize> = (0..settings.players).collect();
        let mut there = Vec::new();
        while there.len() < count && !away.is_empty() {
            there.push(away.swap_remove(below(draw, away.len())));
        }
        let end = settings.minutes * 60_000.0;
        let mut events = comings_and_goings(settings, there.clone(), away, end, draw);
        for at in poisson(settings.goals / 60_000.0, end, draw) {
            events.push((at, SimEvent::Goal([draw.random(), draw.random()])));
        }
        let deaths = settings.deaths * settings.present as f64 / 60_000.0;
        for at in poisson(deaths, end, draw) {
            let kill = [draw.random(), draw.random(), draw.random()];
            events.push((at, SimEvent::Kill(kill)));
        }
        events.sort_by_key(|(at, _)| *at);
        Self {
            there,
            events,
            form,
            seed: draw.random::<u64>() >> 1,
        }
    }
}

/// Draws arrivals and departures, which are equally frequent on average.
fn comings_and_goings(
    settings: &WorldSettings,
    mut there: Vec<usize>,
    mut away: Vec<usize>,
    end: f64,
    draw: &mut ChaCha8Rng,
) -> Vec<(u64, SimEvent)> {
    let turnover = settings.present as f64 / (settings.stay * 60_000.0);
    let mut events = Vec::new();
    for at in poisson(2.0 * turnover, end, draw) {
        let comes = draw.random::<bool>();
        if comes && !away.is_empty() {
            let who = away.swap_remove(below(draw, away.len()));
            there.push(who);
            events.push((at, SimEvent::Arrives(who)));
        } else if !comes && there.len() > 2 {
            let who = there.swap_remove(below(draw, there.len()));
            away.push(who);
            events.push((at, SimEvent::Leaves(who)));
        }
    }
    events
}

fn forms(count: usize, spread: f64, draw: &mut ChaCha8Rng) -> Vec<f64> {
    (0..count).map(|_| spread * normal(draw)).collect()
}

/// A random number below `count`; 0 if `count` is 0.
pub(super) fn below(draw: &mut ChaCha8Rng, count: usize) -> usize {
    draw.random_range(0..count.max(1) as u64) as usize
}

/// The times of a Poisson process with this rate, up to `end`.
fn poisson(rate: f64, end: f64, draw: &mut ChaCha8Rng) -> Vec<u64> {
    let mut times = Vec::new();
    let mut at = 0.0;
    if rate <= 0.0 {
        return times;
    }
    loop {
        at -= libm::log(1.0 - draw.random::<f64>()) / rate;
        if at >= end {
            return times;
        }
        times.push(at as u64);
    }
}

/// A random number from the standard normal distribution (Box and Muller 1958).
fn normal(draw: &mut ChaCha8Rng) -> f64 {
    let radius = (-2.0 * libm::log(1.0 - draw.random::<f64>())).sqrt();
    radius * libm::cos(std::f64::consts::TAU * draw.random::<f64>())
}

/// How the players' strengths decide which team scores the next goal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, clap::ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum World {
    /// The odds are a power of the ratio of the teams' summed strengths
    #[default]
    Ratio,
    /// The logarithm of the odds is a multiple of the difference of the teams' summed ln strengths, plus
    /// the logarithm of the ratio of their numbers of players
    Logistic,
}

/// What the players of one team are together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WorldSide {
    /// Number of players; one who helps only in part counts as that part.
    heads: f64,
    /// Sum of their strengths.
    strength: f64,
    /// Sum of the logarithms of their strengths.
    ln_strength: f64,
}

impl WorldSide {
    /// Adds a player who gives the team this share of their strength, 0 to 1.
    pub(super) fn add(&mut self, ln_strength: f64, share: f64) {
        self.heads += share;
        self.strength += libm::exp(ln_strength) * share;
        self.ln_strength += ln_strength * share;
    }
}

impl World {
    /// The name of the world, as `--world` takes it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ratio => "ratio",
            Self::Logistic => "logistic",
        }
    }

    /// How much the strengths decide unless `--sharpness` says otherwise: the power of the ratio, or the
    /// log odds per unit of ln strength.
    ///
    /// With 0.42, teams drawn at random are as uneven in both worlds. For five against five whose ln
    /// strengths have a standard deviation of 0.5, as by default, the log odds of a goal have the
    /// standard deviation 0.66 in both, and the winner of a game of ten goals can be predicted with a
    /// log loss of 0.47. In the world `ratio`, larger teams are more even, since strengths average out;
    /// here they are less even, since strengths add up.
    pub(crate) fn usual_sharpness(self) -> f64 {
        match self {
            Self::Ratio => 2.0,
            Self::Logistic => 0.42,
        }
    }

    /// The chance that the first side scores the next goal; ½ if nobody plays.
    pub(super) fn next_goal(self, sharpness: f64, [one, other]: [WorldSide; 2]) -> f64 {
        match self {
            Self::Ratio => {
                let powers = [one, other].map(|side| libm::pow(side.strength, sharpness));
                let both = powers[0] + powers[1];
                if both > 0.0 { powers[0] / both } else { 0.5 }
            }
            Self::Logistic if one.heads + other.heads > 0.0 => {
                let stronger = sharpness * (one.ln_strength - other.ln_strength);
                let log_odds = stronger + libm::log(one.heads / other.heads);
                Link::Logistic.chance(log_odds)
            }
            Self::Logistic => 0.5,
        }
    }
}

/// The chance that a team wins, given that they do not tie, if it scores each goal with the chance
/// `share`: the goals of both teams have Poisson distributions, and their difference a Skellam
/// distribution (1946). `goals` is the expected number of both teams together.
pub(super) fn chance_to_win(share: f64, goals: f64) -> f64 {
    let series = |mean: f64| -> Vec<f64> {
        let mut term = libm::exp(-mean);
        let count = (mean + 12.0 * mean.sqrt() + 12.0) as usize;
        let mut terms = Vec::with_capacity(count);
        for k in 0..count {
            terms.push(term);
            term *= mean / (k + 1) as f64;
        }
        terms
    };
    let (ours, theirs) = (series(share * goals), series((1.0 - share) * goals));
    let ahead = |a: &[f64], b: &[f64]| -> f64 {
        let mut below = 0.0;
        let mut sum = 0.0;
        for (k, p) in a.iter().enumerate() {
            sum += p * below;
            below += b.get(k).copied().unwrap_or(0.0);
        }
        sum
    };
    let (won, lost) = (ahead(&ours, &theirs), ahead(&theirs, &ours));
    if won + lost > 0.0 {
        won / (won + lost)
    } else {
        0.5
    }
}

/// By how much the log odds to win grow with the log odds of each goal, near even ones; at least 1,
/// which it is if there is hardly ever a second goal.
pub(super) fn wins_per_goal(goals: f64) -> f64 {
    const STEP: f64 = 1e-3;
    let chance = chance_to_win(Link::Logistic.chance(STEP), goals);
    (libm::log(chance / (1.0 - chance)) / STEP).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn side(players: &[f64]) -> WorldSide {
        let mut side = WorldSide::default();
        players.iter().for_each(|&ln| side.add(ln, 1.0));
        side
    }

    fn log_odds(world: World, sharpness: f64, one: &[f64], other: &[f64]) -> f64 {
        let chance = world.next_goal(sharpness, [one, other].map(side));
        (chance / (1.0 - chance)).ln()
    }

    #[test]
    fn in_the_logistic_world_log_odds_are_sums_and_heads() {
        let odds = |sharpness, one: &[f64], other: &[f64]| {
            let found = log_odds(World::Logistic, sharpness, one, other);
            let back = log_odds(World::Logistic, sharpness, other, one);
            assert!((found + back).abs() < 1e-9, "{found} {back}");
            found
        };
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        near(odds(1.0, &[0.3, -0.1], &[0.4, 0.2]), -0.4);
        near(odds(0.5, &[0.3, -0.1], &[0.4, 0.2]), -0.2);
        near(odds(0.42, &[0.0; 5], &[0.0; 4]), 1.25_f64.ln());
        near(odds(0.42, &[1.0, 0.5], &[0.2]), 0.42 * 1.3 + 2.0_f64.ln());
        // The strong are not stronger among the strong.
        near(odds(1.0, &[3.0, 1.0], &[3.0, 0.0]), 1.0);
    }

    #[test]
    fn in_the_world_of_ratios_odds_are_a_power_of_the_ratio() {
        let odds = |power, one: &[f64], other: &[f64]| log_odds(World::Ratio, power, one, other);
        let ratio = (0.3_f64.exp() + 0.1_f64.exp()) / 0.4_f64.exp();
        assert!((odds(2.0, &[0.3, 0.1], &[0.4]) - 2.0 * ratio.ln()).abs() < 1e-9);
        assert!((odds(2.0, &[0.0; 6], &[0.0; 3]) - 4.0_f64.ln()).abs() < 1e-9);
    }

    #[test]
    fn teams_of_nobody_never_score() {
        for world in [World::Ratio, World::Logistic] {
            let sharpness = world.usual_sharpness();
            let goal =
                |one: &[f64], other: &[f64]| world.next_goal(sharpness, [one, other].map(side));
            assert_eq!(goal(&[], &[]), 0.5);
            assert_eq!(goal(&[0.3], &[]), 1.0);
            assert_eq!(goal(&[], &[0.3]), 0.0);
            // A player who gives nothing is as good as not there.
            let mut absent = side(&[0.3]);
            absent.add(1.0, 0.0);
            assert_eq!(world.next_goal(sharpness, [absent, side(&[0.3])]), 0.5);
        }
    }

    /// The spread of strengths: teams at random are about as uneven in both worlds.
    #[test]
    fn random_teams_are_as_uneven_in_both_worlds() {
        use super::{TrueStrengths, WorldSettings};
        let drawn = TrueStrengths::draw(
            &WorldSettings {
                players: 20_000,
                ..WorldSettings::default()
            },
            1,
            0,
        );
        let of = |world: World| {
            let goal = |ten: &[f64]| {
                let sides = [&ten[..5], &ten[5..]].map(side);
                world.next_goal(world.usual_sharpness(), sides)
            };
            let games = drawn.humans.chunks_exact(10).map(goal);
            let mut chances: Vec<f64> = games
                .map(|share| chance_to_win(share.max(1.0 - share), 10.0))
                .collect();
            chances.sort_by(f64::total_cmp);
            let loss = |p: f64| -(p * p.ln() + (1.0 - p) * (1.0 - p).ln());
            let mean = chances.iter().map(|&p| loss(p)).sum::<f64>() / chances.len() as f64;
            let quartiles = [1, 2, 3].map(|k| chances[k * chances.len() / 4]);
            (mean, quartiles)
        };
        let (ratio, logistic) = (of(World::Ratio), of(World::Logistic));
        assert!((ratio.0 - 0.47).abs() < 0.015, "{ratio:?}");
        assert!(
            (ratio.0 - logistic.0).abs() < 0.02,
            "{ratio:?} {logistic:?}"
        );
        for (a, b) in ratio.1.into_iter().zip(logistic.1) {
            assert!((a - b).abs() < 0.025, "{ratio:?} {logistic:?}");
        }
    }

    #[test]
    fn chances_of_a_difference_of_goals() {
        let chance = chance_to_win;
        assert!((chance(0.5, 10.0) - 0.5).abs() < 1e-12);
        assert!((chance(0.7, 10.0) + chance(0.3, 10.0) - 1.0).abs() < 1e-12);
        // There is almost never more than one goal, so the first one decides.
        assert!((chance(0.7, 1e-6) - 0.7).abs() < 1e-6);
        assert!(chance(0.6, 100.0) > 0.97);
    }

    #[test]
    fn more_goals_decide_more_surely() {
        assert_eq!(wins_per_goal(0.0), 1.0);
        assert!((wins_per_goal(1e-6) - 1.0).abs() < 1e-3);
        // By the normal distribution of the difference of goals, among the games that do not tie.
        let tau = std::f64::consts::TAU;
        let ties = 1.0 / (tau * 10.0).sqrt();
        let by_hand = 2.0 * (10.0 / tau).sqrt() / (1.0 - ties);
        let ten = wins_per_goal(10.0);
        assert!((ten / by_hand - 1.0).abs() < 0.02, "{ten} {by_hand}");
        assert!(wins_per_goal(40.0) > 1.8 * ten);
    }
}
