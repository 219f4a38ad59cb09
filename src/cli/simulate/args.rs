//! The options of `evenkeel simulate`.

use clap::{Args, value_parser};

use crate::{
    cli::{SettingsArgs, between},
    model::LeaveReason,
    simulate::{Policy, World, WorldSettings},
};

/// Play seasons of synthetic games with the real service, and compare ways to choose teams
///
/// The players' true strengths are known, so it can measure how even the games really were and how
/// accurate the learned weights are. Each policy plays the same seasons and learns from its own
/// games. The second half of each season is measured.
#[derive(Debug, Args)]
pub(in crate::cli) struct SimulateArgs {
    /// Number of seasons, from which the confidence intervals are computed
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = value_parser!(u64).range(1..=1_000))]
    pub(super) seasons: u64,
    /// Number of games in a season
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = value_parser!(u64).range(2..=100_000))]
    pub(super) games: u64,
    /// Simulate only this policy; may be repeated
    #[arg(long = "policy", value_name = "POLICY")]
    pub(super) policies: Vec<Policy>,
    /// The seed of all random numbers
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub(super) seed: u64,
    #[command(flatten)]
    pub(super) world: WorldArgs,
    /// The reason that LEAVE states for quitters; only with `left` does the rest of the game count
    /// for them
    #[arg(long, value_name = "REASON", default_value = "left", value_parser = reason, requires = "quitters")]
    pub(super) quit_reason: LeaveReason,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) settings: SettingsArgs,
}

/// Options for the synthetic players and games.
#[derive(Debug, Args)]
pub(super) struct WorldArgs {
    /// How the players' strengths decide who scores the next goal
    #[arg(long, value_enum, value_name = "WORLD", default_value_t)]
    world: World,
    /// Number of humans in a season
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = value_parser!(u64).range(4..=1_000))]
    players: u64,
    /// Number of humans in a game, on average
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = value_parser!(u64).range(2..=64))]
    present: u64,
    /// Number of bots that exist; they fill up a game to this many players
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = value_parser!(u64).range(0..=32))]
    bots: u64,
    /// Standard deviation of ln strength between humans
    #[arg(long, value_name = "SD", default_value_t = 0.5, value_parser = amount)]
    spread: f64,
    /// Standard deviation of ln strength of one human from game to game
    #[arg(long, value_name = "SD", default_value_t = 0.2, value_parser = amount)]
    form: f64,
    /// How much strengths decide: the exponent of their ratio in the world `ratio` (default 2), the log
    /// odds of a goal per unit of ln strength in the world `logistic` (default 0.42)
    #[arg(long, value_name = "SHARPNESS", value_parser = amount)]
    sharpness: Option<f64>,
    /// Length of a game in minutes
    #[arg(long, value_name = "MINUTES", default_value_t = 20.0, value_parser = amount)]
    minutes: f64,
    /// Goals of both teams together per minute
    #[arg(long, value_name = "N", default_value_t = 0.5, value_parser = amount)]
    goals: f64,
    /// Deaths of one player per minute
    #[arg(long, value_name = "N", default_value_t = 1.5, value_parser = amount)]
    deaths: f64,
    /// How long a human stays, in minutes, on average
    #[arg(long, value_name = "MINUTES", default_value_t = 30.0, value_parser = amount)]
    stay: f64,
    /// Share of the humans who leave a game as soon as their team is behind, at most a half; each is as
    /// strong as one who stays
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = up_to_a_half)]
    quitters: f64,
    /// By how many goals a team must be behind for its quitters to leave; with a number that no
    /// team reaches, the same seasons are played without quitters
    #[arg(long, value_name = "GOALS", default_value_t = 2.0, value_parser = amount, requires = "quitters")]
    quit_behind: f64,
    /// Share of the humans who farm points, at most a half: they make more points of their own than
    /// their strength earns. Each is as strong as one who plays for the team
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = up_to_a_half, conflicts_with = "quitters")]
    farmers: f64,
    /// How many times the points that their strength earns farmers make; with 1, the same seasons are
    /// played without farmers
    #[arg(long, value_name = "FACTOR", default_value_t = 3.0, value_parser = amount, requires = "farmers")]
    farm_factor: f64,
    /// The share of a farmer's strength that the team lacks because of the farming
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share, requires = "farmers")]
    farm_cost: f64,
}

impl WorldArgs {
    pub(super) fn settings(&self) -> WorldSettings {
        WorldSettings {
            kind: self.world,
            players: self.players as usize,
            bots: self.bots as usize,
            present: self.present.min(self.players) as usize,
            min_players: self.bots as u32,
            spread: self.spread,
            form: self.form,
            sharpness: (self.sharpness).unwrap_or_else(|| self.world.usual_sharpness()),
            minutes: self.minutes.clamp(0.1, 1_000.0),
            goals: self.goals,
            deaths: self.deaths,
            stay: self.stay.max(0.1),
            quitters: (self.quitters * self.players as f64) as usize,
            quit_behind: self.quit_behind,
            farmers: (self.farmers * self.players as f64) as usize,
            farm_factor: self.farm_factor,
            farm_cost: self.farm_cost,
        }
    }
}

fn up_to_a_half(text: &str) -> Result<f64, String> {
    between(text, 0.0, 0.5)
}

fn share(text: &str) -> Result<f64, String> {
    between(text, 0.0, 1.0)
}

fn amount(text: &str) -> Result<f64, String> {
    between(text, 0.0, 1_000.0)
}

fn reason(text: &str) -> Result<LeaveReason, String> {
    LeaveReason::parse(text).ok_or_else(|| {
        let words = LeaveReason::ALL.map(LeaveReason::as_str);
        format!("must be one of {}", words.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Alone {
        #[command(flatten)]
        world: WorldArgs,
    }

    #[test]
    fn without_options_the_world_is_the_usual_one() {
        let alone = Alone::parse_from(["simulate"]);
        assert_eq!(alone.world.settings(), WorldSettings::default());
    }
}
