//! `evenkeel serve`: runs the daemon.

use std::net::SocketAddr;

use clap::Args;

use super::{CliError, CommonArgs, log_to_stderr};
use crate::daemon::{Daemon, ShutdownSignal};

/// Run the daemon that game servers connect to
#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    common: CommonArgs,
    /// Listen on this address instead of the configured one
    #[arg(long, value_name = "ADDRESS:PORT", env = "EVENKEEL_LISTEN")]
    listen: Option<SocketAddr>,
}

pub(super) async fn run(args: ServeArgs) -> Result<(), CliError> {
    let mut config = args.common.load()?;
    if let Some(listen) = args.listen {
        config.server.listen = listen;
    }
    log_to_stderr(&config.log.filter)?;
    // Install this first, so that a signal during the start is not lost.
    let mut shutdown = ShutdownSignal::install()?;
    let daemon = tokio::select! {
        daemon = Daemon::open(&config) => daemon?,
        () = shutdown.wait() => return Ok(()),
    };
    daemon.run(shutdown.wait()).await;
    Ok(())
}
