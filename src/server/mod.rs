//! TCP: accepts connections, enforces the [`Limits`] and what the [`Gate`] permits, and drains on shutdown.
//!
//! The caller provides the listener and the cancellation token; this room opens no port and handles
//! no signal. Whatever a peer sends, its connection costs one task and a bounded buffer for a
//! bounded time. Entry point: [`run`].

mod connection;
mod dispatch;
mod gate;
mod host;
mod peer;
mod queue;
mod settings;

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
pub use gate::Gate;
pub use peer::Peer;
pub use settings::Limits;

/// Serves until `stop` is cancelled; connections are tasks of `tasks`. Then each session finishes its
/// current command, sends the pending replies and closes. Connections that have not ended after
/// [`Limits::drain_seconds`] are dropped with what they wait for. Returns once all connections have ended.
pub async fn run(
    listener: TcpListener,
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
    stop.run_until_cancelled(acceptor.accept_all(&listener))
        .await;
    drop(listener);
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
    async fn accept_all(&self, listener: &TcpListener) {
        loop {
            match listener.accept().await {
                Ok((stream, address)) => self.admit(stream, address),
                Err(error) => {
                    tracing::warn!(%error, "cannot accept a connection");
                    // The process has probably run out of file descriptors: give other connections
                    // time to end.
                    time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }

    fn admit(&self, stream: TcpStream, address: SocketAddr) {
        let Ok(permit) = self.room.clone().try_acquire_owned() else {
            return self.refuse(stream, "too many connections");
        };
        match self.gate.enter(address.ip()) {
            Some(peer) => self.start_connection(stream, address, peer, permit),
            None => self.refuse(stream, "too many connections from your address"),
        }
    }

    fn start_connection(
        &self,
        stream: TcpStream,
        address: SocketAddr,
        peer: Peer,
        permit: OwnedSemaphorePermit,
    ) {
        let (service, limits, stop) = (self.service.clone(), self.limits, self.stop.clone());
        let drop_all = self.drop_all.clone();
        self.tasks.spawn(async move {
            let _permit = permit;
            // Replies are small, and game servers wait for them.
            let _ = stream.set_nodelay(true);
            let span = tracing::debug_span!("connection", peer = %address);
            let serving = serve(stream, &service, limits, peer, stop).instrument(span);
            drop_all.run_until_cancelled(serving).await;
        });
    }

    /// Refuses a connection with an error line. The peer has one second to close its side.
    fn refuse(&self, mut stream: TcpStream, why: &str) {
        tracing::debug!(why, "refusing a connection");
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
