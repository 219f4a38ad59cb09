//! Independent jobs on all cores.

use std::sync::atomic::{AtomicUsize, Ordering};

/// What `work` makes of each job, in their order.
///
/// # Panics
/// If `work` does.
pub fn on_all_cores<J: Sync, O: Send>(jobs: &[J], work: impl Fn(&J) -> O + Sync) -> Vec<O> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = jobs.get(at) else {
                return done;
            };
            done.push((at, work(job)));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    let mut done: Vec<(usize, O)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        let joined = workers.into_iter().map(|worker| worker.join());
        let done = joined.map(|done| done.unwrap_or_else(|why| std::panic::resume_unwind(why)));
        done.flatten().collect()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, made)| made).collect()
}
