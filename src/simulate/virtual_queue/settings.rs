//! The settings of a simulation.

use std::time::Duration;

use crate::{
    matchmaking::{attribute::MAX_WORDS, queue::RoundSpacing},
    simulate::Load,
};

/// Who is online in a simulation, what they do, and for how long. Times are in seconds unless the
/// name says otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulationSettings {
    /// Number of players online.
    pub online: usize,
    /// How long the simulation goes on.
    pub length: f64,
    /// How long a match lasts for a player, on average.
    pub battle: f64,
    /// How much shorter or longer a match is for some players, as a share of `battle`: who is out
    /// early leaves early. The lengths are uniform.
    pub battle_spread: f64,
    /// How long players rest between two matches, on average; the times are exponential.
    pub rest: f64,
    /// How long half of the tickets would wait at most before they are cancelled.
    pub patience: f64,
    /// The standard deviation of the logarithm of that time, which is normal.
    pub patience_spread: f64,
    /// The share of players who decline a match, where the queue has a ready check.
    pub declines: f64,
    /// How long players take to answer the ready check, on average; the times are exponential. A
    /// player who is too late has declined.
    pub answer: f64,
    /// The mean of the players' weights.
    pub weight_mean: f64,
    /// Their standard deviation.
    pub weight_deviation: f64,
    /// What players state in their tickets.
    pub load: Load,
    /// The shortest time between the beginnings of two rounds, in milliseconds.
    pub spacing_millis: u64,
    /// The seed of all random numbers.
    pub seed: u64,
}

impl Default for SimulationSettings {
    fn default() -> Self {
        Self {
            online: 5_000,
            length: 3_600.0,
            battle: 300.0,
            battle_spread: 0.3,
            rest: 0.0,
            patience: 240.0,
            patience_spread: 0.5,
            declines: 0.03,
            answer: 5.0,
            weight_mean: 50.0,
            weight_deviation: 15.0,
            load: Load::default(),
            spacing_millis: RoundSpacing::default().least.as_millis() as u64,
            seed: 1,
        }
    }
}

impl SimulationSettings {
    /// When rounds begin: by the daemon's rule.
    pub fn spacing(&self) -> RoundSpacing {
        RoundSpacing {
            least: Duration::from_millis(self.spacing_millis),
        }
    }

    /// The nearest settings that can be simulated: no share is above 1, no number is negative or
    /// infinite.
    pub(super) fn bounded(mut self) -> Self {
        let bound = |number: &mut f64, least: f64, most: f64| {
            *number = if number.is_nan() {
                least
            } else {
                number.clamp(least, most)
            };
        };
        self.online = self.online.clamp(1, 1_000_000);
        bound(&mut self.length, 1.0, DAY);
        bound(&mut self.battle, 1.0, DAY);
        bound(&mut self.battle_spread, 0.0, 1.0);
        bound(&mut self.rest, 0.0, DAY);
        bound(&mut self.patience, 1.0, DAY);
        bound(&mut self.patience_spread, 0.0, 5.0);
        bound(&mut self.declines, 0.0, 1.0);
        bound(&mut self.answer, 0.0, DAY);
        bound(&mut self.weight_mean, 0.0, 100.0);
        bound(&mut self.weight_deviation, 0.0, 100.0);
        let load = &mut self.load;
        bound(&mut load.threes, 0.0, 1.0);
        bound(&mut load.pairs, 0.0, 1.0 - load.threes);
        bound(&mut load.tier_mean, -1e6, 1e6);
        bound(&mut load.tier_deviation, 0.0, 1e6);
        load.vehicles = load.vehicles.clamp(1, 100_000);
        load.maps = load.maps.clamp(1, MAX_WORDS);
        self.spacing_millis = self.spacing_millis.clamp(1, 3_600_000);
        self
    }
}

/// A day in seconds.
const DAY: f64 = 86_400.0;
