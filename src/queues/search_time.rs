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

use crate::matchmaking::planner::Cores;

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
        let since = thread_time();
        let found = search(&MeteredCores {
            cores,
            helped: &helped,
        });
        let own = thread_time().saturating_sub(since);
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
            let since = thread_time();
            job(at);
            let took = thread_time().saturating_sub(since);
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

/// The processor time that this thread has used.
#[cfg(unix)]
fn thread_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Here, the time that has passed since the first call.
#[cfg(not(unix))]
#[allow(
    clippy::disallowed_methods,
    reason = "what a search costs is real time, whatever clock the queues have"
)]
fn thread_time() -> Duration {
    use std::{sync::OnceLock, time::Instant};
    static FIRST: OnceLock<Instant> = OnceLock::new();
    FIRST.get_or_init(Instant::now).elapsed()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::queues::Threads;

    /// Uses about this much processor time.
    fn work(time: Duration) {
        let since = thread_time();
        while thread_time() - since < time {}
    }

    #[test]
    fn time_that_passes_without_work_does_not_count() {
        let pause = Duration::from_millis(60);
        let ((), time) = SearchTime::of(&Threads(2), |cores| {
            cores.run(4, &|_| thread::sleep(pause));
        });
        assert!(time.alone < pause && time.total < pause, "{time:?}");
    }

    #[test]
    fn the_busiest_thread_of_a_batch_counts_and_shares_do_too() {
        let each = Duration::from_millis(5);
        let two = Threads(2);
        let meeting = std::sync::Barrier::new(2);
        let jobs = |cores: &dyn Cores| {
            cores.run(2, &|_| {
                meeting.wait(); // each has a thread
                work(each);
            });
        };
        let ((), time) = SearchTime::of(&two, jobs);
        assert!(time.alone >= each && time.total >= 2 * each, "{time:?}");
        assert!(time.total - time.alone >= each / 2, "{time:?}");
        let ((), time) = SearchTime::of(&two, |cores| jobs(&*cores.share(1)));
        assert!(time.total >= 2 * each, "{time:?}");
    }
}
