//! `evenkeel simulate`: plays seasons of synthetic games with the real service, to measure the
//! benefit of choosing teams.
//!
//! At first no player has a weight. Each policy plays the same seasons (the same humans join and
//! leave, with the same random numbers) and learns from its own games. The first half of each
//! season is for learning; the second half is measured.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tempfile::TempDir;
use tokio::{sync::Semaphore, task::JoinSet};

use super::{CliError, print_json, progress::Progress};
use crate::{
    config::Config,
    domain::{Ident, Kind, LeaveReason, Timestamp},
    service::Service,
    session::HandClock,
    store,
};

mod args;
mod known;
mod odds;
mod play;
mod policy;
mod report;
mod world;

pub(super) use args::SimulateArgs;

use known::KnownLobby;
use play::{GameOutcome, SimServer};
use policy::Policy;
use report::{LearnedWeights, PolicyReport, SeasonFigures};
use world::{GamePlan, TrueStrengths, WorldSettings};

pub(super) async fn run(args: SimulateArgs) -> Result<(), CliError> {
    let config = args.settings.load()?;
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
                config: policy.configure(&config, settings.kind, settings.bots),
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
        print_json(&report)?;
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
        let mut known = match self.policy {
            Policy::Known => Some(KnownLobby::new(&self.config, &self.settings, &people)?),
            _ => None,
        };
        service.learning().refresh().await?;
        let mut session = service.open_session();
        let mut outcomes = Vec::new();
        for game in 0..self.games {
            let plan = GamePlan::draw(&self.settings, self.seed, self.season, game);
            let mut server = SimServer {
                session: &mut session,
                clock: &clock,
                policy: self.policy,
                known: known.as_mut(),
                settings: &self.settings,
                people: &people,
                quit_reason: self.quit_reason,
            };
            outcomes.push(server.play(&plan).await?);
            service.learning().refresh().await?;
            self.done.fetch_add(1, Ordering::Relaxed);
        }
        let names: Vec<Ident> = (0..people.humans.len()).map(play::human).collect();
        let humans = learned(&service, Kind::Human, &names).await?;
        let names: Vec<Ident> = (0..people.bots.len()).map(play::bot).collect();
        let bots = learned(&service, Kind::Bot, &names).await?;
        service.close().await;
        let measured: Vec<GameOutcome> = outcomes.split_off(outcomes.len() / 2);
        let learned_weights = LearnedWeights {
            humans: &humans,
            bots: &bots,
            truth: &people,
            quitters: self.settings.quitters,
            farmers: self.settings.farmers,
        };
        Ok(SeasonFigures::of(self.season, &measured, &learned_weights))
    }
}

/// Index and weight of each player who has enough games.
async fn learned(
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
