//! The signals that ask a command to stop.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Waits for SIGTERM or SIGINT; on systems without them, for Ctrl-C.
///
/// Signals count from [`install`](Self::install) on, so that one that arrives while a command still
/// starts is not lost.
#[derive(Debug)]
pub struct ShutdownSignal {
    #[cfg(unix)]
    terminate: Signal,
    #[cfg(unix)]
    interrupt: Signal,
}

impl ShutdownSignal {
    /// Installs the handlers.
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

    /// Installs the handlers.
    ///
    /// # Errors
    /// Never fails here.
    #[cfg(not(unix))]
    pub fn install() -> io::Result<Self> {
        Ok(Self {})
    }

    /// Resolves at the next signal.
    #[cfg(unix)]
    pub async fn wait(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => tracing::info!("SIGTERM, draining"),
            _ = self.interrupt.recv() => tracing::info!("interrupted, draining"),
        }
    }

    /// Resolves at the next Ctrl-C.
    #[cfg(not(unix))]
    pub async fn wait(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            // Without a handler there is no signal to wait for.
            std::future::pending::<()>().await;
        }
        tracing::info!("interrupted, draining");
    }
}
