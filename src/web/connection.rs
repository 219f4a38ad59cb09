//! Accepts the connections of visitors, and limits their number, size and time.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use parking_lot::Mutex;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{Site, WebSettings, routes};

/// The largest head of a request, in bytes.
const HEAD: usize = 16 * 1_024;
/// The most header fields of a request.
const FIELDS: usize = 64;
/// How long a connection whose time is over may take to send the rest of its answer.
const REST: Duration = Duration::from_secs(5);

/// Serves pages until `stop` is cancelled; connections are tasks of `tasks`. Then no connection begins
/// another request, and those that have not ended after `drain` are dropped. Returns once all have ended.
pub async fn run(
    listener: TcpListener,
    site: Arc<Site>,
    tasks: TaskTracker,
    stop: CancellationToken,
    drain: Duration,
) {
    let visitors = Visitors::new(&site.settings);
    let router = routes::router(site);
    stop.run_until_cancelled(accept_all(
        &listener, &visitors, &router, &tasks, &stop, drain,
    ))
    .await;
}

async fn accept_all(
    listener: &TcpListener,
    visitors: &Arc<Visitors>,
    router: &Router,
    tasks: &TaskTracker,
    stop: &CancellationToken,
    drain: Duration,
) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                let Some(visit) = Visit::begin(visitors, peer) else {
                    tracing::debug!(%peer, "refusing a visitor: there are too many connections");
                    continue;
                };
                let serving = serve(stream, router.clone(), visit, stop.clone(), drain);
                tasks.spawn(serving);
            }
            Err(error) => {
                tracing::warn!(%error, "cannot accept a visitor");
                // The process has probably run out of file descriptors.
                time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

/// Serves the requests of one connection, for a limited time.
async fn serve(
    stream: TcpStream,
    router: Router,
    visit: Visit,
    stop: CancellationToken,
    drain: Duration,
) {
    let limits = visit.visitors.settings.limits;
    let _ = stream.set_nodelay(true);
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_seconds.duration())
        .max_buf_size(HEAD)
        .max_headers(FIELDS)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut connection = std::pin::pin!(connection);
    let rest = tokio::select! {
        ended = connection.as_mut() => {
            tracing::trace!(?ended, "a connection of a visitor has ended");
            return;
        }
        () = time::sleep(limits.connection_seconds.duration()) => REST,
        () = stop.cancelled() => drain,
    };
    connection.as_mut().graceful_shutdown();
    let _ = time::timeout(rest, connection).await;
}

/// The connections of visitors.
struct Visitors {
    settings: WebSettings,
    room: Arc<Semaphore>,
    /// The number of connections by address, without trusted proxies.
    by_address: Mutex<HashMap<IpAddr, u32>>,
}

impl Visitors {
    fn new(settings: &WebSettings) -> Arc<Self> {
        Arc::new(Self {
            room: Arc::new(Semaphore::new(settings.limits.max_connections.as_usize())),
            by_address: Mutex::default(),
            settings: settings.clone(),
        })
    }
}

/// One connection; dropping it makes room for another.
struct Visit {
    visitors: Arc<Visitors>,
    counted: Option<IpAddr>,
    _permit: OwnedSemaphorePermit,
}

impl Visit {
    /// Counts a connection; `None` if there are too many.
    fn begin(visitors: &Arc<Visitors>, peer: SocketAddr) -> Option<Self> {
        let permit = visitors.room.clone().try_acquire_owned().ok()?;
        let address = peer.ip().to_canonical();
        let trusted = visitors.settings.trusted_proxies.contains(&address);
        if !trusted {
            let mut by_address = visitors.by_address.lock();
            let count = by_address.entry(address).or_default();
            if *count >= visitors.settings.limits.max_per_address.get() {
                return None;
            }
            *count += 1;
        }
        Some(Self {
            visitors: visitors.clone(),
            counted: (!trusted).then_some(address),
            _permit: permit,
        })
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        let Some(address) = self.counted else { return };
        let mut by_address = self.visitors.by_address.lock();
        if let Some(count) = by_address.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                by_address.remove(&address);
            }
        }
    }
}
