//! For whom something counts that the daemon has a limited number of.

use core::{fmt, net::IpAddr};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Whose share of the daemon something counts for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Holder {
    /// A configured client, by its name in the configuration.
    Client(Arc<str>),
    /// An address that is no client, or the first address of the network that one subscriber has.
    Address(IpAddr),
    /// This machine, while no clients are configured. What it brings is never held back.
    #[serde(skip)]
    ThisMachine,
}

impl Holder {
    /// Reads what [`Display`](fmt::Display) writes of a client or an address; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once(' ')? {
            ("client", name) => Some(Self::Client(name.into())),
            ("address", address) => address.parse().ok().map(Self::Address),
            _ => None,
        }
    }
}

/// The form in the database: `client NAME` or `address ADDRESS`.
impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client(name) => write!(f, "client {name}"),
            Self::Address(address) => write!(f, "address {address}"),
            Self::ThisMachine => f.write_str("this machine"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_read_back() {
        let owners = [
            Holder::Client("farm-* 2".into()),
            Holder::Client("".into()),
            Holder::Address([10, 0, 0, 7].into()),
            Holder::Address("2001:db8::".parse().unwrap()),
        ];
        for owner in owners {
            assert_eq!(Holder::parse(&owner.to_string()), Some(owner));
        }
        for none in [
            "",
            "client",
            "address x",
            "Client a",
            "server a",
            "this machine",
        ] {
            assert_eq!(Holder::parse(none), None, "{none}");
        }
    }
}
