//! What the daemon takes over of a configuration that is read again. It notices that files have changed by looking at
//! their contents at intervals.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::{self, Read},
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use sha2::{Digest, Sha256};
use tokio::time::sleep;

use crate::{
    config::{Config, ConfigError, ConfiguredValues},
    daemon::open,
    server::{Gate, Service, TlsIdentity},
};

/// The parts of a running daemon that a configuration can change.
#[derive(Clone, Debug)]
pub struct Reloader {
    pub(super) service: Arc<Service>,
    pub(super) gate: Arc<Gate>,
    /// The certificate of encrypted connections.
    pub(super) tls: Option<Arc<TlsIdentity>>,
    /// The addresses that the daemon listens on.
    pub(super) listens: Vec<SocketAddr>,
    /// The configuration that it has started with.
    pub(super) started: ConfiguredValues,
}

/// Takes over the queues, the clients, the limits and the settings of games of a configuration that was read again, and
/// nothing else of it, and the certificate if its files have changed. Logs whether that has succeeded; if not, everything stays as it was.
pub async fn reload(running: &Reloader, config: &Config) {
    if let Some(tls) = running.tls.clone() {
        // Fails only if the runtime stops.
        let _ = tokio::task::spawn_blocking(move || tls.refresh()).await;
    }
    let exposed = running
        .listens
        .iter()
        .find(|address| !address.ip().is_loopback());
    let access = match (config.access(), exposed) {
        (Ok(access), Some(&address)) if !access.may_face_a_network() => {
            Err(ConfigError::Exposed { address })
        }
        (access, _) => access,
    };
    let access = match access {
        Ok(access) => access,
        Err(error) => {
            tracing::error!(%error, "the configuration is not taken over");
            return;
        }
    };
    let queues = running.service.queues();
    match queues.configure(config.queue.clone()).await {
        Ok(()) => {
            running.gate.replace(access);
            running
                .service
                .sessions()
                .set_new_limits(config.limits.new_limits());
            tracing::info!("the queues, clients and limits of the configuration are taken over");
            set_game_settings(&running.service, config);
            open::set_experiment(&running.service, config).await;
            let keys = config.values.for_next_start(&running.started);
            if !keys.is_empty() {
                let keys = keys.join(", ");
                tracing::warn!(keys, "these keys take effect at the next start");
            }
        }
        Err(error) => tracing::error!(%error, "the configuration is not taken over"),
    }
}

/// Gives each server's next game the settings of a configuration that was read again.
fn set_game_settings(service: &Service, config: &Config) {
    let sessions = service.sessions();
    match sessions.set_game_settings(config.games()) {
        Ok(true) => tracing::info!(
            running = sessions.live().len(),
            "each server has the new settings of games at its next GAME: running games keep theirs"
        ),
        Ok(false) => {}
        // A configuration that is loaded has no such pattern.
        Err(error) => tracing::error!(%error, "the settings of games are not taken over"),
    }
}

/// How often the files are looked at. A change counts once two looks in succession have found it, so that a
/// file is not read while it is being written.
const LOOK: Duration = Duration::from_secs(1);
/// The most bytes that are read of a file.
const MOST: u64 = 16 << 20;

/// What a file contains, by its digest; `None` if it cannot be read.
type Contents = BTreeMap<PathBuf, Option<[u8; 32]>>;

/// Files, and what they contained when they were last taken over.
#[derive(Clone, Debug)]
pub struct FileWatch {
    seen: Contents,
}

impl FileWatch {
    /// Watches these files from now on.
    pub fn new(files: impl IntoIterator<Item = PathBuf>) -> Self {
        let files = files.into_iter().map(|path| {
            let contents = contents(&path);
            (path, contents)
        });
        Self {
            seen: files.collect(),
        }
    }

    /// Waits until the contents of a file have changed, and takes them as seen. Cancel safe.
    pub async fn changed(&mut self) {
        let mut before = self.seen.clone();
        loop {
            sleep(LOOK).await;
            let files: Vec<PathBuf> = self.seen.keys().cloned().collect();
            // Fails only if the runtime stops.
            let Ok(now) = tokio::task::spawn_blocking(move || Self::new(files).seen).await else {
                return std::future::pending().await;
            };
            if now != self.seen && now == before {
                self.seen = now;
                return;
            }
            before = now;
        }
    }

    /// Watches these files instead. Those that were watched before count with what was seen of them.
    pub fn replace(&mut self, files: impl IntoIterator<Item = PathBuf>) {
        let mut seen = Self::new(files).seen;
        for (path, contents) in &mut seen {
            if let Some(known) = self.seen.get(path) {
                *contents = *known;
            }
        }
        self.seen = seen;
    }

    /// Takes the present contents as seen, because they are read now.
    pub fn refresh(&mut self) {
        let files: Vec<PathBuf> = self.seen.keys().cloned().collect();
        *self = Self::new(files);
    }
}

fn contents(path: &Path) -> Option<[u8; 32]> {
    let read = || -> io::Result<Vec<u8>> {
        if !fs::metadata(path)?.is_file() {
            return Err(io::ErrorKind::InvalidInput.into()); // a pipe might never end
        }
        let mut bytes = Vec::new();
        File::open(path)?.take(MOST).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    Some(Sha256::digest(read().ok()?).into())
}
