//! The certificates for the allocator service, read again when their files change.

use std::{
    fs,
    io::{self, Read},
    path::Path,
    time::SystemTime,
};

use ureq::{
    Agent,
    tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem},
};

use super::{AT_ONCE, AllocatorError};
use crate::matchmaking::lifecycle::AgonesSettings;

/// The longest file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// The time of the last change of a file, and its length; `None` if it cannot be read.
type Stamp = Option<(SystemTime, u64)>;

/// What sends requests with the certificates, and the stamps of their files when they were read.
pub(super) struct Credentials {
    agent: Agent,
    stamps: [Stamp; 3],
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Credentials")
    }
}

impl Credentials {
    /// Reads the files that the settings name.
    pub fn read(settings: &AgonesSettings) -> Result<Self, AllocatorError> {
        let stamps = stamps(settings);
        let certificate = |item| match item {
            PemItem::Certificate(certificate) => Some(certificate),
            _ => None,
        };
        let key = |item| match item {
            PemItem::PrivateKey(key) => Some(key),
            _ => None,
        };
        let (cert_path, key_path) = (&settings.client_cert, &settings.client_key);
        let chain = items("client_cert", cert_path, "certificate", certificate)?;
        let mut keys = items("client_key", key_path, "private key", key)?;
        let roots = items("ca", &settings.ca, "certificate", certificate)?;
        let agent = agent(settings, &chain, keys.swap_remove(0), &roots);
        Ok(Self { agent, stamps })
    }

    /// What sends requests. If files have changed, reads them first; if they cannot be used, goes on with
    /// what was read before.
    pub fn agent(&mut self, settings: &AgonesSettings) -> Agent {
        if stamps(settings) != self.stamps {
            match Self::read(settings) {
                Ok(read) => {
                    *self = read;
                    tracing::info!("the certificates for the allocator are read again");
                }
                Err(error) => {
                    tracing::warn!(%error, "the changed certificates cannot be used");
                }
            }
        }
        self.agent.clone()
    }
}

fn stamps(settings: &AgonesSettings) -> [Stamp; 3] {
    [&settings.client_cert, &settings.client_key, &settings.ca].map(|path| {
        let about = fs::metadata(path).ok()?;
        Some((about.modified().ok()?, about.len()))
    })
}

/// All items of one kind in a file. There is at least one.
fn items<T>(
    key: &'static str,
    path: &Path,
    what: &'static str,
    pick: impl Fn(PemItem<'static>) -> Option<T>,
) -> Result<Vec<T>, AllocatorError> {
    let path_of = || path.to_owned();
    let bytes = content(path).map_err(|source| AllocatorError::Read {
        key,
        path: path_of(),
        source,
    })?;
    let found: Vec<T> = parse_pem(&bytes)
        .filter_map(Result::ok)
        .filter_map(pick)
        .collect();
    match found.is_empty() {
        true => Err(AllocatorError::Content {
            key,
            path: path_of(),
            what,
        }),
        false => Ok(found),
    }
}

fn content(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path)?;
    file.take(MAX_FILE).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Sends requests by HTTPS only, without a proxy, without following redirects, and within the time limit.
fn agent(
    settings: &AgonesSettings,
    chain: &[Certificate<'static>],
    key: PrivateKey<'static>,
    roots: &[Certificate<'static>],
) -> Agent {
    let tls = TlsConfig::builder()
        .client_cert(Some(ClientCert::new_with_certs(chain, key)))
        .root_certs(RootCerts::new_with_certs(roots))
        .build();
    Agent::config_builder()
        .tls_config(tls)
        .https_only(true)
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .proxy(None)
        .timeout_global(Some(settings.timeout_seconds.duration()))
        .max_idle_connections(AT_ONCE)
        .max_idle_connections_per_host(AT_ONCE)
        .build()
        .new_agent()
}
