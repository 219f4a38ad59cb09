//! The daemon: opens everything that the configuration names, and owns every long-running task.
//!
//! All of them are tasks of one [`TaskTracker`], and one
//! [`CancellationToken`] stops them. From then on
//! there is one deadline: [`ConnectionLimits::drain_seconds`] for the connections, and 0.9 s more for
//! everything else.
//!
//! In other rooms, two things outlive the call that starts them: a write of the backlog, which is a
//! task of the same tracker, and the thread of a [`Follower`], which ends when the follower does.
//!
//! Entry points: [`Daemon::open`] for a configuration, [`run`] for parts that are already open.

mod open;
mod pages;
mod reload;
mod system;
mod upkeep;

pub use open::{check_certificate, follow, open_archive, open_service};
pub use reload::{FileWatch, Reloader, reload};
pub use system::{ReloadSignal, ShutdownSignal, reloaded, reloading};

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use tokio::{
    task::JoinHandle,
    time::{Instant, timeout_at},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    config::{Config, ConfigError, ConfiguredValues},
    logs::{Follower, LogError},
    server::{
        self, ConnectionLimits, Gate, Listeners, Service, ServiceError, TlsError,
        watch::{BackupMetrics, Monitor},
    },
    store::{Backups, StoreError},
    webhooks::{Deliveries, DeliveryError},
};

use open::{ConnectionThreads, PageThreads, bind, bind_address, follower, open_journal};
use pages::{PageListeners, PageServer};
use system::TooFewDescriptors;
use upkeep::UpkeepSettings;

/// A daemon that has opened everything and does not serve yet.
pub struct Daemon {
    listeners: Listeners,
    threads: ConnectionThreads,
    page_threads: PageThreads,
    service: Arc<Service>,
    limits: ConnectionLimits,
    gate: Arc<Gate>,
    /// The follower of logs, and the interval of its polls.
    follower: Option<(Follower, Duration)>,
    backups: Option<Backups>,
    upkeep: UpkeepSettings,
    deliveries: Deliveries,
    pages: PageServer,
    monitor: Arc<Monitor>,
    /// The configuration that it has been opened with.
    values: ConfiguredValues,
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
    /// Fails if strangers could use the daemon whom the configuration does not admit, if the address cannot
    /// be bound, or if the database or the archive cannot be opened.
    pub async fn open(config: &Config) -> Result<Self, DaemonError> {
        open::survive()?;
        let gate = Arc::new(Gate::new(config.check_access()?));
        system::have_enough(config)?;
        let mut listeners = bind(config).await?;
        let pages = PageListeners::bind(&config.web).await?;
        let threads = ConnectionThreads::start(config.server.threads())?;
        listeners.runtimes = threads.runtimes();
        let service = Arc::new(open_service(config, true).await?);
        service.share_by(&gate);
        let clock = service.sessions().clock().clone();
        let store = service.store().clone();
        let deliveries = Deliveries::open(&config.webhook, store, clock).await?;
        let matches = service.resume().await?;
        if let Some(folder) = config.journal() {
            open_journal(&service, &folder).await;
        }
        open::warn_of_modes(config);
        open::set_experiment(&service, config).await;
        let follower = follower(config, &service)?;
        let database = config.database();
        let address = listeners.plain.local_addr()?;
        if let Some(tls) = &listeners.tls {
            let tls = tls.listener.local_addr()?;
            tracing::info!(%tls, "listening for encrypted connections");
        }
        tracing::info!(%address, %database, matches, "listening");
        if !address.ip().is_loopback() && config.server.allow_anonymous {
            tracing::warn!("every host that reaches {address} can use this daemon");
        }
        let backups = config.backups();
        let mut monitor = Monitor::new(service.clone());
        monitor.gate = Some(gate.clone());
        monitor.followed = follower.as_ref().map(|(one, _)| one.metrics().clone());
        monitor.hooks = deliveries.metrics();
        monitor.backups = backups.as_ref().map(|_| Arc::default());
        let is_file = config.store.url.is_none();
        monitor.place = match is_file {
            true => whole(&config.store.database),
            false => database.to_string(),
        };
        monitor.database = is_file.then(|| config.store.database.clone());
        let monitor = Arc::new(monitor);
        let pages = PageServer::new(pages, config, &gate, &service, &monitor)?;
        Ok(Self {
            listeners,
            threads,
            page_threads: PageThreads::start()?,
            service,
            limits: config.server.limits,
            gate,
            follower,
            backups,
            upkeep: UpkeepSettings::of(config),
            deliveries,
            pages,
            monitor,
            values: config.values.clone(),
        })
    }

    /// The address on which the daemon listens.
    ///
    /// # Errors
    /// Fails if the operating system does not return it.
    pub fn local_addr(&self) -> std::io::Result<SocketAddr> {
        self.listeners.plain.local_addr()
    }

    /// What a configuration that is read again can change, and the addresses that it cannot change.
    pub fn reloader(&self) -> Reloader {
        Reloader {
            service: self.service.clone(),
            gate: self.gate.clone(),
            tls: self.listeners.tls.as_ref().map(|tls| tls.identity.clone()),
            listens: self.listeners.addresses(),
            started: self.values.clone(),
        }
    }

    /// Serves until `shutdown` resolves, then drains and closes the database. Returns at most one second after
    /// [`ConnectionLimits::drain_seconds`], even if the database is locked or the disk is stuck; but if a file of the database was
    /// taken away just before, only when the database is copied.
    pub async fn run(self, shutdown: impl Future<Output = ()>) {
        let tasks = Tasks::new(&self.service);
        let learning = self.service.learning().clone();
        tasks.spawn(async move { learning.keep_up_to_date().await });
        tasks.spawn(system::watchdog());
        tasks.spawn(upkeep::keep_small(self.service.clone(), self.upkeep));
        tasks.spawn(upkeep::watch(self.service.clone()));
        tasks.spawn(upkeep::guard(self.service.store().clone()));
        if let Some(backups) = self.backups {
            let service = self.service.clone();
            let metrics: Arc<BackupMetrics> = self.monitor.backups.clone().unwrap_or_default();
            tasks.spawn(upkeep::back_up_daily(backups, service, metrics));
        }
        let (monitor, watched) = (self.monitor.clone(), self.monitor);
        tasks.spawn(async move { monitor.run().await });
        if let Ok(address) = self.listeners.plain.local_addr() {
            system::ready(&format!("serving game servers at {address}"));
        }
        let following = self.follower.map(|(follower, interval)| {
            let stop = tasks.stop.clone().cancelled_owned();
            tasks.tracker.spawn(follower.run(interval, stop))
        });
        let deliveries = self.deliveries.run(tasks.stop.clone());
        tasks.tracker.spawn(deliveries);
        self.pages.start(&tasks, self.limits, &self.page_threads);
        let service = self.service;
        let shutdown = async {
            shutdown.await;
            watched.stop();
            system::stopping();
        };
        let deadline = tasks
            .serve(
                self.listeners,
                service.clone(),
                self.limits,
                self.gate,
                shutdown,
            )
            .await;
        tokio::join!(
            write_backlog(&service, deadline),
            write_checkpoint(&service, deadline),
            end_following(following, deadline),
        );
        tasks.end(deadline).await;
        // Every match was committed before END was answered, so nothing is lost here.
        let _ = timeout_at(deadline, service.close()).await;
        // If nothing was lost, this does nothing; otherwise nobody else can do it later.
        upkeep::copy_at_the_end(service.store()).await;
        // The connections have ended, and everything that they began.
        drop((self.threads, self.page_threads));
        tracing::info!("stopped");
    }
}

/// Serves with an open service until `shutdown` resolves. Then each session finishes its current
/// command, sends the pending replies and closes; after [`ConnectionLimits::drain_seconds`] the remaining connections
/// are dropped. Finally, writes the backlog.
pub async fn run(
    listeners: impl Into<Listeners>,
    service: Arc<Service>,
    limits: ConnectionLimits,
    gate: Arc<Gate>,
    shutdown: impl Future<Output = ()>,
) {
    let tasks = Tasks::new(&service);
    service.share_by(&gate);
    let deadline = tasks
        .serve(listeners.into(), service.clone(), limits, gate, shutdown)
        .await;
    write_backlog(&service, deadline).await;
    tasks.end(deadline).await;
}

/// Writes the backlog. What is still in it at the deadline is lost, except for games in the journal.
async fn write_backlog(service: &Service, deadline: Instant) {
    let sessions = service.sessions();
    match timeout_at(deadline, sessions.drain()).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::error!(%error, "abandoned games are not recorded"),
        Err(_) => tracing::error!("abandoned games are not recorded: the database is too slow"),
    }
    let matches = sessions.levels().waiting_matches;
    if matches > 0 {
        tracing::error!(
            matches,
            "matches are not on disk; those that are not in the journal either are lost"
        );
    }
}

/// Writes a checkpoint of the learned state. Without it, the next start only takes longer.
async fn write_checkpoint(service: &Service, deadline: Instant) {
    match timeout_at(deadline, service.learning().end()).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::warn!(%error, "cannot write the checkpoint"),
        Err(_) => tracing::warn!("cannot write the checkpoint: the database is too slow"),
    }
}

/// Waits until the follower has archived its logs.
async fn end_following(following: Option<JoinHandle<()>>, deadline: Instant) {
    let Some(following) = following else { return };
    let abort = following.abort_handle();
    if timeout_at(deadline, following).await.is_err() {
        // Nothing is lost: the next start reads the logs again. The follower's thread ends by
        // itself.
        tracing::warn!("the followed logs are not all archived");
        abort.abort();
    }
}

/// A path that means the same in every folder.
fn whole(path: &std::path::Path) -> String {
    let whole = std::path::absolute(path);
    whole.as_deref().unwrap_or(path).display().to_string()
}

/// Why the daemon cannot start.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// The configuration admits clients in a way that it should not, or does not say how they prove who
    /// they are.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The address cannot be bound.
    #[error("{key}: cannot listen on {address}: {source}")]
    Listen {
        /// The section and the key with the address.
        key: &'static str,
        /// The configured address.
        address: SocketAddr,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The certificate of encrypted connections cannot be used.
    #[error("encrypted connections: {0}")]
    Tls(#[from] TlsError),
    /// The process may have too few files and sockets open.
    #[error(transparent)]
    Descriptors(#[from] TooFewDescriptors),
    /// The listener has no address.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The database cannot be opened or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The service cannot be opened, or the weights cannot be derived from the stored matches.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// The webhooks cannot be used.
    #[error(transparent)]
    Deliveries(#[from] DeliveryError),
    /// The archive of logs cannot be opened.
    #[error(transparent)]
    Logs(#[from] LogError),
}

/// How long the daemon may run after the time limit of the connections: for the backlog, the checkpoint, the
/// archive and the end of all tasks together. The rest of a second is left to the end of the process.
const LAST_WRITES: Duration = Duration::from_millis(900);
/// The tasks of a daemon, which stop together.
struct Tasks {
    tracker: TaskTracker,
    stop: CancellationToken,
}

impl Tasks {
    fn new(service: &Service) -> Self {
        Self {
            tracker: service.sessions().tasks().clone(),
            stop: CancellationToken::new(),
        }
    }

    /// Runs a task until it ends or the daemon stops.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let stop = self.stop.clone();
        self.tracker.spawn(async move {
            stop.run_until_cancelled(task).await;
        });
    }

    /// Serves until `shutdown` resolves, stops all tasks, and ends all connections. Returns the deadline for
    /// everything else that the daemon has to do before its end.
    async fn serve(
        &self,
        listeners: Listeners,
        service: Arc<Service>,
        limits: ConnectionLimits,
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
    async fn end(&self, deadline: Instant) {
        self.tracker.close();
        if timeout_at(deadline, self.tracker.wait()).await.is_err() {
            let tasks = self.tracker.len();
            tracing::warn!(tasks, "tasks have not ended in time");
        }
    }
}
