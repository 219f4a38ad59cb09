//! Threads for the searches of the planner.

use std::{
    panic::resume_unwind,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use crate::matchmaking::Cores;

/// Runs the jobs of a batch on this many threads.
#[derive(Clone, Copy, Debug)]
pub struct Threads(pub usize);

/// The most threads of a round.
const MOST: usize = 2;

impl Threads {
    /// As many threads as the machine has cores, at most [`MOST`].
    pub(super) fn of_rounds() -> Self {
        let cores = thread::available_parallelism();
        Self(cores.map_or(1, |cores| cores.get().min(MOST)))
    }
}

impl Cores for Threads {
    fn run(&self, count: usize, job: &(dyn Fn(usize) + Sync)) {
        let threads = self.0.min(count);
        if threads < 2 {
            return (0..count).for_each(job);
        }
        let next = AtomicUsize::new(0);
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                if at >= count {
                    return;
                }
                job(at);
            }
        };
        thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
            work();
            for other in others {
                if let Err(panic) = other.join() {
                    resume_unwind(panic); // with its message
                }
            }
        });
    }

    fn share(&self, jobs: usize) -> Box<dyn Cores + '_> {
        Box::new(Self(self.0 / jobs.max(1)))
    }
}
