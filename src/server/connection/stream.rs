//! What a connection is served over.

use tokio::{
    io::{AsyncRead, AsyncWrite, DuplexStream},
    net::TcpStream,
};
use tokio_rustls::server::TlsStream;

/// The stream of bytes of a connection.
pub trait Stream: AsyncRead + AsyncWrite + Unpin {
    /// Acknowledges at once what has been read, where the system can. It would otherwise wait some 40 ms for a reply that
    /// carries the acknowledgement, and a client with Nagle's algorithm sends its next line only then.
    fn acknowledge(&self);
}

impl Stream for TcpStream {
    fn acknowledge(&self) {
        // It is only faster: a system that refuses acknowledges later.
        #[cfg(any(target_os = "linux", target_os = "android"))]
        let _ = self.set_quickack(true);
    }
}

impl Stream for TlsStream<TcpStream> {
    fn acknowledge(&self) {
        self.get_ref().0.acknowledge();
    }
}

/// Within one process, nothing is acknowledged.
impl Stream for DuplexStream {
    fn acknowledge(&self) {}
}
