//! The processor time of a search.
//!
//! It is the measure of what a search costs: time that passes while the process is stopped, or while other programs
//! have the cores, is not in it.

use std::{
    collections::HashMap,
    thread::{self, ThreadId},
    time::Duration,
};

use parking_lot::Mutex;

use crate::{learning::processor_time, matchmaking::planner::Cores};

/// How much processor time a search has used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchTime {
    /// The time that the search would have taken on idle cores: that of the busiest thread of each batch, and that
    /// between the batches.
    pub alone: Duration,
    /// The time of all threads together.
    pub total: Duration,
}

impl SearchTime {
    /// Calls `search`, and measures it and all jobs that it runs on the cores it is given.
    pub fn of<T>(cores: &dyn Cores, search: impl FnOnce(&dyn Cores) -> T) -> (T, Self) {
        let helped = Mutex::new(Self::default());
        let since = processor_time();
        let found = search(&MeteredCores {
            cores,
            helped: &helped,
        });
        let own = processor_time().saturating_sub(since);
        let Self { alone, total } = helped.into_inner();
        let time = Self {
            alone: own + alone,
            total: own + total,
        };
        (found, time)
    }
}

/// Runs jobs on `cores`, and measures them.
struct MeteredCores<'a> {
    cores: &'a dyn Cores,
    /// What other threads than the one of the search add to its time.
    helped: &'a Mutex<SearchTime>,
}

impl Cores for MeteredCores<'_> {
    fn run(&self, count: usize, job: &(dyn Fn(usize) + Sync)) {
        let threads: Mutex<HashMap<ThreadId, Duration>> = Mutex::default();
        self.cores.run(count, &|at| {
            let since = processor_time();
            job(at);
            let took = processor_time().saturating_sub(since);
            *threads.lock().entry(thread::current().id()).or_default() += took;
        });
        let mut threads = threads.into_inner();
        let own = threads.remove(&thread::current().id()).unwrap_or_default();
        let busiest = threads.values().max().copied().unwrap_or_default();
        let mut helped = self.helped.lock();
        helped.alone += busiest.saturating_sub(own);
        helped.total += threads.values().sum::<Duration>();
    }

    fn share(&self, jobs: usize) -> Box<dyn Cores + '_> {
        Box::new(MeteredShare {
            cores: self.cores.share(jobs),
            helped: self.helped,
        })
    }
}

/// The cores of one job's own jobs.
struct MeteredShare<'a> {
    cores: Box<dyn Cores + 'a>,
    helped: &'a Mutex<SearchTime>,
}

impl MeteredShare<'_> {
    fn measured(&self) -> MeteredCores<'_> {
        MeteredCores {
            cores: &*self.cores,
            helped: self.helped,
        }
    }
}

impl Cores for MeteredShare<'_> {
    fn run(&self, count: usize, job: &(dyn Fn(usize) + Sync)) {
        self.measured().run(count, job);
    }
}
