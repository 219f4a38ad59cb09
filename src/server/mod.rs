//! TCP: accepts game servers, holds every limit against them, and drains when told to stop.
//!
//! The listener and the stop are given; nothing here opens a port or installs a signal handler.
//! A peer can be slow, silent, mad or many, and costs a bounded buffer and one task for a bounded
//! time. Entry point: [`run`].

mod connection;
mod dispatch;

use std::{io, sync::Arc, time::Duration};

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

/// What a connection may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a line, without its end.
    pub max_line_bytes: usize,
    /// Connections at once.
    pub max_connections: usize,
    /// Errors since the last GAME.
    pub max_errors: u32,
    /// Until the first whole line.
    pub first_line: Duration,
    /// From a line's first byte to its end.
    pub line: Duration,
    /// Without a line.
    pub idle: Duration,
    /// Until the peer has taken what is written.
    pub write: Duration,
    /// For all connections to end, once told to.
    pub drain: Duration,
}

/// Serves until `stop` is cancelled, then lets every session finish the command it is in, send the
/// replies it owes, and close; after [`Limits::drain`] the rest is dropped.
pub async fn run(
    listener: TcpListener,
    service: Arc<Service>,
    limits: Limits,
    stop: CancellationToken,
) {
    let tasks = TaskTracker::new();
    let room = Arc::new(Semaphore::new(limits.max_connections));
    let door = Door {
        service,
        limits,
        stop: stop.clone(),
        tasks: tasks.clone(),
        room,
    };
    stop.run_until_cancelled(door.accept_all(&listener)).await;
    drop(listener);
    tasks.close();
    if time::timeout(limits.drain, tasks.wait()).await.is_err() {
        tracing::warn!(connections = tasks.len(), "not drained in time, dropped");
    }
}

/// What every new connection is given.
struct Door {
    service: Arc<Service>,
    limits: Limits,
    stop: CancellationToken,
    tasks: TaskTracker,
    room: Arc<Semaphore>,
}

impl Door {
    async fn accept_all(&self, listener: &TcpListener) {
        loop {
            match listener.accept().await {
                Ok((stream, peer)) => match self.room.clone().try_acquire_owned() {
                    Ok(permit) => self.welcome(stream, peer, permit),
                    Err(_) => self.turn_away(stream),
                },
                Err(error) => {
                    tracing::warn!(%error, "cannot accept");
                    // Out of file descriptors, most likely: let some connections end first.
                    time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }

    fn welcome(&self, stream: TcpStream, peer: std::net::SocketAddr, permit: OwnedSemaphorePermit) {
        let (service, limits, stop) = (self.service.clone(), self.limits, self.stop.clone());
        self.tasks.spawn(async move {
            let _permit = permit;
            // Replies are small and waited for.
            let _ = stream.set_nodelay(true);
            let span = tracing::debug_span!("connection", %peer);
            serve(stream, &service, limits, stop).instrument(span).await;
        });
    }

    /// Says why, in the background and only for a moment: there is no room for those who are slow.
    fn turn_away(&self, mut stream: TcpStream) {
        tracing::debug!("too many connections, one turned away");
        let text = "too many connections".to_owned();
        let mut bytes = BytesMut::new();
        Reply::Error(Refusal {
            code: Code::Overloaded,
            text,
        })
        .encode(&mut bytes);
        // A new connection's buffer is empty, so this neither waits nor fails for want of room.
        let sent: io::Result<usize> = stream.try_write(&bytes);
        tracing::trace!(?sent, "told so");
        self.tasks.spawn(async move {
            let _ = time::timeout(Duration::from_secs(1), stream.shutdown()).await;
        });
    }
}
