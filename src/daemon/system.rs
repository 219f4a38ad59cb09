//! What the daemon and the operating system tell each other.
//!
//! - Signals stop a command, or make the daemon read its configuration again.
//! - To the service manager (systemd, `Type=notify`) that started it, the daemon reports that it serves, that it reads its
//!   configuration again, that it stops, and at intervals that it is alive. Without one, which sets `NOTIFY_SOCKET`, it reports
//!   nothing. A report that cannot be sent is logged and changes nothing else.
//! - A process may have so many files and sockets open at a time. With too few the daemon would fail at any place, and each
//!   time with another message: opening the database, or when most games run.

use std::{io, time::Duration};

use crate::config::Config;

#[cfg(unix)]
use sd_notify::NotifyState;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Waits for SIGTERM or SIGINT; on systems without them, for Ctrl-C.
///
/// Signals are caught from [`install`](Self::install) on, so one that arrives while a command is
/// still starting is not lost.
#[derive(Debug)]
pub struct ShutdownSignal {
    #[cfg(unix)]
    terminate: Signal,
    #[cfg(unix)]
    interrupt: Signal,
}

impl ShutdownSignal {
    /// Installs the signal handlers.
    ///
    /// # Errors
    /// Fails if the operating system refuses them.
    #[cfg(unix)]
    pub fn install() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    /// Creates the waiter; Ctrl-C is caught from the first [`wait`](Self::wait) on.
    ///
    /// # Errors
    /// Never fails on this system.
    #[cfg(not(unix))]
    pub fn install() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Resolves at the next SIGTERM or SIGINT, and logs which one.
    #[cfg(unix)]
    pub async fn wait(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => tracing::info!("SIGTERM, draining"),
            _ = self.interrupt.recv() => tracing::info!("interrupted, draining"),
        }
    }

    /// Resolves at the next Ctrl-C, and logs it.
    #[cfg(not(unix))]
    pub async fn wait(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            // If no handler can be installed, wait for ever.
            std::future::pending::<()>().await;
        }
        tracing::info!("interrupted, draining");
    }
}

/// Waits for SIGHUP; on systems without it, for ever.
#[derive(Debug)]
pub struct ReloadSignal {
    #[cfg(unix)]
    hangup: Signal,
}

impl ReloadSignal {
    /// Installs the signal handler. From then on, SIGHUP does not end the process.
    ///
    /// # Errors
    /// Fails if the operating system refuses it.
    pub fn install() -> io::Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// Resolves at the next SIGHUP.
    pub async fn wait(&mut self) {
        #[cfg(unix)]
        if self.hangup.recv().await.is_some() {
            return;
        }
        std::future::pending::<()>().await;
    }
}

/// Reports that the daemon serves, and on which address.
pub(super) fn ready(status: &str) {
    #[cfg(unix)]
    send(&[NotifyState::Ready, NotifyState::Status(status)]);
    #[cfg(not(unix))]
    let _ = status;
}

/// Reports that the daemon reads its configuration again. [`reloaded`] must follow.
pub fn reloading() {
    #[cfg(unix)]
    if let Ok(now) = NotifyState::monotonic_usec_now() {
        send(&[NotifyState::Reloading, now]);
    }
}

/// Reports that the daemon has read its configuration again, whether it has taken it over or not.
pub fn reloaded() {
    #[cfg(unix)]
    send(&[NotifyState::Ready]);
}

/// Reports that the daemon begins to stop.
pub(super) fn stopping() {
    #[cfg(unix)]
    send(&[NotifyState::Stopping]);
}

/// Reports at half the interval of the watchdog that the daemon is alive. Never returns.
///
/// A daemon whose runtime no longer runs tasks is silent and is restarted. A database that is locked or a
/// full disk does not silence it: a restart would not help, and would disturb every running game.
pub(super) async fn watchdog() {
    let Some(interval) = watchdog_interval() else {
        return std::future::pending().await;
    };
    let mut ticks = tokio::time::interval(interval / 2);
    loop {
        ticks.tick().await;
        #[cfg(unix)]
        send(&[NotifyState::Watchdog]);
    }
}

/// How long the service manager waits for a sign of life, if it waits for any.
fn watchdog_interval() -> Option<Duration> {
    #[cfg(unix)]
    return sd_notify::watchdog_enabled().filter(|interval| !interval.is_zero());
    #[cfg(not(unix))]
    None
}

#[cfg(unix)]
fn send(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "cannot report to the service manager");
    }
}

/// The process may have too few files and sockets open for its configuration.
#[derive(Debug, thiserror::Error)]
#[error(
    "this process may have {allowed} files and sockets open, and needs {needed} for the max_connections of [server] and [web]: \
     raise the limit (`ulimit -n {needed}`, or LimitNOFILE= of the systemd unit), or lower these numbers"
)]
pub struct TooFewDescriptors {
    allowed: u64,
    needed: u64,
}

/// What the daemon opens for itself: the database with its connections, listeners, the folder of journals, a backup.
const OWN: u64 = 64;
/// What the runtime of a thread opens.
const THREAD: u64 = 4;
/// A connection has its socket and the journal of its game.
const CONNECTION: u64 = 2;
/// A followed log, or a webhook: the file or socket, and a second one while it changes.
const FOLLOWED: u64 = 2;

/// How many a daemon of this configuration needs.
fn needed(config: &Config) -> u64 {
    let threads = config.server.threads() as u64;
    let connections = config.server.limits.max_connections.get();
    let visitors = config.web.pages.limits.max_connections.get();
    let followed = (config.follow.len() + config.webhook.len()) as u64;
    OWN + THREAD * threads
        + CONNECTION * u64::from(connections)
        + u64::from(visitors)
        + FOLLOWED * followed
}

/// Raises the number that this process may have open as far as it needs and may.
///
/// # Errors
/// That is not far enough.
#[cfg(unix)]
pub(super) fn have_enough(config: &Config) -> Result<(), TooFewDescriptors> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let needed = needed(config);
    let limit = getrlimit(Resource::Nofile);
    // `None` stands for no limit.
    let is_enough = |limit: Option<u64>| limit.is_none_or(|limit| limit >= needed);
    if is_enough(limit.current) {
        return Ok(());
    }
    let raised = Rlimit {
        current: Some(limit.maximum.map_or(needed, |most| most.min(needed))),
        maximum: limit.maximum,
    };
    let set = setrlimit(Resource::Nofile, raised);
    let allowed = getrlimit(Resource::Nofile).current;
    if is_enough(allowed) {
        return Ok(());
    }
    tracing::debug!(?set, "the limit is not raised far enough");
    let allowed = allowed.unwrap_or(u64::MAX);
    Err(TooFewDescriptors { allowed, needed })
}

/// Here, there is no such limit.
#[cfg(not(unix))]
pub(super) fn have_enough(_: &Config) -> Result<(), TooFewDescriptors> {
    Ok(())
}
