//! Opens what the configuration names: the database, the listeners, the journal and the logs, and the threads that
//! serve them.
//!
//! A game server's connection stays on its thread, so that a line is not handed over from one thread to another. The
//! pages have threads of a lower priority: visitors do not slow down a running game. A write
//! beyond the limit that an operator sets with `ulimit -f` is an error, and ends no process.

use std::{fs, io, net::SocketAddr, path::Path, sync::Arc, thread, time::Duration};

use tokio::{
    net::{TcpListener, TcpSocket},
    runtime::{Builder, Handle, Runtime},
};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

use super::DaemonError;
use crate::{
    config::Config,
    files::is_open_to_all,
    learning::folder_beside,
    logs::{Archive, Follow, Follower, LogError},
    server::{Listeners, Service, TlsIdentity, TlsListener},
    store,
};

/// Opens the database of a configuration, and the service over it.
///
/// # Errors
/// Fails if the database cannot be opened, or if the configuration contains an invalid pattern.
pub async fn open_service(config: &Config, create: bool) -> Result<Service, DaemonError> {
    let busy = config.store.busy_ms.duration();
    let mode = config.store.file_mode;
    let store = store::open_with(&config.database(), create, busy, mode).await?;
    let service = Service::open(store, config.service())?;
    service.learning().keep_beside(&config.store.database);
    Ok(service)
}

/// Binds the configured addresses, and reads the certificate of encrypted connections.
pub(super) async fn bind(config: &Config) -> Result<Listeners, DaemonError> {
    let plain = bind_address("[server] listen", config.server.listen).await?;
    let section = &config.server.tls;
    let tls = match section.listen {
        None => None,
        Some(address) => Some(TlsListener {
            identity: Arc::new(TlsIdentity::load(&section.certificate, &section.key)?),
            listener: bind_address("[server.tls] listen", address).await?,
            handshake: section.handshake_seconds.duration(),
        }),
    };
    Ok(Listeners {
        plain,
        tls,
        runtimes: Vec::new(),
    })
}

/// Binds the address that a key of the configuration has.
pub(super) async fn bind_address(
    key: &'static str,
    address: SocketAddr,
) -> Result<TcpListener, DaemonError> {
    listen(address).map_err(|source| DaemonError::Listen {
        key,
        address,
        source,
    })
}

/// How many connections may wait to be accepted. If a fleet connects again after a restart, hundreds come at once.
const WAITING: u32 = 1_024;

fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // Elsewhere, it would let another program take the address. Here, a restart need not wait for old connections.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(WAITING)
}

/// Reads the certificate and the key for encrypted connections, if these are configured.
///
/// # Errors
/// Fails if a daemon could not start with them.
pub fn check_certificate(config: &Config) -> Result<(), DaemonError> {
    let section = &config.server.tls;
    if section.listen.is_some() {
        TlsIdentity::load(&section.certificate, &section.key)?;
    }
    Ok(())
}

/// Opens the journal of running games, and parks the games in it. If it cannot be opened, the
/// daemon starts all the same, but running games end with it.
pub(super) async fn open_journal(service: &Service, folder: &Path) {
    if let Err(error) = service.sessions().open_journal(folder).await {
        let folder = folder.display();
        tracing::error!(%error, %folder, "running games are not journaled: they end with the daemon");
    }
}

/// Warns of files that every user of this machine may read, in the database, its backups, and what the daemon keeps beside it.
pub(super) fn warn_of_modes(config: &Config) {
    let database = &config.store.database;
    let folders = [
        config.journal(),
        config.backups().map(|own| own.folder),
        Some(folder_beside(database)),
        config.ingest.archive().map(Path::to_owned),
    ];
    let entries = folders.into_iter().flatten().flat_map(fs::read_dir);
    let inside = entries.flatten().flatten().map(|entry| entry.path());
    let all = inside.chain([database.clone()]);
    let open: Vec<_> = all.filter(|path| is_open_to_all(path)).collect();
    if let Some(first) = open.first() {
        let (files, first) = (open.len(), first.display());
        tracing::warn!(
            files,
            %first,
            "every user of this machine may read files with names of players: `chmod 600` takes that right away"
        );
    }
}

/// Opens the archive of logs, if one is configured.
///
/// # Errors
/// Fails if the folder cannot be created or read.
pub fn open_archive(config: &Config) -> Result<Option<Arc<Archive>>, LogError> {
    let mode = config.store.file_mode;
    let open = |folder: &Path| Archive::open_with(folder, mode);
    config.ingest.archive().map(open).transpose()
}

/// The follower of the configured logs; `None` if there are none.
pub(super) fn follower(
    config: &Config,
    service: &Arc<Service>,
) -> Result<Option<(Follower, Duration)>, DaemonError> {
    let follows = config.follows();
    if follows.is_empty() {
        return Ok(None);
    }
    let follower = follow(config, service, follows)?;
    Ok(Some((follower, config.ingest.interval())))
}

/// Begins to follow these logs.
///
/// # Errors
/// Fails if the archive or the thread cannot be opened.
pub fn follow(
    config: &Config,
    service: &Service,
    follows: Vec<Follow>,
) -> Result<Follower, LogError> {
    tracing::info!(logs = follows.len(), "following");
    Follower::start(
        service.store().clone(),
        service.learning().clone(),
        follows,
        open_archive(config)?,
        config.ingest.settle(),
    )
}

/// Makes a write beyond the limit fail, like one on a full disk, instead of ending the process.
/// Does nothing on systems where the number of the limit's signal is unknown.
///
/// # Errors
/// Fails if the operating system refuses the handler of the signal.
pub(super) fn survive() -> io::Result<()> {
    #[cfg(unix)]
    if cfg!(not(any(target_arch = "mips", target_arch = "mips64"))) {
        /// SIGXFSZ, the signal for a write beyond the limit.
        const TOO_LARGE: i32 = 25;
        let kind = tokio::signal::unix::SignalKind::from_raw(TOO_LARGE);
        // The handler remains installed when the stream of signals is dropped.
        let _ = tokio::signal::unix::signal(kind)?;
    }
    Ok(())
}

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

/// Goes on with the experiment of the configuration, begins it, or ends one that is configured no more.
pub(super) async fn set_experiment(service: &Service, config: &Config) {
    let experiment = service.sessions().set_experiment(config.experiment());
    match experiment.await {
        Ok(Some(number)) => {
            let ruleset = &config.experiment.ruleset;
            tracing::info!(
                number,
                ruleset,
                "games of this ruleset belong to an experiment"
            );
        }
        Ok(None) => {}
        Err(error) => tracing::error!(%error, "the experiment does not go on: games have no arms"),
    }
}
