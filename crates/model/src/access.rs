//! Who a client is, and what it may do: secrets, rights, and whose share of the daemon something counts for.

use core::{fmt, net::IpAddr};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::{
    text::{from_hex, to_hex},
    worded,
};

worded! {
    /// One right of a client. The words are part of the configuration.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Right {
        /// To ask for weights, teams and other decisions.
        Ask = "ask",
        /// To report what happens in a game; the reports become a stored match.
        Report = "report",
        /// To use the queues.
        Queue = "queue",
        /// To host matches of queues.
        Instance = "instance",
        /// To operate the daemon. No verb of this version needs it, only some calls over HTTP.
        Admin = "admin",
    }
}

/// A set of rights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rights(u8);

impl Rights {
    /// The empty set.
    pub const NONE: Self = Self(0);
    /// What the operator's own machine may do if no clients are configured: all but `admin`.
    pub const USUAL: Self = Self::of(&[Right::Ask, Right::Report, Right::Queue, Right::Instance]);

    /// The set of these rights.
    pub const fn of(rights: &[Right]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < rights.len() {
            bits |= 1 << rights[at] as u8;
            at += 1;
        }
        Self(bits)
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether the right is in the set.
    pub const fn has(self, right: Right) -> bool {
        self.0 & (1 << right as u8) != 0
    }

    /// Whether the two sets have a right in common.
    pub const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// Writes the rights with ` or ` between them.
impl fmt::Display for Rights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut between = "";
        for right in Right::ALL.into_iter().filter(|right| self.has(*right)) {
            write!(f, "{between}{}", right.as_str())?;
            between = " or ";
        }
        Ok(())
    }
}

/// What a hash in a configuration begins with.
const HASHED: &str = "sha256:";

/// The fewest characters of a secret that is not guessed soon.
const FEWEST: usize = 16;

/// A secret that proves an identity. Only its digest is stored, so that it cannot be printed.
///
/// Two secrets are compared in a time that does not depend on where they differ.
#[derive(Clone)]
pub struct Secret([u8; 32]);

impl Secret {
    /// The secret of this text.
    pub fn of(text: &str) -> Self {
        Self(Sha256::digest(text.as_bytes()).into())
    }

    /// The secret of a text in a configuration: the secret itself, or its hash as [`hash`](Self::hash)
    /// writes it. `None` if a text that begins like a hash is none.
    pub fn configured(text: &str) -> Option<Self> {
        let Some(hex) = text.strip_prefix(HASHED) else {
            return Some(Self::of(text));
        };
        from_hex(hex).map(Self)
    }

    /// Whether the secret of a text in a configuration is so short that it can be guessed. A hash does not show
    /// how long its secret is.
    pub fn can_be_guessed(text: &str) -> bool {
        !text.starts_with(HASHED) && text.chars().count() < FEWEST
    }

    /// What tells this secret from others in a database, without what proves an identity: a hash of its hash.
    pub fn mark(&self) -> [u8; 32] {
        Sha256::digest(self.0).into()
    }

    /// The hash of the secret, as a configuration may hold it: `sha256:` and 64 digits.
    pub fn hash(&self) -> String {
        format!("{HASHED}{}", to_hex(&self.0))
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

impl Eq for Secret {}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

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
    fn a_set_has_what_was_put_in() {
        for bits in 0u8..32 {
            let chosen = |right: &Right| bits & (1 << *right as u8) != 0;
            let rights: Vec<Right> = Right::ALL.into_iter().filter(chosen).collect();
            let set = Rights::of(&rights);
            for right in Right::ALL {
                assert_eq!(set.has(right), rights.contains(&right));
                assert_eq!(set.meets(Rights::of(&[right])), set.has(right));
            }
            assert_eq!(set.is_empty(), rights.is_empty());
        }
        assert!(!Rights::USUAL.has(Right::Admin));
        let two = Rights::of(&[Right::Report, Right::Ask]);
        assert_eq!(two.to_string(), "ask or report");
    }

    #[test]
    fn a_hash_stands_for_its_secret_and_not_for_itself() {
        let secret = Secret::of("sesame");
        let hash = secret.hash();
        assert_eq!(
            hash,
            "sha256:d0c04f4b1951e4aeaaec8223ed2039e542f3aae805a6fa7f6d794e5afff5d272"
        );
        assert_eq!(Secret::configured(&hash), Some(secret.clone()));
        let upper = hash.to_uppercase().replace("SHA256", "sha256");
        assert_eq!(Secret::configured(&upper), Some(secret.clone()));
        assert_eq!(Secret::configured("sesame"), Some(secret.clone()));
        assert!(Secret::can_be_guessed("sesame") && !Secret::can_be_guessed(&hash));
        assert!(!Secret::can_be_guessed("a long random string"));
        assert_ne!(Secret::of(&hash), secret, "who has the hash has no token");
        assert_ne!(secret.mark(), secret.0, "nor who has the mark");
        assert_eq!(secret.mark(), Secret::of("sesame").mark());
        let bad = [
            "sha256:",
            "sha256:d0c0",
            &hash[..hash.len() - 1],
            &format!("{hash}0"),
            &hash.replace("d0", "+0"),
            &hash.replace("d0", "\u{e9}"),
        ];
        for bad in bad {
            assert_eq!(Secret::configured(bad), None, "{bad}");
        }
        assert!(!format!("{secret:?}").contains("d0c0"));
    }

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
