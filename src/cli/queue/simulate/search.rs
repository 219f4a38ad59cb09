//! What the searches of a simulation cost.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use serde::Serialize;

use crate::matchmaking::Cores;

/// Runs jobs on `cores`, and measures how long they take.
pub(super) struct Measured<C> {
    cores: C,
    /// How long jobs ran, and how long the caller waited for them, in nanoseconds.
    jobs: AtomicU64,
    waited: AtomicU64,
}

impl<C: Cores> Measured<C> {
    /// Measures the jobs that `cores` runs.
    pub fn new(cores: C) -> Self {
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

impl<C: Cores> Cores for Measured<C> {
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
pub(super) struct Times {
    rounds: Vec<f64>,
    cores: f64,
}

/// What the searches cost. These are the only figures that depend on the machine.
#[derive(Debug, Serialize)]
pub(super) struct SearchCost {
    /// Number of threads.
    threads: u16,
    /// Seconds that threads spent on searches, per second of virtual time.
    pub cpu_per_second: f64,
    /// The median time of a round, in milliseconds.
    pub p50: f64,
    /// The time that 99 % of the rounds do not exceed, in milliseconds.
    pub p99: f64,
    /// The longest time of a round, in milliseconds.
    pub most: f64,
    /// Rounds that took longer than a third of the time between two rounds: the daemon would begin the
    /// next one later.
    pub late: usize,
    /// Rounds that took longer than the time between two rounds.
    pub behind: usize,
}

impl Times {
    /// Adds a round that took so long on these cores.
    pub fn add(&mut self, took: Duration, cores: &Measured<impl Cores>) {
        let took = took.as_secs_f64();
        self.rounds.push(took);
        self.cores += cores.take(took);
    }

    /// The cost over `length` seconds of virtual time, where a round is late after `allowed` seconds
    /// and behind after three times that.
    pub fn cost(mut self, threads: u16, length: f64, allowed: f64) -> SearchCost {
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
