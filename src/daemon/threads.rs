//! The threads that serve game servers, and those that serve pages.
//!
//! A game server's connection stays on its thread, so that a line is not handed over from one thread to another. The
//! pages have threads of a lower priority: visitors do not slow down a running game.

use std::{io, thread};

use tokio::runtime::{Builder, Handle, Runtime};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

/// The threads that serve connections. They end when this is dropped, with everything that still runs on them.
pub(super) struct ConnectionThreads {
    runtimes: Vec<Handle>,
    _stop: DropGuard,
}

impl ConnectionThreads {
    /// Starts `number` threads.
    ///
    /// # Errors
    /// Fails if the operating system refuses a thread, or what its runtime needs.
    pub(super) fn start(number: usize) -> io::Result<Self> {
        let stop = CancellationToken::new();
        let mut runtimes = Vec::with_capacity(number);
        for at in 0..number {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            runtimes.push(runtime.handle().clone());
            let stopped = stop.clone().cancelled_owned();
            let serve = move || {
                runtime.block_on(stopped);
                // Does not wait for a search for teams that is still running on a blocking thread.
                runtime.shutdown_background();
            };
            thread::Builder::new()
                .name(format!("lines-{at}"))
                .spawn(serve)?;
        }
        Ok(Self {
            runtimes,
            _stop: stop.drop_guard(),
        })
    }

    /// The runtimes of the threads.
    pub(super) fn runtimes(&self) -> Vec<Handle> {
        self.runtimes.clone()
    }
}

/// The number of threads that serve pages and calls over HTTP.
const PAGE_THREADS: usize = 2;

/// The priority of these threads, of 99. On Linux, this is a niceness of 5: beside a thread that serves game servers they
/// get a third of its time on a core, and where there are cores enough they lose nothing.
#[cfg(any(target_os = "linux", target_os = "android"))]
const PAGE_PRIORITY: u8 = 35;

/// The threads that serve pages and calls over HTTP. They end when this is dropped, with everything that still runs on
/// them.
pub(super) struct PageThreads(Option<Runtime>);

impl PageThreads {
    /// Starts them.
    ///
    /// # Errors
    /// Fails if the operating system refuses a thread, or what its runtime needs.
    pub(super) fn start() -> io::Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(PAGE_THREADS)
            .thread_name("pages")
            .on_thread_start(give_way)
            .enable_all()
            .build()?;
        Ok(Self(Some(runtime)))
    }

    /// Runs a task on these threads, which the tracker counts.
    pub(super) fn spawn(
        &self,
        tracker: &TaskTracker,
        task: impl Future<Output = ()> + Send + 'static,
    ) {
        if let Some(runtime) = &self.0 {
            tracker.spawn_on(task, runtime.handle());
        }
    }
}

impl Drop for PageThreads {
    fn drop(&mut self) {
        // Does not wait for a search for teams that is still running on a blocking thread.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Lowers the priority of the current thread. If the operating system refuses that, the thread has the normal one.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn give_way() {
    use thread_priority::{ThreadPriority, ThreadPriorityValue, set_current_thread_priority};
    let set = ThreadPriorityValue::try_from(PAGE_PRIORITY)
        .map(|priority| set_current_thread_priority(ThreadPriority::Crossplatform(priority)));
    if !matches!(set, Ok(Ok(()))) {
        tracing::debug!(?set, "pages are served at the normal priority");
    }
}

/// Elsewhere than on Linux, a process has one priority, or the scale is another one.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn give_way() {}
