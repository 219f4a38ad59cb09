//! `evenkeel simulate`: plays seasons of synthetic games with the real service, to measure the
//! benefit of choosing teams.
//!
//! At first no player has a weight. Each policy plays the same seasons (the same humans join and
//! leave, with the same random numbers) and learns from its own games. The first half of each
//! season is for learning; the second half is measured.

use std::{
    io::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use clap::{Args, value_parser};
use tempfile::TempDir;
use tokio::{sync::Semaphore, task::JoinSet};

use super::{CliError, load_config, progress::Progress};
use crate::{
    config::Config,
    domain::{Ident, Kind, LeaveReason, PlayerKey, Timestamp},
    service::Service,
    session::HandClock,
    store,
};

mod play;
mod policy;
mod report;
mod world;

use play::{GameOutcome, SimServer};
use policy::Policy;
use report::{LearnedWeights, PolicyReport, SeasonFigures};
use world::{GamePlan, TrueStrengths, WorldSettings};

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
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Read the configuration from FILE; without it, every key has its default
    #[arg(long, value_name = "FILE", env = "EVENKEEL_CONFIG")]
    config: Option<std::path::PathBuf>,
}

/// Options for the synthetic players and games.
#[derive(Debug, Args)]
struct WorldArgs {
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
    /// The exponent of the ratio of strengths that gives the odds of a goal
    #[arg(long, value_name = "POWER", default_value_t = 2.0, value_parser = amount)]
    sharpness: f64,
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

fn up_to_a_half(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| "no number".to_owned())?;
    let fine = (0.0..=0.5).contains(&share);
    fine.then_some(share)
        .ok_or_else(|| "must be 0 to 0.5".to_owned())
}

fn share(text: &str) -> Result<f64, String> {
    let share: f64 = text.parse().map_err(|_| "no number".to_owned())?;
    let fine = (0.0..=1.0).contains(&share);
    fine.then_some(share)
        .ok_or_else(|| "must be 0 to 1".to_owned())
}

fn reason(text: &str) -> Result<LeaveReason, String> {
    LeaveReason::parse(text).ok_or_else(|| {
        let words = LeaveReason::ALL.map(LeaveReason::as_str);
        format!("must be one of {}", words.join(", "))
    })
}

fn amount(text: &str) -> Result<f64, String> {
    let amount: f64 = text.parse().map_err(|_| "no number".to_owned())?;
    let fine = (0.0..=1_000.0).contains(&amount);
    fine.then_some(amount)
        .ok_or_else(|| "must be 0 to 1000".to_owned())
}

impl WorldArgs {
    fn settings(&self) -> WorldSettings {
        WorldSettings {
            players: self.players as usize,
            bots: self.bots as usize,
            present: self.present.min(self.players) as usize,
            min_players: self.bots as u32,
            spread: self.spread,
            form: self.form,
            sharpness: self.sharpness,
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

pub(super) async fn run(args: SimulateArgs) -> Result<(), CliError> {
    let config = load_config(args.config.as_ref())?;
    let settings = Arc::new(args.world.settings());
    let mut policies = args.policies.clone();
    if policies.is_empty() {
        policies = Policy::ALL.to_vec();
    }
    let total = policies.len() as u64 * args.seasons * args.games;
    let mut progress = Progress::new(total, "{wide_bar} {pos}/{len} games, {eta} to go");
    let done = Arc::new(AtomicU64::new(0));
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let cores = Arc::new(Semaphore::new(cores));
    let mut tasks = JoinSet::new();
    for season in 0..args.seasons {
        for (index, &policy) in policies.iter().enumerate() {
            let run = SeasonRun {
                policy,
                season,
                seed: args.seed,
                games: args.games,
                config: policy.configure(&config, settings.bots),
                quit_reason: args.quit_reason,
                settings: settings.clone(),
                done: done.clone(),
            };
            let cores = cores.clone();
            tasks.spawn(async move {
                let _core = cores.acquire_owned().await;
                (index, run.play().await)
            });
        }
    }
    let mut seasons: Vec<Vec<SeasonFigures>> = vec![Vec::new(); policies.len()];
    let mut tick = tokio::time::interval(Duration::from_millis(200));
    loop {
        tokio::select! {
            _ = tick.tick() => progress.set(done.load(Ordering::Relaxed)),
            joined = tasks.join_next() => match joined {
                None => break,
                Some(joined) => {
                    let (index, season) = joined?;
                    seasons[index].push(season?);
                }
            },
        }
    }
    progress.done();
    seasons.iter_mut().for_each(|s| s.sort_by_key(|s| s.number));
    let system = config.rating.rating.system.as_str();
    let report = PolicyReport::new(
        system, args.seed, args.games, &settings, &policies, &seasons,
    );
    let mut out = io::stdout().lock();
    if args.json {
        serde_json::to_writer_pretty(&mut out, &report)?;
        writeln!(out)?;
    } else {
        report.write(&mut out)?;
    }
    Ok(())
}

/// One season with one policy.
struct SeasonRun {
    policy: Policy,
    season: u64,
    seed: u64,
    games: u64,
    config: Config,
    settings: Arc<WorldSettings>,
    quit_reason: LeaveReason,
    done: Arc<AtomicU64>,
}

/// 2026-01-01, when all seasons begin.
const BEGIN: Timestamp = Timestamp(1_767_225_600_000);

impl SeasonRun {
    async fn play(self) -> Result<SeasonFigures, CliError> {
        let folder = TempDir::with_prefix("evenkeel-")?;
        let database = folder.path().join("season.db");
        let store = store::open(&database, true, Duration::from_secs(5)).await?;
        let clock = Arc::new(HandClock::new(BEGIN));
        let mut settings = self.config.service();
        // The database is deleted after the season.
        settings.session.keep_decisions = 0;
        let service = Service::open_with_clock(store, settings, clock.clone())?;
        let service = Arc::new(service);
        let people = TrueStrengths::draw(&self.settings, self.seed, self.season);
        if self.policy == Policy::Known {
            pin_true_weights(&service, &people).await?;
        }
        service.learning().refresh().await?;
        let mut session = service.open_session();
        let mut outcomes = Vec::new();
        for game in 0..self.games {
            let plan = GamePlan::draw(&self.settings, self.seed, self.season, game);
            let mut server = SimServer {
                session: &mut session,
                clock: &clock,
                policy: self.policy,
                settings: &self.settings,
                people: &people,
                quit_reason: self.quit_reason,
            };
            outcomes.push(server.play(&plan).await?);
            service.learning().refresh().await?;
            self.done.fetch_add(1, Ordering::Relaxed);
        }
        let names: Vec<Ident> = (0..people.humans.len()).map(play::human).collect();
        let humans = known(&service, Kind::Human, &names).await?;
        let names: Vec<Ident> = (0..people.bots.len()).map(play::bot).collect();
        let bots = known(&service, Kind::Bot, &names).await?;
        service.close().await;
        let measured: Vec<GameOutcome> = outcomes.split_off(outcomes.len() / 2);
        let learned = LearnedWeights {
            humans: &humans,
            bots: &bots,
            truth: &people,
            quitters: self.settings.quitters,
            farmers: self.settings.farmers,
        };
        Ok(SeasonFigures::of(self.season, &measured, &learned))
    }
}

/// Pins each player's weight to their true strength, scaled so that the strongest player has 100.
async fn pin_true_weights(service: &Service, people: &TrueStrengths) -> Result<(), CliError> {
    let all = people.humans.iter().chain(&people.bots);
    let most = all.copied().fold(f64::NEG_INFINITY, f64::max);
    let humans = people.humans.iter().enumerate();
    let humans = humans.map(|(index, strength)| (Kind::Human, play::human(index), strength));
    let bots = people.bots.iter().enumerate();
    let bots = bots.map(|(index, strength)| (Kind::Bot, play::bot(index), strength));
    for (kind, name, strength) in humans.chain(bots) {
        let id = name.text().to_owned();
        let weight = 100.0 * libm::exp(strength - most);
        let who = PlayerKey { kind, id };
        service.store().pin_weight(&who, Some(weight)).await?;
    }
    Ok(())
}

/// Index and weight of each player who has enough games.
async fn known(
    service: &Service,
    kind: Kind,
    names: &[Ident],
) -> Result<Vec<(usize, f64)>, CliError> {
    const ENOUGH: u32 = 5;
    let mut weights = Vec::new();
    for ruleset in service.store().rulesets().await? {
        for row in service.store().weights(&ruleset, kind).await? {
            let who = names.iter().position(|name| name.text() == row.key.id);
            if let (Some(who), true) = (who, row.games >= ENOUGH) {
                weights.push((who, row.weight));
            }
        }
    }
    Ok(weights)
}
