//! Connecting to a daemon, encrypted or not: which certificates are trusted, and the name that the daemon must prove.

use std::{io, sync::Arc};

use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpStream, ToSocketAddrs},
    time::timeout,
};
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, ServerName, pem::PemObject},
    },
};

use super::{Client, ClientError, ClientSettings, ReplyReceiver, RequestSender};

impl Client {
    /// Connects with the default settings.
    ///
    /// # Errors
    /// [`ClientError::Connect`] or [`ClientError::ConnectTimeout`].
    pub async fn connect(address: impl ToSocketAddrs) -> Result<Self, ClientError> {
        Self::connect_with(address, ClientSettings::default()).await
    }

    /// Connects.
    ///
    /// # Errors
    /// [`ClientError::Connect`] or [`ClientError::ConnectTimeout`].
    pub async fn connect_with(
        address: impl ToSocketAddrs,
        settings: ClientSettings,
    ) -> Result<Self, ClientError> {
        let stream = in_time(settings, connected(address)).await?;
        let (reader, writer) = stream.into_split();
        Ok(Self::over(reader, writer, settings))
    }

    /// Connects to the daemon's address for encrypted connections.
    ///
    /// # Errors
    /// [`ClientError::ConnectTimeout`], and [`ClientError::Connect`] also if the daemon does not prove what
    /// `trust` demands.
    pub async fn connect_encrypted(
        address: impl ToSocketAddrs,
        trust: &Trust,
        settings: ClientSettings,
    ) -> Result<Self, ClientError> {
        let connecting = async { trust.encrypt(connected(address).await?).await };
        let stream = in_time(settings, connecting).await?;
        let (reader, writer) = tokio::io::split(stream);
        Ok(Self::over(reader, writer, settings))
    }

    fn over(
        reader: impl AsyncRead + Send + Unpin + 'static,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        settings: ClientSettings,
    ) -> Self {
        let receiver = ReplyReceiver::new(Box::new(reader), settings.max_line_bytes);
        Self::new(RequestSender::new(Box::new(writer)), receiver, settings)
    }
}

/// Connects, so that each request is sent at once: they are small, and the caller waits for their replies.
async fn connected(address: impl ToSocketAddrs) -> io::Result<TcpStream> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

async fn in_time<T>(
    settings: ClientSettings,
    connecting: impl Future<Output = io::Result<T>>,
) -> Result<T, ClientError> {
    let limit = settings.connect_timeout;
    match timeout(limit, connecting).await {
        Ok(connected) => connected.map_err(ClientError::Connect),
        Err(_) => Err(ClientError::ConnectTimeout(limit)),
    }
}

/// What a daemon must prove on an encrypted connection: that its certificate is for a name, and was issued
/// by one of these certificates.
#[derive(Clone)]
pub struct Trust {
    connector: TlsConnector,
    name: ServerName<'static>,
}

impl std::fmt::Debug for Trust {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Trust")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Trust {
    /// Trusts the certificates in `pem`, which is the content of a file in the format PEM: those of the
    /// authorities, or a daemon's own one that nobody else has signed. `host` is the name or the IP address
    /// that the daemon's certificate must have.
    ///
    /// # Errors
    /// [`ClientError::Trust`] if the text contains no usable certificate, or `host` is no name.
    pub fn new(pem: &[u8], host: &str) -> Result<Self, ClientError> {
        let wrong = |why: String| ClientError::Trust(why);
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
            let added = roots.add(certificate);
            added.map_err(|error| wrong(error.to_string()))?;
        }
        if roots.is_empty() {
            return Err(wrong("there is no certificate in the file".to_owned()));
        }
        let name = ServerName::try_from(host.to_owned());
        let name = name.map_err(|_| wrong(format!("{host} is no host name")))?;
        let provider = Arc::new(ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| wrong(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(Self {
            connector: TlsConnector::from(Arc::new(config)),
            name,
        })
    }

    /// Encrypts a connection, once the daemon has proved its name.
    pub(super) async fn encrypt(&self, stream: TcpStream) -> std::io::Result<TlsStream<TcpStream>> {
        self.connector.connect(self.name.clone(), stream).await
    }
}
