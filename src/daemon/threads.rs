//! The threads that serve connections, each with a runtime of its own. A connection stays on its thread, so that
//! a line is not handed over from one thread to another.

use std::{io, thread};

use tokio::runtime::{Builder, Handle};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::server;

/// The threads that serve connections. They end when this is dropped, with everything that still runs on them.
pub(super) struct ConnectionThreads {
    runtimes: Vec<Handle>,
    _stop: DropGuard,
}

impl ConnectionThreads {
    /// Starts so many threads.
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
                runtime.spawn(server::stay_awake());
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
