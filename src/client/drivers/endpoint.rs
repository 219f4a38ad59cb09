//! Where a sidecar reaches Evenkeel's daemon.

use std::{fmt, net::SocketAddr};

use crate::client::{Client, ClientError, ClientSettings, Trust};

/// The daemon's plain address, or the one for encrypted connections.
#[derive(Clone, Debug)]
pub enum DaemonEndpoint {
    /// A plain connection.
    Plain(SocketAddr),
    /// An encrypted connection to this host and port, with the certificates that are trusted.
    Encrypted(String, u16, Trust),
}

impl fmt::Display for DaemonEndpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(address) => address.fmt(f),
            Self::Encrypted(host, port, _) => write!(f, "tls://{host}:{port}"),
        }
    }
}

impl DaemonEndpoint {
    /// Connects.
    ///
    /// # Errors
    /// Fails for the reasons of [`Client::connect`] and [`Client::connect_encrypted`].
    pub(super) async fn connect(&self) -> Result<Client, ClientError> {
        match self {
            Self::Plain(address) => Client::connect(address).await,
            Self::Encrypted(host, port, trust) => {
                let settings = ClientSettings::default();
                Client::connect_encrypted((host.as_str(), *port), trust, settings).await
            }
        }
    }
}
