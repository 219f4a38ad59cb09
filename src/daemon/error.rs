//! The errors of starting the daemon.

use std::{io, net::SocketAddr};

use crate::{
    config::ConfigError,
    learning::LearningError,
    logs::LogError,
    server::{ServiceError, TlsError},
    store::StoreError,
    webhooks::DeliveryError,
};

/// Why the daemon cannot start.
#[derive(Debug, thiserror::Error)]
pub enum DaemonError {
    /// The configuration admits clients in a way that it should not, or does not say how they prove who
    /// they are.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The address cannot be bound.
    #[error("{key}: cannot listen on {address}: {source}")]
    Listen {
        /// The section and the key with the address.
        key: &'static str,
        /// The configured address.
        address: SocketAddr,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The certificate of encrypted connections cannot be used.
    #[error("encrypted connections: {0}")]
    Tls(#[from] TlsError),
    /// The listener has no address.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The database cannot be opened or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The service cannot be opened.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// The weights cannot be derived from the stored matches.
    #[error(transparent)]
    Learning(#[from] LearningError),
    /// The webhooks cannot be used.
    #[error(transparent)]
    Deliveries(#[from] DeliveryError),
    /// The archive of logs cannot be opened.
    #[error(transparent)]
    Logs(#[from] LogError),
}
