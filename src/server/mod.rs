//! TCP: accepts connections, enforces the [`Limits`] and what the [`Gate`] permits, and drains on shutdown.
//!
//! The caller provides the listener and the cancellation token; this room opens no port and handles
//! no signal. Whatever a peer sends, its connection costs one task and a bounded buffer for a
//! bounded time. Entry point: [`run`].

mod connection;
mod dispatch;
mod error;
mod gate;
mod host;
mod listeners;
mod metrics;
mod peer;
mod queue;
mod settings;
mod tls;

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use bytes::BytesMut;
use tokio::{
    io::AsyncWriteExt,
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::Instrument;

use crate::{
    protocol::{Code, Refusal, Reply},
    service::Service,
};

pub use connection::serve;
pub use error::TlsError;
pub use gate::Gate;
pub use listeners::{Listeners, TlsListener};
pub use metrics::ServerMetrics;
pub use peer::Peer;
pub use settings::Limits;
pub use tls::TlsIdentity;

/// Serves until `stop` is cancelled; connections are tasks of `tasks`. Then each session finishes its
/// current command, sends the pending replies and closes. Connections that have not ended after
/// [`Limits::drain_seconds`] are dropped with what they wait for. Returns once all connections have ended.
pub async fn run(
    listeners: Listeners,
    service: Arc<Service>,
    limits: Limits,
    gate: Arc<Gate>,
    tasks: TaskTracker,
    stop: CancellationToken,
) {
    let most = limits.max_connections.as_usize();
    let room = Arc::new(Semaphore::new(most));
    let drop_all = CancellationToken::new();
    let acceptor = Acceptor {
        service,
        limits,
        gate,
        stop: stop.clone(),
        drop_all: drop_all.clone(),
        tasks,
        room: room.clone(),
    };
    stop.run_until_cancelled(acceptor.accept_everywhere(&listeners))
        .await;
    drop(listeners);
    // Each connection holds a permit until it ends.
    let all = || room.acquire_many(u32::try_from(most).unwrap_or(u32::MAX));
    let drained = time::timeout(limits.drain_seconds.duration(), all()).await;
    if drained.is_err() {
        tracing::warn!(
            connections = most - room.available_permits(),
            "dropping connections that did not drain in time"
        );
        drop_all.cancel();
        let _ = all().await;
    }
}

/// Accepts connections, and holds the state that all of them share.
struct Acceptor {
    service: Arc<Service>,
    limits: Limits,
    gate: Arc<Gate>,
    stop: CancellationToken,
    /// When cancelled, every connection is dropped, whatever it waits for.
    drop_all: CancellationToken,
    tasks: TaskTracker,
    room: Arc<Semaphore>,
}

impl Acceptor {
    async fn accept_everywhere(&self, listeners: &Listeners) {
        let plain = self.accept_all(&listeners.plain, None);
        match &listeners.tls {
            None => plain.await,
            Some(tls) => {
                tokio::join!(plain, self.accept_all(&tls.listener, Some(tls)));
            }
        }
    }

    async fn accept_all(&self, listener: &TcpListener, tls: Option<&TlsListener>) {
        loop {
            match listener.accept().await {
                Ok((stream, address)) => self.admit(stream, address, tls),
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    // The process has probably run out of file descriptors: give other connections
                    // time to end.
                    time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }

    /// Starts a connection, if there is room for one from this address. One that would be encrypted is
    /// otherwise closed without a reason, because there is no handshake.
    fn admit(&self, stream: TcpStream, address: SocketAddr, tls: Option<&TlsListener>) {
        let room = self.room.clone().try_acquire_owned();
        let peer = room
            .as_ref()
            .ok()
            .and_then(|_| self.gate.enter(address.ip()));
        let metrics = self.gate.metrics();
        match (&room, &peer) {
            (Err(_), _) => metrics.refused.count(),
            (Ok(_), None) => metrics.refused_by_address.count(),
            (Ok(_), Some(_)) => metrics.accepted[usize::from(tls.is_some())].count(),
        }
        match (room, peer, tls) {
            (Ok(permit), Some(peer), None) => {
                let serving = self.serve(stream, peer);
                self.start(address, permit, serving);
            }
            (Ok(permit), Some(peer), Some(tls)) => {
                let serving = self.shake_hands_and_serve(stream, peer, tls);
                self.start(address, permit, serving);
            }
            (Ok(_), None, None) => self.refuse(stream, "too many connections from your address"),
            (Err(_), _, None) => self.refuse(stream, "too many connections"),
            (_, _, Some(_)) => tracing::debug!("refusing an encrypted connection"),
        }
    }

    /// Runs a connection as a task that holds the permit.
    fn start(
        &self,
        address: SocketAddr,
        permit: OwnedSemaphorePermit,
        serving: impl Future<Output = ()> + Send + 'static,
    ) {
        let drop_all = self.drop_all.clone();
        let span = tracing::debug_span!("connection", peer = %address);
        self.tasks.spawn(async move {
            let _permit = permit;
            drop_all.run_until_cancelled(serving.instrument(span)).await;
        });
    }

    fn serve(&self, stream: TcpStream, peer: Peer) -> impl Future<Output = ()> + use<> {
        let (service, limits, stop) = (self.service.clone(), self.limits, self.stop.clone());
        // Replies are small, and game servers wait for them.
        let _ = stream.set_nodelay(true);
        async move {
            serve(stream, &service, limits, peer, stop).await;
        }
    }

    fn shake_hands_and_serve(
        &self,
        stream: TcpStream,
        peer: Peer,
        tls: &TlsListener,
    ) -> impl Future<Output = ()> + use<> {
        let (service, limits, stop) = (self.service.clone(), self.limits, self.stop.clone());
        let _ = stream.set_nodelay(true);
        let shaking = time::timeout(tls.handshake, tls.identity.acceptor().accept(stream));
        async move {
            match stop.run_until_cancelled(shaking).await {
                Some(Ok(Ok(stream))) => {
                    serve(stream, &service, limits, peer, stop).await;
                }
                Some(Ok(Err(error))) => tracing::debug!(%error, "no encrypted connection"),
                Some(Err(_)) => tracing::debug!("the handshake takes too long"),
                None => {}
            }
        }
    }

    /// Refuses a connection with an error line. The peer has one second to close its side.
    fn refuse(&self, mut stream: TcpStream, why: &str) {
        tracing::debug!(why, "refusing a connection");
        self.gate.metrics().error(Code::Overloaded);
        let text = why.to_owned();
        let mut bytes = BytesMut::new();
        Reply::Error(Refusal {
            code: Code::Overloaded,
            text,
        })
        .encode(&mut bytes);
        // The send buffer of a new connection is empty, so the line fits without waiting.
        let sent: io::Result<usize> = stream.try_write(&bytes);
        tracing::trace!(?sent, "refusal sent");
        self.tasks.spawn(async move {
            let _ = time::timeout(Duration::from_secs(1), stream.shutdown()).await;
        });
    }
}
