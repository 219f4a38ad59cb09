//! The daemon: opens everything that the configuration names, and owns every long-running task.
//!
//! All of them are tasks of one [`TaskTracker`], and one [`CancellationToken`] stops them.
//! No other room starts a task that outlives the call that started it.
//!
//! Entry points: [`Daemon::open`] for a configuration, [`run`] for parts that are already open.

mod error;
mod file_limit;
mod shutdown;

use std::{net::SocketAddr, path::Path, sync::Arc, time::Duration};

use tokio::{net::TcpListener, time};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    config::Config,
    logs::{Archive, Follower, LogError},
    server::{self, Limits},
    service::Service,
    store,
};

pub use error::DaemonError;
pub use shutdown::ShutdownSignal;

/// The time limit for the last writes after all sessions have ended.
const LAST_WRITES: Duration = Duration::from_millis(500);

/// The time limit for the last checkpoint of the learned state.
const CHECKPOINT: Duration = Duration::from_secs(1);

/// The time limit for archiving the followed logs after all sessions have ended.
const ARCHIVE: Duration = Duration::from_secs(1);

/// A daemon that has opened everything and does not serve yet.
pub struct Daemon {
    listener: TcpListener,
    service: Arc<Service>,
    limits: Limits,
    /// The follower of logs, and the interval of its polls.
    follower: Option<(Follower, Duration)>,
}

impl std::fmt::Debug for Daemon {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Daemon").finish_non_exhaustive()
    }
}

impl Daemon {
    /// Binds the address, opens the database and publishes the weights of the last checkpoint.
    ///
    /// # Errors
    /// Fails if the address cannot be bound, or the database or the archive cannot be opened.
    pub async fn open(config: &Config) -> Result<Self, DaemonError> {
        file_limit::survive()?;
        let address = config.server.listen;
        let listener = TcpListener::bind(address)
            .await
            .map_err(|source| DaemonError::Listen { address, source })?;
        let service = Arc::new(open_service(config, true).await?);
        let (matches, _) = service.store().extent().await?;
        service.learning().resume().await?;
        if let Some(folder) = config.journal() {
            open_journal(&service, &folder).await;
        }
        let follower = follower(config, &service)?;
        let database = config.store.database.display();
        let address = listener.local_addr()?;
        tracing::info!(%address, %database, matches, "listening");
        if !address.ip().is_loopback() && config.server.clients.is_empty() {
            tracing::warn!(
                "every host that reaches {address} can use this daemon; see [server.clients]"
            );
        }
        Ok(Self {
            listener,
            service,
            limits: config.server.limits,
            follower,
        })
    }

    /// The address on which the daemon listens.
    ///
    /// # Errors
    /// Fails if the operating system does not return it.
    pub fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `shutdown` resolves, then drains and closes the database.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let tasks = Tasks::default();
        let learning = self.service.learning().clone();
        tasks.spawn(async move { learning.keep_up_to_date().await });
        let following = self.follower.map(|(follower, interval)| {
            let stop = tasks.stop.clone().cancelled_owned();
            tasks.tracker.spawn(follower.run(interval, stop))
        });
        tasks
            .serve(self.listener, self.service.clone(), self.limits, shutdown)
            .await;
        if let Some(following) = following {
            let abort = following.abort_handle();
            if time::timeout(ARCHIVE, following).await.is_err() {
                // Nothing is lost: the next start reads the logs again. The follower's thread ends
                // by itself.
                tracing::warn!("the followed logs are not all archived");
                abort.abort();
            }
        }
        // Without a checkpoint, the next start only takes longer.
        let written = time::timeout(CHECKPOINT, self.service.learning().checkpoint()).await;
        if let Ok(Err(error)) = written {
            tracing::warn!(%error, "cannot write the checkpoint");
        }
        // Every match was committed before END was answered, so nothing is lost here.
        let _ = time::timeout(LAST_WRITES, self.service.close()).await;
        tracing::info!("stopped");
    }
}

/// Serves with an open service until `shutdown` resolves. Then each session finishes its current
/// command, sends the pending replies and closes; after [`Limits::drain_seconds`] the remaining connections
/// are dropped. Finally, writes the backlog.
pub async fn run(
    listener: TcpListener,
    service: Arc<Service>,
    limits: Limits,
    shutdown: impl Future<Output = ()>,
) {
    Tasks::default()
        .serve(listener, service, limits, shutdown)
        .await;
}

/// The tasks of a daemon, which stop together.
#[derive(Default)]
struct Tasks {
    tracker: TaskTracker,
    stop: CancellationToken,
}

impl Tasks {
    /// Runs a task until it ends or the daemon stops.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let stop = self.stop.clone();
        self.tracker.spawn(async move {
            stop.run_until_cancelled(task).await;
        });
    }

    /// Serves until `shutdown` resolves, stops all tasks, and writes the backlog.
    async fn serve(
        &self,
        listener: TcpListener,
        service: Arc<Service>,
        limits: Limits,
        shutdown: impl Future<Output = ()>,
    ) {
        let sessions = service.sessions().clone();
        self.spawn(async move { sessions.run_background().await });
        let sessions = service.sessions().clone();
        self.spawn(async move { sessions.run_journal_sync().await });
        let learning = service.learning().clone();
        self.spawn(async move { learning.learn_recorded().await });
        let (tasks, stop) = (self.tracker.clone(), self.stop.clone());
        let server = server::run(listener, service.clone(), limits, tasks, stop);
        let serving = self.tracker.spawn(server);
        shutdown.await;
        self.stop.cancel();
        self.tracker.close();
        if let Err(error) = serving.await {
            tracing::error!(%error, "the server has failed");
        }
        match time::timeout(LAST_WRITES, service.sessions().drain()).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::error!(%error, "abandoned games are not recorded"),
            Err(_) => tracing::error!("abandoned games are not recorded: the database is too slow"),
        }
    }
}

/// Opens the database of a configuration, and the service over it.
///
/// # Errors
/// Fails if the database cannot be opened, or if the configuration contains an invalid pattern.
pub async fn open_service(config: &Config, create: bool) -> Result<Service, DaemonError> {
    let busy = config.store.busy_ms.duration();
    let store = store::open(&config.store.database, create, busy).await?;
    Ok(Service::open(store, config.service())?)
}

/// Opens the journal of running games, and parks the games in it. If it cannot be opened, the
/// daemon starts all the same, but running games end with it.
async fn open_journal(service: &Service, folder: &Path) {
    if let Err(error) = service.sessions().open_journal(folder).await {
        let folder = folder.display();
        tracing::error!(%error, %folder, "running games are not journaled: they end with the daemon");
    }
}

/// Opens the archive of logs, if one is configured.
///
/// # Errors
/// Fails if the folder cannot be created or read.
pub fn open_archive(config: &Config) -> Result<Option<Arc<Archive>>, LogError> {
    config.ingest.archive().map(Archive::open).transpose()
}

/// The follower of the configured logs; `None` if there are none.
fn follower(
    config: &Config,
    service: &Arc<Service>,
) -> Result<Option<(Follower, Duration)>, DaemonError> {
    let follows = config.follows();
    if follows.is_empty() {
        return Ok(None);
    }
    tracing::info!(logs = follows.len(), "following");
    let settings = &config.ingest;
    let follower = Follower::start(
        service.store().clone(),
        service.learning().clone(),
        follows,
        open_archive(config)?,
        settings.settle(),
    )?;
    Ok(Some((follower, settings.interval())))
}
