//! Who answers for what a match brings: a configured client, or an address of which none is known.

use core::net::IpAddr;
use std::fmt;

use serde::{Deserialize, Serialize};

/// Whose share of the daemon a sender uses.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShareOwner {
    /// A configured client, by its name in the configuration.
    Client(String),
    /// An address, or the first address of the network that one subscriber has.
    Address(IpAddr),
}

impl ShareOwner {
    /// Reads what [`Display`](fmt::Display) writes; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        match text.split_once(' ')? {
            ("client", name) => Some(Self::Client(name.to_owned())),
            ("address", address) => address.parse().ok().map(Self::Address),
            _ => None,
        }
    }
}

/// The form in the database: `client NAME` or `address ADDRESS`.
impl fmt::Display for ShareOwner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client(name) => write!(f, "client {name}"),
            Self::Address(address) => write!(f, "address {address}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_read_back() {
        let owners = [
            ShareOwner::Client("farm-* 2".to_owned()),
            ShareOwner::Client(String::new()),
            ShareOwner::Address([10, 0, 0, 7].into()),
            ShareOwner::Address("2001:db8::".parse().unwrap()),
        ];
        for owner in owners {
            assert_eq!(ShareOwner::parse(&owner.to_string()), Some(owner));
        }
        for none in ["", "client", "address x", "Client a", "server a"] {
            assert_eq!(ShareOwner::parse(none), None, "{none}");
        }
    }
}
