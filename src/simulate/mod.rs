//! Synthetic worlds: seasons of games whose players' strengths are known, and queues in virtual time. They measure
//! what choosing teams, learning and forming matches achieve. The command line has the options, and prints.

#![allow(
    clippy::disallowed_methods,
    reason = "a simulation reports how long its searches take"
)]

mod load;
mod season;
mod virtual_queue;

pub use load::{Load, Shape, VEHICLE_KINDS};
pub(crate) use season::{
    Estimate, Policy, PolicyLine, PolicyReport, SeasonPlan, World, WorldSettings,
};
pub(crate) use virtual_queue::{
    CategoryWaits, MatchQuantiles, SimulationReport, SimulationSettings,
};

use std::{io, sync::atomic::AtomicBool, time::Duration};

use serde::Serialize;

use crate::{
    matchmaking::{Effort, Queue, planner::Cores, queue::RoundSpacing, ticket::TicketError},
    queues::SearchTime,
    server::ServiceError,
    session::SessionError,
    simulate::virtual_queue::Simulation,
    store::StoreError,
};

/// Why a simulation failed.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// The service of a season could not be opened, or has not learned from a game.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// A simulated game was refused.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The database of a season failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no temporary folder for the database of a season.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A task has ended by itself.
    #[error(transparent)]
    Task(#[from] tokio::task::JoinError),
}

/// How the rounds of a simulated queue search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchPlan {
    /// How much each round searches.
    pub(crate) effort: u32,
    /// Number of threads of a search.
    pub(crate) threads: u16,
}

/// What a simulation has found, and what its searches cost.
#[derive(Debug, Serialize)]
pub(crate) struct QueueOutcome {
    #[serde(flatten)]
    pub(crate) report: SimulationReport,
    effort: u32,
    pub(crate) search: SearchCost,
}

impl QueueOutcome {
    /// Simulates a queue, with searches on `cores`. `progress` is passed the virtual time in seconds, after each round.
    ///
    /// # Errors
    /// Fails if the queue refuses a ticket.
    pub(crate) fn of(
        queue: &Queue,
        settings: SimulationSettings,
        plan: SearchPlan,
        cores: impl Cores,
        mut progress: impl FnMut(u64),
    ) -> Result<Self, TicketError> {
        let mut simulation = Simulation::new(queue, settings);
        let effort = Effort::new(plan.effort);
        let spacing = settings.spacing();
        let mut times = Times::default();
        while simulation.next_round()? {
            let (found, time) = SearchTime::of(&cores, |cores| {
                let input = simulation.round(effort);
                input.plan(cores, &AtomicBool::new(false))
            });
            times.add(time);
            simulation.found(&found);
            progress(simulation.now() as u64);
        }
        Ok(Self {
            report: simulation.report(),
            effort: plan.effort,
            search: times.cost(plan.threads, settings.length, spacing),
        })
    }
}

/// The times of all rounds.
#[derive(Debug, Default)]
struct Times {
    rounds: Vec<Duration>,
    total: Duration,
}

/// What the searches cost. These are the only figures that depend on the machine.
#[derive(Debug, Serialize)]
pub(crate) struct SearchCost {
    /// Number of threads.
    threads: u16,
    /// Seconds of processor time that searches used, per second of virtual time.
    pub(crate) cpu_per_second: f64,
    /// The median processor time of a round on the busiest thread, in milliseconds.
    pub(crate) p50: f64,
    /// The time that 99 % of the rounds do not exceed, in milliseconds.
    pub(crate) p99: f64,
    /// The longest time of a round, in milliseconds.
    pub(crate) most: f64,
    /// Rounds that took longer than a third of the time between two rounds: the daemon would begin the
    /// next one later.
    pub(crate) late: usize,
    /// Rounds that took longer than the time between two rounds.
    pub(crate) behind: usize,
}

impl Times {
    /// Adds a round.
    fn add(&mut self, time: SearchTime) {
        self.rounds.push(time.alone);
        self.total += time.total;
    }

    /// The cost over `length` seconds of virtual time.
    fn cost(mut self, threads: u16, length: f64, spacing: RoundSpacing) -> SearchCost {
        self.rounds.sort();
        let at = |share: f64| {
            let rank = (share * self.rounds.len() as f64).ceil() as usize;
            let took = self.rounds.get(rank.max(1) - 1).copied();
            1_000.0 * took.unwrap_or_default().as_secs_f64()
        };
        let above = |limit: Duration| self.rounds.iter().filter(|took| **took > limit).count();
        SearchCost {
            threads,
            cpu_per_second: self.total.as_secs_f64() / length,
            p50: at(0.5),
            p99: at(0.99),
            most: at(1.0),
            late: above(spacing.free_search()),
            behind: above(spacing.least),
        }
    }
}
