//! The options of `evenkeel queue simulate`.

use std::path::PathBuf;

use clap::{Args, value_parser};

use crate::{
    cli::between,
    matchmaking::Effort,
    simulate::{Load, SimulationSettings},
};

/// Simulate a queue: people who queue, wait, play and queue again, against the real planner
///
/// Time is virtual: an hour takes as long as its searches. Prints how long people waited, who waited
/// longest, and how close the matches were. The result depends on the configuration, the options, the
/// seed and the effort alone; only the times of the searches depend on the machine.
#[derive(Debug, Args)]
pub(in crate::cli::queue) struct SimulateArgs {
    /// The queue, by its name in the configuration
    #[arg(long, value_name = "NAME")]
    pub queue: String,
    /// Read the configuration from FILE
    #[arg(long, value_name = "FILE", env = "EVENKEEL_CONFIG")]
    pub config: PathBuf,
    /// Virtual time, in hours
    #[arg(long, value_name = "HOURS", default_value_t = 1.0, value_parser = hours)]
    hours: f64,
    /// The seed of all random numbers
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// How much each round searches; the daemon's rounds have 1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u32).range(1..=i64::from(Effort::MOST)))]
    pub effort: u32,
    /// Search on N threads; this changes nothing but the time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u16).range(1..=256))]
    pub threads: u16,
    /// The shortest time between the beginnings of two rounds, in milliseconds; by default as in the
    /// daemon
    #[arg(long, value_name = "MILLIS", value_parser = value_parser!(u64).range(10..=60_000))]
    spacing: Option<u64>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Write plots of the waits to FOLDER
    #[arg(long, value_name = "FOLDER")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    people: PeopleArgs,
}

/// Who is online, and what they do.
#[derive(Debug, Args)]
#[command(next_help_heading = "People")]
struct PeopleArgs {
    /// Number of players online
    #[arg(long, value_name = "N", default_value_t = 5_000, value_parser = value_parser!(u32).range(1..=1_000_000))]
    online: u32,
    /// How long a match lasts for a player, on average, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300.0, value_parser = duration)]
    battle: f64,
    /// How much shorter or longer a match is for some players, as a share of --battle
    #[arg(long, value_name = "SHARE", default_value_t = 0.3, value_parser = share)]
    battle_spread: f64,
    /// How long players rest between two matches, on average, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = seconds)]
    rest: f64,
    /// Half of the tickets are cancelled after this wait, or later, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 240.0, value_parser = duration)]
    patience: f64,
    /// Standard deviation of the logarithm of the wait after which a ticket is cancelled
    #[arg(long, value_name = "SD", default_value_t = 0.5, value_parser = deviation)]
    patience_spread: f64,
    /// Share of the players who decline a match, if the queue has a ready check
    #[arg(long, value_name = "SHARE", default_value_t = 0.03, value_parser = share)]
    declines: f64,
    /// How long players take to answer the ready check, on average, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, value_parser = seconds)]
    answer: f64,
    /// Mean of the players' weights
    #[arg(long, value_name = "WEIGHT", default_value_t = 50.0, value_parser = weight)]
    weight: f64,
    /// Standard deviation of the players' weights
    #[arg(long, value_name = "SD", default_value_t = 15.0, value_parser = weight)]
    weight_spread: f64,
    /// Share of the tickets with two players
    #[arg(long, value_name = "SHARE", default_value_t = 0.17, value_parser = share)]
    pairs: f64,
    /// Share of the tickets with three players; with --pairs, at most 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.08, value_parser = share)]
    threes: f64,
    /// Mean of the attribute `tier`
    #[arg(long, value_name = "TIER", default_value_t = 7.0, value_parser = weight)]
    tier: f64,
    /// Standard deviation of the attribute `tier`
    #[arg(long, value_name = "SD", default_value_t = 2.2, value_parser = weight)]
    tier_spread: f64,
    /// Number of vehicles of a tier; who has which follows Zipf's law
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = value_parser!(u32).range(1..=10_000))]
    vehicles: u32,
    /// Number of maps that players can have loaded
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = value_parser!(u32).range(1..=128))]
    maps: u32,
    /// Share of the maps that a player has loaded
    #[arg(long, value_name = "SHARE", default_value_t = 0.85, value_parser = share)]
    loaded: f64,
    /// Share of the tickets that accept only one of two modes
    #[arg(long, value_name = "SHARE", default_value_t = 0.2, value_parser = share)]
    one_mode: f64,
    /// Share of the tickets that play with a mouse
    #[arg(long, value_name = "SHARE", default_value_t = 0.3, value_parser = share)]
    mouse: f64,
    /// Share of the tickets that ask for players with the same control
    #[arg(long, value_name = "SHARE", default_value_t = 0.25, value_parser = share)]
    single_control: f64,
    /// Share of the players with a new vehicle
    #[arg(long, value_name = "SHARE", default_value_t = 0.08, value_parser = share)]
    newcomers: f64,
}

fn hours(text: &str) -> Result<f64, String> {
    between(text, 0.001, 24.0)
}

fn share(text: &str) -> Result<f64, String> {
    between(text, 0.0, 1.0)
}

fn seconds(text: &str) -> Result<f64, String> {
    between(text, 0.0, 86_400.0)
}

fn duration(text: &str) -> Result<f64, String> {
    between(text, 1.0, 86_400.0)
}

fn deviation(text: &str) -> Result<f64, String> {
    between(text, 0.0, 5.0)
}

fn weight(text: &str) -> Result<f64, String> {
    between(text, 0.0, 100.0)
}

impl SimulateArgs {
    /// The settings of the simulation.
    ///
    /// # Errors
    /// Fails if the shares of parties are more than 1 together.
    pub fn settings(&self) -> Result<SimulationSettings, String> {
        let people = &self.people;
        if people.pairs + people.threes > 1.0 {
            return Err("--pairs and --threes must be at most 1 together".to_owned());
        }
        let default = SimulationSettings::default();
        Ok(SimulationSettings {
            online: people.online as usize,
            length: self.hours * 3_600.0,
            battle: people.battle,
            battle_spread: people.battle_spread,
            rest: people.rest,
            patience: people.patience,
            patience_spread: people.patience_spread,
            declines: people.declines,
            answer: people.answer,
            weight_mean: people.weight,
            weight_deviation: people.weight_spread,
            load: people.load(),
            spacing_millis: self.spacing.unwrap_or(default.spacing_millis),
            seed: self.seed,
        })
    }
}

impl PeopleArgs {
    fn load(&self) -> Load {
        Load {
            pairs: self.pairs,
            threes: self.threes,
            tier_mean: self.tier,
            tier_deviation: self.tier_spread,
            vehicles: self.vehicles as usize,
            maps: self.maps as usize,
            loaded: self.loaded,
            one_mode: self.one_mode,
            mouse: self.mouse,
            single_control: self.single_control,
            newcomers: self.newcomers,
            ..Load::default()
        }
    }
}
