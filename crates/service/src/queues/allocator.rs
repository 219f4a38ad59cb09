//! Sends the requests of matches to the allocator service, and passes on the answers.
//!
//! Requests run on blocking threads, at most [`AT_ONCE`] of them; the others wait. Each request is answered exactly
//! once, also when it fails or takes too long. If the daemon stops, it is not answered: the match then asks again
//! after the restart. The certificates for the service are read again when their files change.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use parking_lot::Mutex;
use tokio::sync::{Semaphore, mpsc, oneshot};
use ureq::{
    Agent,
    tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem},
};

use super::{ClientCall, ReplyTo, command::ClientCommand, links::InstanceCommand};
use crate::{
    matchmaking::lifecycle::{
        AgonesSettings, Allocation,
        agones::{MAX_ANSWER, PATH},
    },
    model::record::MatchId,
    random,
};

/// The most requests at once.
const AT_ONCE: usize = 16;

/// The allocator service, as the daemon reaches it.
#[derive(Debug)]
pub struct Allocator {
    settings: AgonesSettings,
    url: String,
    credentials: Mutex<Credentials>,
    permits: Semaphore,
}

impl Allocator {
    /// Reads the certificates of the settings. Connects to nothing yet.
    ///
    /// # Errors
    /// Fails if a file cannot be read, or does not contain what it should.
    pub fn open(settings: &AgonesSettings) -> Result<Self, AllocatorError> {
        Ok(Self {
            url: format!("{}{PATH}", settings.url.trim_end_matches('/')),
            credentials: Mutex::new(Credentials::read(settings)?),
            permits: Semaphore::new(AT_ONCE),
            settings: settings.clone(),
        })
    }

    /// The settings with which the service is asked.
    pub(super) fn settings(&self) -> &AgonesSettings {
        &self.settings
    }

    /// Sends one request, and waits for its answer. Blocks the thread.
    fn send(&self, body: &str) -> Allocation {
        let agent = self.credentials.lock().agent(&self.settings);
        let sent = agent
            .post(&self.url)
            .header("content-type", "application/json")
            .send(body);
        let mut response = match sent {
            Ok(response) => response,
            Err(error) => return Allocation::Failed(error.to_string()),
        };
        let status = response.status().as_u16();
        // One byte more than an answer may have.
        let most = MAX_ANSWER as u64 + 1;
        let read = response.body_mut().with_config().limit(most).read_to_vec();
        match read {
            Ok(bytes) => self.settings.allocation(status, &bytes),
            Err(error) => Allocation::Failed(format!("status {status}: {error}")),
        }
    }

    /// Asks for the game server of a match in the background. The answer comes as a call of the task.
    pub(super) fn ask(
        self: &Arc<Self>,
        id: MatchId,
        request: Result<String, String>,
        calls: mpsc::Sender<ClientCall>,
    ) {
        let this = self.clone();
        tokio::spawn(async move {
            let allocation = match request {
                Ok(body) => this.allocation(body).await,
                Err(why) => Allocation::Failed(why),
            };
            match &allocation {
                Allocation::Done(server) => {
                    let (name, address) = (&server.name, &server.address);
                    tracing::info!(match_id = id, name, address, "a game server is allocated");
                }
                Allocation::NoneFree => tracing::info!(match_id = id, "no game server is ready"),
                Allocation::Failed(why) => {
                    tracing::warn!(match_id = id, why, "no game server is allocated");
                }
            }
            let (answer, _) = oneshot::channel();
            let answer = ReplyTo::Here(answer);
            let command = ClientCommand::Host(InstanceCommand::Allocated {
                id,
                allocation,
                jitter: draw(),
            });
            if calls.send(ClientCall { command, answer }).await.is_err() {
                tracing::debug!(match_id = id, "the daemon stops before an answer");
            }
        });
    }

    async fn allocation(self: &Arc<Self>, body: String) -> Allocation {
        let Ok(_permit) = self.permits.acquire().await else {
            return Allocation::Failed("the daemon stops".to_owned());
        };
        let this = self.clone();
        let sent = tokio::task::spawn_blocking(move || this.send(&body)).await;
        sent.unwrap_or_else(|error| Allocation::Failed(error.to_string()))
    }
}

/// A random number, 0 to 1.
fn draw() -> f64 {
    let drawn = random::bytes().map_or(u32::MAX / 2, u32::from_le_bytes);
    f64::from(drawn) / f64::from(u32::MAX)
}

/// The longest file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

/// The time of the last change of a file, and its length; `None` if it cannot be read.
type Stamp = Option<(SystemTime, u64)>;

/// What sends requests with the certificates, and the stamps of their files when they were read.
struct Credentials {
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

/// Why the allocator cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum AllocatorError {
    /// A file cannot be read.
    #[error("coordinator.agones.{key}: cannot read {}: {source}", path.display())]
    Read {
        /// The key that names the file.
        key: &'static str,
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file does not contain what it should.
    #[error("coordinator.agones.{key}: {} has no {what} in PEM", path.display())]
    Content {
        /// The key that names the file.
        key: &'static str,
        /// The path of the file.
        path: PathBuf,
        /// What it should contain.
        what: &'static str,
    },
}
