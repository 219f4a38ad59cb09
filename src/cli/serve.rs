//! `evenkeel serve`: runs the daemon.

use std::{net::SocketAddr, path::PathBuf};

use clap::Args;

use super::{CliError, CommonArgs, log_to_stderr};
use crate::{
    config::{Config, LogFormat, WebAddress, parse_address},
    daemon::{
        Daemon, FileWatch, ReloadSignal, Reloader, ShutdownSignal, reload, reloaded, reloading,
    },
};

/// Run the daemon that game servers connect to
#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    common: CommonArgs,
    #[command(flatten)]
    overrides: OverrideArgs,
}

/// The flags in the place of values of the configuration.
#[derive(Debug, Args)]
pub(super) struct OverrideArgs {
    /// Listen on this address instead of the configured one
    #[arg(long, value_name = "ADDRESS:PORT", env = "EVENKEEL_LISTEN", value_parser = parse_address)]
    pub(super) listen: Option<SocketAddr>,
    /// Serve the statistics pages on this address instead of the configured one; "off" serves none
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(super) web: Option<WebAddress>,
    /// Log in this format instead of the configured one
    #[arg(long, value_name = "FORMAT")]
    pub(super) log_format: Option<LogFormat>,
}

pub(super) async fn run(args: ServeArgs) -> Result<(), CliError> {
    // Before the file is read, so that no change is missed.
    let mut watch = FileWatch::new(args.common.source().file);
    let mut config = args.common.load()?;
    watch.replace(args.common.files_of(&config));
    args.overrides.apply(&mut config);
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
        () = reload_at(signal, watch, &args.common, &running) => {}
    }
    Ok(())
}

/// Reads the configuration again at each SIGHUP, and when one of its files has changed. Takes over what can
/// change. Never returns.
async fn reload_at(
    mut signal: ReloadSignal,
    mut watch: FileWatch,
    common: &CommonArgs,
    running: &Reloader,
) {
    loop {
        tokio::select! {
            () = signal.wait() => watch.refresh(),
            () = watch.changed() => tracing::info!("the configuration has changed"),
        }
        reloading();
        match common.load() {
            Ok(config) => {
                // Before the tokens are read, so that no change of them is missed.
                watch.replace(common.files_of(&config));
                reload(running, &config).await;
            }
            Err(error) => {
                tracing::error!(%error, "the configuration cannot be read again; the old one stays");
            }
        }
        reloaded();
    }
}

impl OverrideArgs {
    fn apply(&self, config: &mut Config) {
        if let Some(listen) = self.listen {
            config.server.listen = listen;
        }
        if let Some(web) = self.web {
            config.web.listen = web;
            config.web.listen_is_set = true;
        }
        if let Some(format) = self.log_format {
            config.log.format = format;
        }
    }
}

impl CommonArgs {
    /// The files that the configuration consists of: its own, and those of tokens.
    fn files_of(&self, config: &Config) -> Vec<PathBuf> {
        let mut files = config.token_files();
        files.extend(self.source().file);
        files
    }
}
