//! Seasons of synthetic games, played with the real service, to measure the benefit of choosing teams.
//!
//! At first no player has a weight. Each policy plays the same seasons (the same humans join and
//! leave, with the same random numbers) and learns from its own games. The first half of each
//! season is for learning; the second half is measured.
//!
//! `world` draws the players and what happens, and has the law of who scores; `policy` chooses the teams, also with all
//! strengths known; `play` plays one game on a simulated server. The figures of each
//! policy, with confidence intervals over its seasons, are here.

mod play;
mod policy;
mod world;

pub(crate) use policy::Policy;
pub(crate) use world::{World, WorldSettings};

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde::Serialize;
use tempfile::TempDir;
use tokio::{sync::Semaphore, task::JoinSet};

use crate::{
    config::Config,
    model::{Kind, Timestamp, ident::Ident, record::LeaveReason},
    server::{Service, ServiceError},
    session::HandClock,
    simulate::{
        SimulateError,
        season::{
            play::{GameOutcome, SimServer},
            policy::KnownLobby,
            world::{GamePlan, TrueStrengths},
        },
    },
    store,
};

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

/// The figures of the measured half of one season. Shares are 0 to 1.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct SeasonFigures {
    pub(crate) number: u64,
    /// Mean difference of the final scores.
    pub(crate) difference: f64,
    /// Share of games in which one team scored nothing and lost by 3 or more.
    pub(crate) shutouts: f64,
    /// Share of games decided by at most one goal.
    pub(crate) close: f64,
    /// The stronger team's true chance to score the next goal, as the mean over play time.
    pub(crate) favourite: f64,
    /// The log loss of predictions from the true strengths at the start; that of a coin is ln 2.
    pub(crate) log_loss: f64,
    /// Spearman's correlation of weights and true strengths after the season.
    pub(crate) humans: Option<f64>,
    pub(crate) bots: Option<f64>,
    /// Number of humans moved during play, per hour of one human's play.
    pub(crate) moves: f64,
    /// Mean weight, after the season, of the humans who leave when their team is behind; then of
    /// equally strong ones who stay.
    pub(crate) quitters: Option<f64>,
    pub(crate) stayers: Option<f64>,
    /// Mean weight, after the season, of the humans who farm points; then of equally strong ones who
    /// play for their team.
    pub(crate) farmers: Option<f64>,
    pub(crate) team_players: Option<f64>,
    /// Mean weight of all humans after the season.
    pub(crate) all: Option<f64>,
}

/// The weights that a season's games have given its players.
struct LearnedWeights<'a> {
    /// Index and weight of the humans, and of the bots, with enough games.
    humans: &'a [(usize, f64)],
    bots: &'a [(usize, f64)],
    truth: &'a TrueStrengths,
    /// The number of quitters, who are the first humans. The same number of humans after them are
    /// equally strong and stay.
    quitters: usize,
    /// The number of farmers, likewise; those after them play for their team.
    farmers: usize,
}

impl LearnedWeights<'_> {
    /// The mean weight of the humans with these indices.
    fn mean(&self, of: std::ops::Range<usize>) -> Option<f64> {
        let among = self.humans.iter().filter(|(who, _)| of.contains(who));
        let weights: Vec<f64> = among.map(|(_, weight)| *weight).collect();
        let sum: f64 = weights.iter().sum();
        (!weights.is_empty()).then(|| sum / weights.len() as f64)
    }
}

impl SeasonFigures {
    fn of(number: u64, games: &[GameOutcome], learned: &LearnedWeights<'_>) -> Self {
        let pairs = |weights: &[(usize, f64)], truth: &[f64]| -> Vec<(f64, f64)> {
            let pairs = weights.iter().map(|&(who, weight)| (weight, truth[who]));
            pairs.collect()
        };
        let LearnedWeights {
            truth,
            quitters,
            farmers,
            ..
        } = *learned;
        let mean = |of: &dyn Fn(&GameOutcome) -> f64| {
            games.iter().map(of).sum::<f64>() / games.len().max(1) as f64
        };
        let difference = |game: &GameOutcome| (game.scores[0] - game.scores[1]).abs();
        let shutout = |game: &GameOutcome| {
            let least = game.scores[0].min(game.scores[1]);
            least == 0.0 && difference(game) >= 3.0
        };
        let entropy = |p: f64| if p > 0.0 { -p * libm::log(p) } else { 0.0 };
        let hours = games.iter().map(|game| game.played).sum::<u64>() as f64 / 3_600_000.0;
        let moves = games.iter().map(|game| game.moves).sum::<usize>() as f64;
        Self {
            number,
            difference: mean(&difference),
            shutouts: mean(&|game| f64::from(shutout(game))),
            close: mean(&|game| f64::from(difference(game) <= 1.0)),
            favourite: mean(&|game| game.favourite),
            log_loss: mean(&|game| entropy(game.chance) + entropy(1.0 - game.chance)),
            humans: spearman(&pairs(learned.humans, &truth.humans)),
            bots: spearman(&pairs(learned.bots, &truth.bots)),
            moves: if hours > 0.0 { moves / hours } else { 0.0 },
            quitters: learned.mean(0..quitters),
            stayers: learned.mean(quitters..2 * quitters),
            farmers: learned.mean(0..farmers),
            team_players: learned.mean(farmers..2 * farmers),
            all: learned.mean(0..usize::MAX),
        }
    }
}

/// A mean over seasons, with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Estimate {
    mean: f64,
    /// Half the width of the interval; `None` with a single season.
    interval: Option<f64>,
}

impl Estimate {
    /// Computes the interval by Student's t (1908).
    fn of(values: &[f64]) -> Option<Self> {
        let count = values.len();
        let mean = values.iter().sum::<f64>() / count as f64;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let interval = (count > 1).then(|| {
            let error = (squares / (count - 1) as f64 / count as f64).sqrt();
            student(count - 1) * error
        });
        (count > 0).then_some(Self { mean, interval })
    }

    /// The mean and its interval, to this number of decimal places.
    pub(crate) fn show(self, places: usize) -> String {
        let mean = self.mean;
        match self.interval {
            Some(interval) => format!("{mean:.places$} ± {interval:.places$}"),
            None => format!("{mean:.places$}"),
        }
    }
}

/// The figures of one policy, for the report.
#[derive(Debug, Serialize)]
pub(crate) struct PolicyLine {
    pub(crate) policy: Policy,
    pub(crate) difference: Option<Estimate>,
    pub(crate) shutouts: Option<Estimate>,
    pub(crate) close: Option<Estimate>,
    pub(crate) favourite: Option<Estimate>,
    pub(crate) log_loss: Option<Estimate>,
    pub(crate) spearman_humans: Option<Estimate>,
    pub(crate) spearman_bots: Option<Estimate>,
    pub(crate) moves_per_player_hour: Option<Estimate>,
    /// Mean weight of the quitters; then of equally strong humans who stay, and the difference of the
    /// two season by season.
    pub(crate) quitters: Option<Estimate>,
    pub(crate) stayers: Option<Estimate>,
    pub(crate) quitters_less_stayers: Option<Estimate>,
    /// The same for farmers and equally strong humans who play for their team.
    pub(crate) farmers: Option<Estimate>,
    pub(crate) team_players: Option<Estimate>,
    pub(crate) farmers_less_team_players: Option<Estimate>,
    /// Mean weight of all humans.
    pub(crate) all_humans: Option<Estimate>,
    /// The difference of scores minus that of the first policy, season by season.
    pub(crate) difference_to_first: Option<Estimate>,
}

/// The whole report, for `--json`.
#[derive(Debug, Serialize)]
pub(crate) struct PolicyReport<'a> {
    pub(crate) rating_system: &'a str,
    pub(crate) seed: u64,
    pub(crate) games: u64,
    pub(crate) world: &'a WorldSettings,
    pub(crate) policies: Vec<PolicyLine>,
    pub(crate) seasons: &'a [Vec<SeasonFigures>],
}

impl<'a> PolicyReport<'a> {
    /// The report of the seasons of a plan.
    pub(crate) fn new(
        rating_system: &'a str,
        plan: &'a SeasonPlan,
        seasons: &'a [Vec<SeasonFigures>],
    ) -> Self {
        let line = |(&policy, own): (&Policy, &Vec<SeasonFigures>)| {
            let estimate = |of: &dyn Fn(&SeasonFigures) -> Option<f64>| {
                Estimate::of(&own.iter().filter_map(of).collect::<Vec<_>>())
            };
            let first = seasons.first().into_iter().flatten();
            let gaps = own.iter().zip(first);
            let gaps: Vec<f64> = gaps.map(|(a, b)| a.difference - b.difference).collect();
            PolicyLine {
                policy,
                difference: estimate(&|s| Some(s.difference)),
                shutouts: estimate(&|s| Some(s.shutouts)),
                close: estimate(&|s| Some(s.close)),
                favourite: estimate(&|s| Some(s.favourite)),
                log_loss: estimate(&|s| Some(s.log_loss)),
                spearman_humans: estimate(&|s| s.humans),
                spearman_bots: estimate(&|s| s.bots),
                moves_per_player_hour: estimate(&|s| Some(s.moves)),
                quitters: estimate(&|s| s.quitters),
                stayers: estimate(&|s| s.stayers),
                quitters_less_stayers: estimate(&|s| Some(s.quitters? - s.stayers?)),
                farmers: estimate(&|s| s.farmers),
                team_players: estimate(&|s| s.team_players),
                farmers_less_team_players: estimate(&|s| Some(s.farmers? - s.team_players?)),
                all_humans: estimate(&|s| s.all),
                difference_to_first: Estimate::of(&gaps),
            }
        };
        Self {
            rating_system,
            seed: plan.seed,
            games: plan.games,
            world: &plan.world,
            policies: plan.policies.iter().zip(seasons).map(line).collect(),
            seasons,
        }
    }
}

/// The 97.5 % quantile of Student's t, by degrees of freedom, 1 or more.
fn student(freedom: usize) -> f64 {
    const QUANTILES: [f64; 30] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
        2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
        2.052, 2.048, 2.045, 2.042,
    ];
    let beyond = 2.042; // slightly too wide above 30
    let quantile = QUANTILES.get(freedom.saturating_sub(1));
    quantile.copied().unwrap_or(beyond)
}

/// Spearman's rank correlation, which is Pearson's of the ranks. `None` without two different
/// ranks.
fn spearman(pairs: &[(f64, f64)]) -> Option<f64> {
    let a = ranks(pairs.iter().map(|pair| pair.0).collect());
    let b = ranks(pairs.iter().map(|pair| pair.1).collect());
    let middle = (pairs.len() as f64 - 1.0) / 2.0;
    let product = |x: &[f64], y: &[f64]| -> f64 {
        let pairs = x.iter().zip(y);
        pairs.map(|(x, y)| (x - middle) * (y - middle)).sum()
    };
    let scale = (product(&a, &a) * product(&b, &b)).sqrt();
    (scale > 0.0).then(|| product(&a, &b) / scale)
}

/// Ranks from 0; equal values share the mean of their ranks.
fn ranks(values: Vec<f64>) -> Vec<f64> {
    let rank = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count();
        let equal = values.iter().filter(|other| *other == value).count();
        below as f64 + (equal as f64 - 1.0) / 2.0
    };
    values.iter().map(rank).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spearman_by_hand() {
        let of = |a: &[f64], b: &[f64]| {
            let pairs: Vec<(f64, f64)> = a.iter().copied().zip(b.iter().copied()).collect();
            spearman(&pairs)
        };
        assert_eq!(of(&[1.0, 2.0, 3.0], &[10.0, 20.0, 30.0]), Some(1.0));
        assert_eq!(of(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), Some(-1.0));
        let some = of(&[1.0, 2.0, 3.0, 4.0], &[1.0, 3.0, 2.0, 4.0]);
        assert!(some.is_some_and(|s| (s - 0.8).abs() < 1e-12));
        assert_eq!(of(&[1.0, 1.0], &[1.0, 2.0]), None);
        assert_eq!(of(&[], &[]), None);
    }

    #[test]
    fn an_interval_by_hand() {
        // Mean 3, standard error 1 / √3 · √3 = 1: a standard deviation of √3 over three values.
        let estimate = Estimate::of(&[3.0 - 1.5, 3.0, 3.0 + 1.5]).unwrap();
        let error = 1.5 / 3.0_f64.sqrt();
        assert!((estimate.mean - 3.0).abs() < 1e-12);
        assert!((estimate.interval.unwrap() - 4.303 * error).abs() < 1e-9);
        assert!(Estimate::of(&[1.0]).unwrap().interval.is_none());
        assert!(Estimate::of(&[]).is_none());
    }
}
