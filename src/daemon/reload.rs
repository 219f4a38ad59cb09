//! What the daemon takes over of a configuration that is read again.

use std::{net::SocketAddr, sync::Arc};

use crate::{
    config::{Config, ConfigError, ConfiguredValues},
    queues::Queues,
    server::{Gate, TlsIdentity},
    session::Sessions,
};

/// The parts of a running daemon that a configuration can change.
#[derive(Clone, Debug)]
pub struct Reloader {
    pub(super) queues: Arc<Queues>,
    pub(super) gate: Arc<Gate>,
    pub(super) sessions: Arc<Sessions>,
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
    match running.queues.configure(config.queue.clone()).await {
        Ok(()) => {
            running.gate.replace(access);
            tracing::info!("the queues, clients and limits of the configuration are taken over");
            set_game_settings(&running.sessions, config);
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
fn set_game_settings(sessions: &Sessions, config: &Config) {
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
