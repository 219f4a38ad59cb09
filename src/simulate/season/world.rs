//! A synthetic season: the players' strengths, when they join and leave, and all random numbers.
//! These are drawn before teams are chosen, so that every policy plays the same season.

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
use serde::Serialize;

use super::odds::World;
use crate::model::Ident;

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
