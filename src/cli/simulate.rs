//! `evenkeel simulate`: seasons of synthetic games, and what each way to choose teams made of them.
//!
//! The tables of the figures of each policy.

use std::io::{self, Write};

use clap::{Args, value_parser};

use super::{
    CliError, SettingsArgs, between, experiment, print_json,
    table::{ProgressLine, Table, or_dash},
};
use crate::{
    model::record::LeaveReason,
    simulate::{Estimate, Policy, PolicyLine, PolicyReport, SeasonPlan, World, WorldSettings},
};

pub(super) async fn run(args: SimulateArgs) -> Result<(), CliError> {
    if args.experiment {
        let seasons = u32::try_from(args.seasons).unwrap_or(u32::MAX);
        return experiment::simulate(seasons, args.seed, args.json);
    }
    let config = args.settings.load()?;
    let mut policies = args.policies.clone();
    if policies.is_empty() {
        policies = Policy::ALL.to_vec();
    }
    let plan = SeasonPlan {
        policies,
        seasons: args.seasons,
        games: args.games,
        seed: args.seed,
        world: args.world.settings(),
        quit_reason: args.quit_reason,
    };
    let mut progress = ProgressLine::new(plan.total(), "{wide_bar} {pos}/{len} games, {eta} to go");
    let seasons = plan.play(&config, |done| progress.set(done)).await?;
    progress.done();
    let system = config.rating.rating.system.as_str();
    let report = PolicyReport::new(system, &plan, &seasons);
    if args.json {
        print_json(&report)?;
    } else {
        print(&mut io::stdout().lock(), &report)?;
    }
    Ok(())
}

/// Play seasons of synthetic games with the real service, and compare ways to choose teams
///
/// The players' true strengths are known, so it can measure how even the games really were and how
/// accurate the learned weights are. Each policy plays the same seasons and learns from its own
/// games. The second half of each season is measured.
#[derive(Debug, Args)]
pub(super) struct SimulateArgs {
    /// Number of seasons, from which the confidence intervals are computed
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = value_parser!(u64).range(1..=1_000))]
    seasons: u64,
    /// Number of games in a season
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = value_parser!(u64).range(2..=100_000))]
    games: u64,
    /// Simulate only this policy; may be repeated
    #[arg(long = "policy", value_name = "POLICY")]
    policies: Vec<Policy>,
    /// The seed of all random numbers
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    world: WorldArgs,
    /// The reason that LEAVE states for quitters; only with `left` does the rest of the game count
    /// for them
    #[arg(long, value_name = "REASON", default_value = "left", value_parser = reason, requires = "quitters")]
    quit_reason: LeaveReason,
    /// Play seasons of experiments instead: how often one gives a false alarm, and after how many matches it ends
    #[arg(long, conflicts_with_all = ["policies", "games", "quit_reason"])]
    experiment: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    settings: SettingsArgs,
}

/// Options for the synthetic players and games.
#[derive(Debug, Args)]
struct WorldArgs {
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
    fn settings(&self) -> WorldSettings {
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

/// Writes the report as tables.
fn print(out: &mut impl Write, report: &PolicyReport<'_>) -> io::Result<()> {
    let count = report.seasons.first().map_or(0, Vec::len);
    writeln!(
        out,
        "{count} seasons of {} games each in the world {}, seed {}, rating system {}; measured: the second half of each season, with 95 % intervals over seasons",
        report.games,
        report.world.kind.name(),
        report.seed,
        report.rating_system
    )?;
    let even = Table::of(&report.policies)
        .text("policy", |line| line.policy.name())
        .num("score difference", |line| shown(&line.difference, 2))
        .num("less the first's", |line| {
            shown(&line.difference_to_first, 2)
        })
        .num("shutouts", |line| shown(&line.shutouts, 3))
        .num("within one goal", |line| shown(&line.close, 3))
        .num("stronger team's chance of a goal", |line| {
            shown(&line.favourite, 3)
        })
        .num("log loss, coin 0.693", |line| shown(&line.log_loss, 3));
    writeln!(out, "{even}")?;
    let learned = Table::of(&report.policies)
        .text("policy", |line| line.policy.name())
        .num("Spearman, humans", |line| shown(&line.spearman_humans, 3))
        .num("Spearman, bots", |line| shown(&line.spearman_bots, 3))
        .num("moves per player and hour", |line| {
            shown(&line.moves_per_player_hour, 2)
        });
    writeln!(out, "{learned}")?;
    print_twins(out, report)
}

/// Writes the weights of quitters or farmers beside those of equally strong humans who are not.
/// Without either, writes nothing.
fn print_twins(out: &mut impl Write, report: &PolicyReport<'_>) -> io::Result<()> {
    let [first, others] = match (report.world.quitters, report.world.farmers) {
        (0, 0) => return Ok(()),
        (_, 0) => ["weight of quitters", "of those as strong who stay"],
        _ => [
            "weight of farmers",
            "of those as strong who play for the team",
        ],
    };
    let figures = |line: &PolicyLine| match report.world.farmers {
        0 => [line.quitters, line.stayers, line.quitters_less_stayers],
        _ => [
            line.farmers,
            line.team_players,
            line.farmers_less_team_players,
        ],
    };
    let weights = Table::of(&report.policies)
        .text("policy", |line| line.policy.name())
        .num(first, |line| shown(&figures(line)[0], 2))
        .num(others, |line| shown(&figures(line)[1], 2))
        .num("difference", |line| shown(&figures(line)[2], 2))
        .num("of all humans", |line| shown(&line.all_humans, 2));
    writeln!(out, "{weights}")
}

/// An estimate, to this number of decimal places.
fn shown(estimate: &Option<Estimate>, places: usize) -> String {
    or_dash(estimate.map(|estimate| estimate.show(places)))
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
