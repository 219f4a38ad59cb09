//! The sockets on which connections come in, and the runtimes that serve them.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use tokio::{net::TcpListener, runtime::Handle};

use super::TlsIdentity;

/// The sockets on which connections come in, and the runtimes that serve them.
#[derive(Debug)]
pub struct Listeners {
    /// The socket for lines as they are.
    pub plain: TcpListener,
    /// The socket for encrypted lines.
    pub tls: Option<TlsListener>,
    /// The runtimes on which connections are served; if there are none, that of the listeners.
    pub runtimes: Vec<Handle>,
}

/// A socket for encrypted lines.
#[derive(Debug)]
pub struct TlsListener {
    /// The socket itself.
    pub listener: TcpListener,
    /// The certificate that it shows.
    pub identity: Arc<TlsIdentity>,
    /// The time limit of the handshake.
    pub handshake: Duration,
}

impl Listeners {
    /// The addresses of all sockets.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        let tls = self.tls.as_ref().map(|tls| &tls.listener);
        let sockets = [Some(&self.plain), tls].into_iter().flatten();
        sockets
            .filter_map(|socket| socket.local_addr().ok())
            .collect()
    }
}

impl From<TcpListener> for Listeners {
    fn from(plain: TcpListener) -> Self {
        Self {
            plain,
            tls: None,
            runtimes: Vec::new(),
        }
    }
}
