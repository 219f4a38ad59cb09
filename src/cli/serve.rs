//! `evenkeel serve`: runs the daemon.

use std::net::SocketAddr;

use clap::Args;

use super::{CliError, CommonArgs, log_to_stderr};
use crate::{
    config::{LogFormat, WebAddress},
    daemon::{Daemon, ReloadSignal, Reloader, ShutdownSignal, reload, reloaded, reloading},
};

/// Run the daemon that game servers connect to
#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    common: CommonArgs,
    /// Listen on this address instead of the configured one
    #[arg(long, value_name = "ADDRESS:PORT", env = "EVENKEEL_LISTEN")]
    listen: Option<SocketAddr>,
    /// Serve the statistics pages on this address instead of the configured one; "off" serves none
    #[arg(long, value_name = "ADDRESS:PORT")]
    web: Option<WebAddress>,
    /// Log in this format instead of the configured one
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<LogFormat>,
}

pub(super) async fn run(args: ServeArgs) -> Result<(), CliError> {
    let mut config = args.common.load()?;
    if let Some(listen) = args.listen {
        config.server.listen = listen;
    }
    if let Some(web) = args.web {
        config.web.listen = web;
        config.web.listen_is_set = true;
    }
    if let Some(format) = args.log_format {
        config.log.format = format;
    }
    log_to_stderr(&config.log)?;
    // Install this first, so that a signal during the start is not lost.
    let mut shutdown = ShutdownSignal::install()?;
    let signal = ReloadSignal::install()?;
    let daemon = tokio::select! {
        daemon = Daemon::open(&config) => daemon?,
        () = shutdown.wait() => return Ok(()),
    };
    let running = daemon.reloader();
    tokio::select! {
        () = daemon.run(shutdown.wait()) => {}
        () = reload_at(signal, &args.common, &running) => {}
    }
    Ok(())
}

/// Reads the configuration again at each SIGHUP, and takes over what can change. Never returns.
async fn reload_at(mut signal: ReloadSignal, common: &CommonArgs, running: &Reloader) {
    loop {
        signal.wait().await;
        reloading();
        match common.load() {
            Ok(config) => reload(running, &config).await,
            Err(error) => tracing::error!(%error, "the configuration cannot be read again"),
        }
        reloaded();
    }
}
