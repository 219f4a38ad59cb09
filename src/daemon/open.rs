//! Opens what the configuration names: the database, the listeners, the journal, and the logs.

use std::{net::SocketAddr, path::Path, sync::Arc, time::Duration};

use tokio::net::TcpListener;

use super::DaemonError;
use crate::{
    config::Config,
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
    let store = store::open_at(&config.database(), create, busy).await?;
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
    let bound = TcpListener::bind(address).await;
    bound.map_err(|source| DaemonError::Listen {
        key,
        address,
        source,
    })
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

/// Opens the archive of logs, if one is configured.
///
/// # Errors
/// Fails if the folder cannot be created or read.
pub fn open_archive(config: &Config) -> Result<Option<Arc<Archive>>, LogError> {
    config.ingest.archive().map(Archive::open).transpose()
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
