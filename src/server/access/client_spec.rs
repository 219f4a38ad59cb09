//! One configured client: its name, how it proves it, and what it may do.

use core::net::IpAddr;

use ipnet::IpNet;

use crate::model::{Rights, Secret};

/// The last character of a name or of a player's id that stands for all names or ids with this beginning.
const ANY: char = '*';

/// A client as it is configured, in `[[clients]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientSpec {
    /// The name in its HELLO. One that ends with `*` stands for all names that begin like it.
    pub name: String,
    /// The token by which it proves its name. A client without a token proves it by its address.
    pub secret: Option<Secret>,
    /// The networks from which it may connect; any if there are none.
    pub networks: Vec<IpNet>,
    /// The rights that its connections have.
    pub rights: Rights,
    /// For which players it may use the queues.
    pub players: PlayerScope,
}

impl ClientSpec {
    /// Whether the client may connect from this address.
    pub fn admits(&self, from: IpAddr) -> bool {
        let from = from.to_canonical();
        self.networks.is_empty() || self.networks.iter().any(|network| network.contains(&from))
    }

    /// How well the name of a HELLO fits: how many bytes of it the client states. `None` if the name is
    /// another client's.
    pub(super) fn fit(&self, name: &str) -> Option<usize> {
        match self.name.strip_suffix(ANY) {
            Some(start) => name.starts_with(start).then_some(start.len()),
            None => (self.name == name).then_some(usize::MAX),
        }
    }
}

/// For which players a client may use the queues: ids, or beginnings of ids that end with `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlayerScope(Vec<String>);

impl PlayerScope {
    /// The players with these ids.
    pub fn new(ids: Vec<String>) -> Self {
        Self(ids)
    }

    /// The scope that contains all players.
    pub fn everybody() -> Self {
        Self(vec![ANY.to_string()])
    }

    /// Whether the player with this id is among them.
    pub fn contains(&self, player: &str) -> bool {
        self.0.iter().any(|id| match id.strip_suffix(ANY) {
            Some(start) => player.starts_with(start),
            None => id == player,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_has_ids_and_beginnings() {
        let scope = PlayerScope::new(vec!["ann".into(), "steam:*".into()]);
        for inside in ["ann", "steam:", "steam:7"] {
            assert!(scope.contains(inside), "{inside}");
        }
        for outside in ["", "Ann", "ann ", "anna", "steam", "a", "*"] {
            assert!(!scope.contains(outside), "{outside}");
        }
        assert!(PlayerScope::everybody().contains("anybody"));
        assert!(!PlayerScope::new(vec![]).contains("ann"));
    }
}
