//! `evenkeel serve`: the daemon.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use clap::Args;
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use super::{CliError, Place, archive, log_to_stderr, open};
use crate::{
    config::Config,
    server,
    service::{Service, logs::Follower},
};

/// How long after a failure of the database the watch for new weights is tried again.
const RETRY: Duration = Duration::from_secs(1);

/// How long logs get to be put away when the daemon is told to stop.
const FOLLOWER: Duration = Duration::from_secs(1);

/// Run the daemon that game servers connect to
#[derive(Debug, Args)]
pub(super) struct ServeArgs {
    #[command(flatten)]
    place: Place,
    /// Where to listen, over the configured address
    #[arg(long, value_name = "ADDRESS:PORT", env = "EVENKEEL_LISTEN")]
    listen: Option<SocketAddr>,
}

pub(super) async fn run(args: ServeArgs) -> Result<(), CliError> {
    let mut config = args.place.load()?;
    if let Some(listen) = args.listen {
        config.server.listen = listen;
    }
    log_to_stderr(&config.log.filter)?;
    // Before anything else, so that a signal during the start is not lost.
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut told_to_stop = std::pin::pin!(async {
        tokio::select! {
            _ = terminate.recv() => tracing::info!("SIGTERM, draining"),
            _ = interrupt.recv() => tracing::info!("interrupted, draining"),
        }
    });
    let (listener, service) = tokio::select! {
        begun = begin(&config) => begun?,
        () = &mut told_to_stop => return Ok(()),
    };
    let watch = tokio::spawn(watch(service.clone()));
    let stop = CancellationToken::new();
    let follower = follow(&config, &service, stop.clone())?;
    server::run(listener, service.clone(), config.limits(), told_to_stop).await;
    watch.abort();
    stop.cancel();
    if let Some(follower) = follower {
        // What it has not put away it reads again at the next start.
        let _ = tokio::time::timeout(FOLLOWER, follower).await;
    }
    // The database has nothing to lose by now: every match was committed when it was acknowledged.
    let _ = tokio::time::timeout(Duration::from_millis(500), service.close()).await;
    tracing::info!("stopped");
    Ok(())
}

/// Opens the door, the database, and learns what there is to learn before anybody is let in.
async fn begin(config: &Config) -> Result<(TcpListener, Arc<Service>), CliError> {
    let address = config.server.listen;
    let listener = TcpListener::bind(address)
        .await
        .map_err(|source| CliError::Listen { address, source })?;
    let service = Arc::new(open(config, true).await?);
    let matches = service.match_count().await?;
    if service.refresh().await? && matches > 0 {
        tracing::info!("weights derived from the stored matches");
    }
    let database = config.store.database.display();
    tracing::info!(address = %listener.local_addr()?, %database, matches, "listening");
    if !address.ip().is_loopback() && config.server.clients.is_empty() {
        tracing::warn!("anybody who reaches {address} can use this daemon; see [server.clients]");
    }
    Ok((listener, service))
}

/// Follows the logs that the configuration names, if any.
fn follow(
    config: &Config,
    service: &Arc<Service>,
    stop: CancellationToken,
) -> Result<Option<JoinHandle<()>>, CliError> {
    let follows = config.follows();
    if follows.is_empty() {
        return Ok(None);
    }
    tracing::info!(logs = follows.len(), "following");
    let settings = &config.ingest;
    let (archive, settle) = (archive(config)?, settings.settle());
    let follower = Follower::new(service.clone(), follows, archive, settle);
    let run = follower.run(settings.interval(), stop.cancelled_owned());
    Ok(Some(tokio::spawn(run)))
}

async fn watch(service: Arc<Service>) {
    while let Err(error) = service.watch().await {
        tracing::warn!(%error, "cannot look for new weights, trying again");
        tokio::time::sleep(RETRY).await;
    }
}
