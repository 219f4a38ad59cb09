//! The statistics pages of the daemon.

use std::{io, sync::Arc, time::Duration};

use tokio::{net::TcpListener, time::sleep};

use super::{DaemonError, Tasks};
use crate::{
    config::{WebAddress, WebSection},
    server::Limits,
    service::Service,
    web::{self, Site},
};

/// The listener of the pages, and what they show.
pub(super) struct PageServer {
    listener: TcpListener,
    site: Arc<Site>,
    service: Arc<Service>,
}

/// How often it is checked whether the rating systems are to be compared.
const COMPARISONS: Duration = Duration::from_secs(60);

impl PageServer {
    /// Binds the address of the pages. `None` if there are to be none, or if another program has the
    /// default address.
    ///
    /// # Errors
    /// Fails if the address that the operator has set cannot be bound.
    pub(super) async fn open(
        web: &WebSection,
        service: &Arc<Service>,
    ) -> Result<Option<Self>, DaemonError> {
        let WebAddress::At(address) = web.listen else {
            return Ok(None);
        };
        let listener = match TcpListener::bind(address).await {
            Ok(listener) => listener,
            Err(error) if !web.listen_is_set && error.kind() == io::ErrorKind::AddrInUse => {
                tracing::warn!(
                    "there are no statistics pages: another program has {address}; see [web] listen"
                );
                return Ok(None);
            }
            Err(source) => return Err(DaemonError::Listen { address, source }),
        };
        let bound = listener.local_addr()?;
        let base = &web.pages.base_path;
        tracing::info!("statistics pages are at http://{bound}{base}/");
        let site = Arc::new(Site::new(service.clone(), web.pages.clone()));
        Ok(Some(Self {
            listener,
            site,
            service: service.clone(),
        }))
    }

    /// Serves the pages until the tasks are stopped.
    pub(super) fn start(self, tasks: &Tasks, limits: Limits) {
        let (tracker, stop) = (tasks.tracker.clone(), tasks.stop.clone());
        let drain = limits.drain_seconds.duration();
        let serving = web::run(self.listener, self.site, tracker, stop, drain);
        tasks.tracker.spawn(serving);
        let comparing = compare_systems(self.service);
        let stop = tasks.stop.clone();
        let comparing = async move { stop.run_until_cancelled(comparing).await };
        tasks.tracker.spawn(comparing);
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
