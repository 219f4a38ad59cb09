//! Signals that stop a command, or that make the daemon read its configuration again.

use std::io;

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
