//! The line protocol over TCP: accepts connections, enforces the [`Limits`] and what the [`Gate`] permits, and drains on
//! shutdown. `access` decides who may connect, do what, and how fast; [`watch`] is what operators see of the service.
//!
//! The caller provides the listener and the cancellation token; this room opens no port and handles
//! no signal. Whatever a peer sends, its connection costs one task and a bounded buffer for a
//! bounded time. Entry point: [`run`].

pub mod access;
mod caller;
mod connection;
mod dispatch;
mod error;
mod gate;
mod host;
mod listeners;
mod metrics;
mod peer;
mod queue;
mod runtimes;
mod service;
mod settings;
mod tls;
pub mod watch;

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use bytes::BytesMut;
use runtimes::{Detached, Runtimes};
use tokio::{
    io::AsyncWriteExt,
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time,
};
use tokio_rustls::TlsAcceptor;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::Instrument;

use crate::protocol::{Code, Refusal, Reply};

pub use caller::Caller;
pub use connection::{Stream, serve};
pub use dispatch::refusal as session_refusal;
pub use error::TlsError;
pub use gate::Gate;
pub use listeners::{Listeners, TlsListener};
pub use metrics::ServerMetrics;
pub use peer::Peer;
pub use queue::refusal as queue_refusal;
pub use service::{Service, ServiceError, ServiceSettings};
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
        runtimes: Runtimes::new(&listeners.runtimes),
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
    runtimes: Runtimes,
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
        let mut fails = false;
        loop {
            match listener.accept().await {
                Ok((stream, address)) => {
                    if std::mem::take(&mut fails) {
                        tracing::info!("connections are accepted again");
                    }
                    self.admit(stream, address, tls);
                }
                Err(error) => {
                    if !std::mem::replace(&mut fails, true) {
                        tracing::warn!(%error, "cannot accept a connection");
                    }
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
            .and_then(|_| Peer::enter(&self.gate, address.ip()));
        let metrics = self.gate.metrics();
        match (&room, &peer) {
            (Err(_), _) => metrics.refused.count(),
            (Ok(_), None) => metrics.refused_by_address.count(),
            (Ok(_), Some(_)) => metrics.accepted[usize::from(tls.is_some())].count(),
        }
        match (room, peer, tls) {
            (Ok(permit), Some(peer), tls) => self.start(stream, address, permit, peer, tls),
            (Ok(_), None, None) => self.refuse(stream, "too many connections from your address"),
            (Err(_), _, None) => self.refuse(stream, "too many connections"),
            (_, _, Some(_)) => tracing::debug!("refusing an encrypted connection"),
        }
    }

    /// Runs a connection as a task that holds the permit.
    fn start(
        &self,
        stream: TcpStream,
        address: SocketAddr,
        permit: OwnedSemaphorePermit,
        peer: Peer,
        tls: Option<&TlsListener>,
    ) {
        let admitted = Admitted {
            service: self.service.clone(),
            limits: self.limits,
            peer,
            stop: self.stop.clone(),
            shake: tls.map(|tls| (tls.identity.acceptor(), tls.handshake)),
        };
        let slot = self.runtimes.take();
        let runtime = slot.runtime().cloned();
        // Replies are small, and game servers wait for them.
        let _ = stream.set_nodelay(true);
        let Ok(stream) = slot.detach(stream) else {
            return;
        };
        let drop_all = self.drop_all.child_token();
        let span = tracing::debug_span!("connection", peer = %address);
        let serving = async move {
            let _held = (permit, slot);
            let serving = admitted.serve(stream).instrument(span);
            drop_all.run_until_cancelled(serving).await;
        };
        match runtime {
            Some(runtime) => self.tasks.spawn_on(serving, &runtime),
            None => self.tasks.spawn(serving),
        };
    }

    /// Refuses a connection with an error line. The peer has one second to close its side.
    fn refuse(&self, mut stream: TcpStream, why: &str) {
        tracing::debug!(why, "refusing a connection");
        self.gate.metrics().error(Code::Overloaded);
        let mut bytes = BytesMut::new();
        Reply::Error(Refusal::new(Code::Overloaded, why)).encode(&mut bytes);
        // The send buffer of a new connection is empty, so the line fits without waiting.
        let sent: io::Result<usize> = stream.try_write(&bytes);
        tracing::trace!(?sent, "refusal sent");
        self.tasks.spawn(async move {
            let _ = time::timeout(Duration::from_secs(1), stream.shutdown()).await;
        });
    }
}

/// A connection that is let in, and what it is served with.
struct Admitted {
    service: Arc<Service>,
    limits: Limits,
    peer: Peer,
    stop: CancellationToken,
    /// For an encrypted connection, what accepts it, and the time limit of the handshake.
    shake: Option<(TlsAcceptor, Duration)>,
}

impl Admitted {
    async fn serve(self, stream: Detached) {
        let (limits, peer, stop) = (self.limits, self.peer, self.stop);
        let Ok(stream) = stream.attach() else { return };
        let Some((acceptor, limit)) = self.shake else {
            serve(stream, &self.service, limits, peer, stop).await;
            return;
        };
        let shaking = time::timeout(limit, acceptor.accept(stream));
        match stop.run_until_cancelled(shaking).await {
            Some(Ok(Ok(stream))) => {
                serve(stream, &self.service, limits, peer, stop).await;
            }
            Some(Ok(Err(error))) => tracing::debug!(%error, "no encrypted connection"),
            Some(Err(_)) => tracing::debug!("the handshake takes too long"),
            None => {}
        }
    }
}
