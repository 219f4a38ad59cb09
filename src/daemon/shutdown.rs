//! The signals that a daemon gets, and what it reports to the service manager that started it (systemd,
//! `Type=notify`).
//!
//! - Signals stop a command, or make the daemon read its configuration again.
//! - The daemon reports that it serves, that it reads its configuration again, that it stops, and at intervals that
//!   it is alive. Without a service manager, which sets `NOTIFY_SOCKET`, it reports nothing. A report that cannot be
//!   sent is logged and changes nothing else.

use std::{io, time::Duration};

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
