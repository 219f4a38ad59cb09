//! The tasks of a daemon, and when they end.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, timeout_at};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::server::{self, Gate, Limits, Listeners, Service};

/// How long the daemon may run after the time limit of the connections: for the backlog, the checkpoint, the
/// archive and the end of all tasks together. The rest of a second is left to the end of the process.
const LAST_WRITES: Duration = Duration::from_millis(900);
/// The tasks of a daemon, which stop together.
pub(super) struct Tasks {
    pub(super) tracker: TaskTracker,
    pub(super) stop: CancellationToken,
}

impl Tasks {
    pub(super) fn new(service: &Service) -> Self {
        Self {
            tracker: service.sessions().tasks().clone(),
            stop: CancellationToken::new(),
        }
    }

    /// Runs a task until it ends or the daemon stops.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let stop = self.stop.clone();
        self.tracker.spawn(async move {
            stop.run_until_cancelled(task).await;
        });
    }

    /// Serves until `shutdown` resolves, stops all tasks, and ends all connections. Returns the deadline for
    /// everything else that the daemon has to do before its end.
    pub(super) async fn serve(
        &self,
        listeners: Listeners,
        service: Arc<Service>,
        limits: Limits,
        gate: Arc<Gate>,
        shutdown: impl Future<Output = ()>,
    ) -> Instant {
        if let Some(tls) = &listeners.tls {
            self.spawn(tls.identity.clone().watch());
        }
        let sessions = service.sessions().clone();
        self.spawn(async move { sessions.run_background().await });
        let sessions = service.sessions().clone();
        self.spawn(async move { sessions.run_journal_sync().await });
        let learning = service.learning().clone();
        self.spawn(async move { learning.learn_recorded().await });
        let queues = service.queues().clone();
        // Not stopped with the other tasks: connections that end still wait for its answers.
        let queueing = self.tracker.spawn({
            let queues = queues.clone();
            async move { queues.run().await }
        });
        let (tasks, stop) = (self.tracker.clone(), self.stop.clone());
        let serving = self
            .tracker
            .spawn(server::run(listeners, service, limits, gate, tasks, stop));
        shutdown.await;
        let deadline = Instant::now() + limits.drain_seconds.duration() + LAST_WRITES;
        self.stop.cancel();
        match timeout_at(deadline, serving).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::error!(%error, "the server has failed"),
            Err(_) => tracing::warn!("connections have not ended in time"),
        }
        queues.stop();
        if timeout_at(deadline, queueing).await.is_err() {
            tracing::warn!("the queues have not stopped in time");
        }
        deadline
    }

    /// Waits for the end of all tasks.
    pub(super) async fn end(&self, deadline: Instant) {
        self.tracker.close();
        if timeout_at(deadline, self.tracker.wait()).await.is_err() {
            let tasks = self.tracker.len();
            tracing::warn!(tasks, "tasks have not ended in time");
        }
    }
}
