//! `evenkeel follow`: reads logs while they are written.

use std::path::PathBuf;

use clap::Args;

use super::{CliError, CommonArgs, ingest::OriginArgs, log_to_stderr, open};
use crate::{
    daemon::{self, ShutdownSignal},
    logs::Follow,
};

/// Learn from logs while they are written, until SIGTERM or Ctrl-C
///
/// Each match is recorded once, as it ends. A log may be rotated or truncated, and need not exist
/// yet. The daemon does the same for the logs that [[follow]] names in its configuration.
#[derive(Debug, Args)]
pub(super) struct FollowArgs {
    /// Logs, or folders of logs
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    #[command(flatten)]
    origin: OriginArgs,
    #[command(flatten)]
    common: CommonArgs,
}

pub(super) async fn run(args: FollowArgs) -> Result<(), CliError> {
    if args.paths.iter().any(|path| path.as_os_str() == "-") {
        let why =
            "follow reads files, not standard input: use `evenkeel ingest -`, or name the file ./-";
        return Err(CliError::input(why));
    }
    let config = args.common.load()?;
    log_to_stderr(&config.log)?;
    let mut shutdown = ShutdownSignal::install()?;
    let service = open(&config, true).await?;
    service.learning().refresh().await?;
    let follow = |path: &PathBuf| Follow {
        path: path.clone(),
        format: args.origin.format(),
        server: args.origin.server.clone(),
        game: args.origin.game.clone(),
        zone: args.origin.time_zone.clone(),
    };
    let follows = args.paths.iter().map(follow).collect();
    let follower = daemon::follow(&config, &service, follows)?;
    let interval = config.ingest.interval();
    follower.run(interval, shutdown.wait()).await;
    service.close().await;
    tracing::info!("stopped");
    Ok(())
}
