//! Seasons of synthetic games, played with the real service, to measure the benefit of choosing teams.
//!
//! At first no player has a weight. Each policy plays the same seasons (the same humans join and
//! leave, with the same random numbers) and learns from its own games. The first half of each
//! season is for learning; the second half is measured.
//!
//! `world` draws the players and what happens, and has the law of who scores; `policy` chooses the teams, also with all
//! strengths known; `play` plays one game on a simulated server; `report` has the figures.

mod play;
mod policy;
mod report;
mod world;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tempfile::TempDir;
use tokio::{sync::Semaphore, task::JoinSet};

use super::SimulateError;
use crate::{
    config::Config,
    model::{Kind, Timestamp, ident::Ident, record::LeaveReason},
    server::{Service, ServiceError},
    session::HandClock,
    store,
};
use play::{GameOutcome, SimServer};
use policy::KnownLobby;
pub(crate) use policy::Policy;
use report::LearnedWeights;
pub(crate) use report::{Estimate, PolicyLine, PolicyReport, SeasonFigures};
use world::{GamePlan, TrueStrengths};
pub(crate) use world::{World, WorldSettings};

/// Which seasons to play.
#[derive(Clone, Debug)]
pub(crate) struct SeasonPlan {
    /// The ways to choose teams that are compared.
    pub(crate) policies: Vec<Policy>,
    /// Number of seasons.
    pub(crate) seasons: u64,
    /// Number of games in a season.
    pub(crate) games: u64,
    /// The seed of all random numbers.
    pub(crate) seed: u64,
    /// The players and games.
    pub(crate) world: WorldSettings,
    /// The reason that LEAVE states for humans who leave because their team is behind.
    pub(crate) quit_reason: LeaveReason,
}

impl SeasonPlan {
    /// Number of games of all seasons and policies.
    pub(crate) fn total(&self) -> u64 {
        self.policies.len() as u64 * self.seasons * self.games
    }

    /// Plays the seasons. `progress` is passed the number of games that have been played, several times a second.
    /// Returns the figures by policy, and by season within each.
    ///
    /// # Errors
    /// Fails if a database of a season does, or a session.
    pub(crate) async fn play(
        &self,
        config: &Config,
        mut progress: impl FnMut(u64),
    ) -> Result<Vec<Vec<SeasonFigures>>, SimulateError> {
        let settings = Arc::new(self.world.clone());
        let done = Arc::new(AtomicU64::new(0));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let cores = Arc::new(Semaphore::new(cores));
        let mut tasks = JoinSet::new();
        for season in 0..self.seasons {
            for (index, &policy) in self.policies.iter().enumerate() {
                let run = SeasonRun {
                    policy,
                    season,
                    seed: self.seed,
                    games: self.games,
                    config: policy.configure(config, settings.kind, settings.bots),
                    quit_reason: self.quit_reason,
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
        let mut seasons: Vec<Vec<SeasonFigures>> = vec![Vec::new(); self.policies.len()];
        let mut tick = tokio::time::interval(Duration::from_millis(200));
        loop {
            tokio::select! {
                _ = tick.tick() => progress(done.load(Ordering::Relaxed)),
                joined = tasks.join_next() => match joined {
                    None => break,
                    Some(joined) => {
                        let (index, season) = joined?;
                        seasons[index].push(season?);
                    }
                },
            }
        }
        seasons.iter_mut().for_each(|s| s.sort_by_key(|s| s.number));
        Ok(seasons)
    }
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
    async fn play(self) -> Result<SeasonFigures, SimulateError> {
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
        learn(&service).await?;
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
            learn(&service).await?;
            self.done.fetch_add(1, Ordering::Relaxed);
        }
        let names: Vec<Ident> = (0..people.humans.len()).map(world::human).collect();
        let humans = learned(&service, Kind::Human, &names).await?;
        let names: Vec<Ident> = (0..people.bots.len()).map(world::bot).collect();
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

/// Learns from what was stored.
async fn learn(service: &Service) -> Result<(), ServiceError> {
    service.learning().refresh().await?;
    Ok(())
}

/// Index and weight of each player who has enough games.
async fn learned(
    service: &Service,
    kind: Kind,
    names: &[Ident],
) -> Result<Vec<(usize, f64)>, SimulateError> {
    const ENOUGH: u32 = 5;
    let mut weights = Vec::new();
    for ruleset in service.store().learned().rulesets().await? {
        for row in service.store().learned().weights(&ruleset, kind).await? {
            let who = names.iter().position(|name| name.text() == row.key.id);
            if let (Some(who), true) = (who, row.games >= ENOUGH) {
                weights.push((who, row.weight));
            }
        }
    }
    Ok(weights)
}
