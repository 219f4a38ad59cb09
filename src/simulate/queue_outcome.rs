//! A queue in virtual time, with the real planner, and what its searches cost.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::{Duration, Instant},
};

use serde::Serialize;

use super::virtual_queue::{Simulation, SimulationReport, SimulationSettings};
use crate::{
    matchmaking::{Cores, Effort, Queue, TicketError},
    queues::Threads,
};

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
    /// Simulates a queue. `progress` is passed the virtual time in seconds, after each round.
    ///
    /// # Errors
    /// Fails if the queue refuses a ticket.
    pub(crate) fn of(
        queue: &Queue,
        settings: SimulationSettings,
        plan: SearchPlan,
        mut progress: impl FnMut(u64),
    ) -> Result<Self, TicketError> {
        let mut simulation = Simulation::new(queue, settings);
        let cores = MeasuredJobs::new(Threads(plan.threads.into()));
        let effort = Effort::new(plan.effort);
        let allowed = simulation.allowed();
        let mut times = Times::default();
        while simulation.next_round()? {
            let since = Instant::now();
            let input = simulation.round(effort);
            let found = input.plan(&cores, &AtomicBool::new(false));
            times.add(since.elapsed(), &cores);
            simulation.found(&found);
            progress(simulation.now() as u64);
        }
        Ok(Self {
            report: simulation.report(),
            effort: plan.effort,
            search: times.cost(plan.threads, settings.length, allowed),
        })
    }
}

/// Runs jobs on `cores`, and measures how long they take.
struct MeasuredJobs<C> {
    cores: C,
    /// How long jobs ran, and how long the caller waited for them, in nanoseconds.
    jobs: AtomicU64,
    waited: AtomicU64,
}

impl<C: Cores> MeasuredJobs<C> {
    /// Measures the jobs that `cores` runs.
    fn new(cores: C) -> Self {
        Self {
            cores,
            jobs: AtomicU64::new(0),
            waited: AtomicU64::new(0),
        }
    }

    /// The seconds of work of all threads together, for a search that took `took` seconds. Resets the counters.
    fn take(&self, took: f64) -> f64 {
        let take = |nanos: &AtomicU64| nanos.swap(0, Ordering::Relaxed) as f64 / 1e9;
        (took - take(&self.waited) + take(&self.jobs)).max(0.0)
    }
}

fn add(nanos: &AtomicU64, since: Instant) {
    let passed = u64::try_from(since.elapsed().as_nanos()).unwrap_or(u64::MAX);
    nanos.fetch_add(passed, Ordering::Relaxed);
}

impl<C: Cores> Cores for MeasuredJobs<C> {
    fn run(&self, count: usize, job: &(dyn Fn(usize) + Sync)) {
        let began = Instant::now();
        self.cores.run(count, &|at| {
            let since = Instant::now();
            job(at);
            add(&self.jobs, since);
        });
        add(&self.waited, began);
    }
}

/// The times of all rounds.
#[derive(Debug, Default)]
struct Times {
    rounds: Vec<f64>,
    cores: f64,
}

/// What the searches cost. These are the only figures that depend on the machine.
#[derive(Debug, Serialize)]
pub(crate) struct SearchCost {
    /// Number of threads.
    threads: u16,
    /// Seconds that threads spent on searches, per second of virtual time.
    pub(crate) cpu_per_second: f64,
    /// The median time of a round, in milliseconds.
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
    /// Adds a round that took `took` on these cores.
    fn add(&mut self, took: Duration, cores: &MeasuredJobs<impl Cores>) {
        let took = took.as_secs_f64();
        self.rounds.push(took);
        self.cores += cores.take(took);
    }

    /// The cost over `length` seconds of virtual time, where a round is late after `allowed` seconds
    /// and behind after three times that.
    fn cost(mut self, threads: u16, length: f64, allowed: f64) -> SearchCost {
        self.rounds.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let rank = (share * self.rounds.len() as f64).ceil() as usize;
            1_000.0 * self.rounds.get(rank.max(1) - 1).copied().unwrap_or(0.0)
        };
        let above = |limit: f64| self.rounds.iter().filter(|took| **took > limit).count();
        SearchCost {
            threads,
            cpu_per_second: self.cores / length,
            p50: at(0.5),
            p99: at(0.99),
            most: at(1.0),
            late: above(allowed),
            behind: above(3.0 * allowed),
        }
    }
}
