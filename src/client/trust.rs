//! Encrypted connections: which certificates are trusted, and the name that the daemon must prove.

use std::sync::Arc;

use tokio::net::TcpStream;
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, ServerName, pem::PemObject},
    },
};

use super::ClientError;

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
