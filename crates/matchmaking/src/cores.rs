//! Where searches run: this room has no threads, so the shell provides them.

use std::sync::OnceLock;

/// Runs independent jobs, on as many threads as it likes.
pub trait Cores: Sync {
    /// Calls `job` once with each number below `count`, in any order, and returns when all calls
    /// have returned.
    fn run(&self, count: usize, job: &(dyn Fn(usize) + Sync));

    /// The cores for each job's own jobs when `jobs` run at once.
    fn share(&self, _jobs: usize) -> Box<dyn Cores + '_> {
        Box::new(OneCore)
    }
}

/// Runs all jobs on the calling thread, in the order of their numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct OneCore;

impl Cores for OneCore {
    fn run(&self, count: usize, job: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(job);
    }
}

/// Runs the jobs and returns their results by number. A job that did not run has none.
pub(super) fn collect<T: Send + Sync>(
    cores: &dyn Cores,
    count: usize,
    job: &(dyn Fn(usize) -> T + Sync),
) -> Vec<T> {
    let slots: Vec<OnceLock<T>> = (0..count).map(|_| OnceLock::new()).collect();
    cores.run(count, &|at| {
        if let Some(slot) = slots.get(at) {
            slot.get_or_init(|| job(at));
        }
    });
    slots.into_iter().filter_map(OnceLock::into_inner).collect()
}
