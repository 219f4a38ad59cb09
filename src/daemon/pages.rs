//! What the daemon serves over HTTP: the statistics pages, and metrics for operators.

use std::{io, sync::Arc, time::Duration};

use tokio::{net::TcpListener, time::sleep};

use super::{DaemonError, Tasks, bind_address, open::PageThreads};
use crate::{
    config::{Config, WebAddress, WebSection},
    server::{ConnectionLimits, Gate, Service, ServiceError, watch::Monitor},
    web::{self, Audience, Site},
};

/// The listeners over HTTP.
pub(super) struct PageListeners {
    /// The listener of the pages, if there are any.
    pages: Option<TcpListener>,
    /// The listener that serves only metrics, if there is one.
    metrics: Option<TcpListener>,
}

/// The listeners over HTTP, and what they show.
pub(super) struct PageServer {
    site: Arc<Site>,
    service: Arc<Service>,
    listeners: PageListeners,
}

/// How often it is checked whether the rating systems are to be compared.
const COMPARISONS: Duration = Duration::from_secs(60);

impl PageListeners {
    /// Binds the addresses of the pages and of the metrics. There are no pages if there are to be none, or if
    /// another program has the default address.
    ///
    /// # Errors
    /// Fails if an address that the operator has set cannot be bound.
    pub(super) async fn bind(web: &WebSection) -> Result<Self, DaemonError> {
        let pages = listen(web).await?;
        let metrics = match web.metrics_listen {
            None => None,
            Some(address) => Some(bind_address("[web] metrics_listen", address).await?),
        };
        Ok(Self { pages, metrics })
    }
}

impl PageServer {
    /// Shows the service at these listeners, and logs where.
    ///
    /// # Errors
    /// Fails if the operating system does not return the address of a listener.
    pub(super) fn new(
        listeners: PageListeners,
        config: &Config,
        gate: &Arc<Gate>,
        service: &Arc<Service>,
        monitor: &Arc<Monitor>,
    ) -> Result<Self, DaemonError> {
        let PageListeners { pages, metrics } = &listeners;
        let web = &config.web;
        let base = &web.pages.base_path;
        if let Some(listener) = pages {
            let bound = listener.local_addr()?;
            tracing::info!("statistics pages are at http://{bound}{base}/");
            if config.api.enabled {
                tracing::info!("programs can call http://{bound}{base}/v1");
            }
        }
        if config.api.enabled && pages.is_none() {
            tracing::warn!("there is no /v1, because there are no pages: see [web] listen");
        }
        if let Some(listener) = metrics {
            let bound = listener.local_addr()?;
            tracing::info!("metrics are at http://{bound}/metrics");
        }
        let site = Site::new(service.clone(), web.pages.clone());
        let from = web.metrics_from.clone();
        let site = site.with_metrics(monitor.clone(), from, metrics.is_none());
        let site = site.with_api(config.api.clone(), gate.clone());
        let site = site.with_team_names(config.team_names().map_err(ServiceError::Pattern)?);
        Ok(Self {
            site: Arc::new(site),
            listeners,
            service: service.clone(),
        })
    }

    /// Serves on these threads until the tasks are stopped.
    pub(super) fn start(self, tasks: &Tasks, limits: ConnectionLimits, threads: &PageThreads) {
        let drain = limits.drain_seconds.duration();
        let PageListeners { pages, metrics } = self.listeners;
        if pages.is_some() {
            let service = self.service;
            tasks.spawn(async move { compare_systems(service).await });
        }
        for (listener, audience) in [(pages, Audience::Visitors), (metrics, Audience::Operators)] {
            if let Some(listener) = listener {
                let (tracker, stop) = (tasks.tracker.clone(), tasks.stop.clone());
                let served = (self.site.clone(), audience);
                let serving = web::run(listener, served, tracker, stop, drain);
                threads.spawn(&tasks.tracker, serving);
            }
        }
    }
}

/// Compares the rating systems whenever that is due, until dropped.
async fn compare_systems(service: Arc<Service>) {
    loop {
        let learning = service.learning();
        if !learning.is_starting() {
            let now = service.sessions().clock().now();
            match learning.compare_systems(now).await {
                Ok(true) => tracing::info!("rating systems compared"),
                Ok(false) => {}
                Err(error) => tracing::warn!(%error, "cannot compare the rating systems"),
            }
        }
        sleep(COMPARISONS).await;
    }
}

/// The listener of the pages.
async fn listen(web: &WebSection) -> Result<Option<TcpListener>, DaemonError> {
    let WebAddress::At(address) = web.listen else {
        return Ok(None);
    };
    match bind_address("[web] listen", address).await {
        Ok(listener) => Ok(Some(listener)),
        Err(DaemonError::Listen { source, .. })
            if !web.listen_is_set && source.kind() == io::ErrorKind::AddrInUse =>
        {
            tracing::warn!(
                "there are no statistics pages: another program has {address}; see [web] listen"
            );
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
