//! For whom something counts that the daemon has a limited number of.

use core::{fmt, net::IpAddr};
use std::sync::Arc;

/// Whose share of the daemon something counts for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Holder {
    /// A configured client, by its name in the configuration.
    Client(Arc<str>),
    /// An address, or the network of one subscriber, that is no client.
    Address(IpAddr),
    /// This machine, while no clients are configured.
    ThisMachine,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client(name) => write!(f, "client {name}"),
            Self::Address(address) => write!(f, "address {address}"),
            Self::ThisMachine => f.write_str("this machine"),
        }
    }
}
