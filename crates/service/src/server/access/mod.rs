//! Who may connect, what each client may do, and how fast.
//!
//! It decides and counts; it reads no clock, no socket and no file. A time is an argument, in nanoseconds since any
//! fixed moment. Every table has a bound, whatever strangers send. A configured client has a name, a way to prove it,
//! and rights.
//!
//! Entry points: [`AccessPolicy::greet`] for a HELLO, [`AccessPolicy::silent`] for a connection without one,
//! [`Bucket`] for limits, [`Places`] for connections, [`Slowdown`] for HELLOs that fail.

mod bucket;
mod places;

pub use bucket::{AddressKey, AddressTable, Allowance, Bucket, HelloKey, Rate, Rates, Slowdown};
pub use places::{ConnectionProgress, ConnectionSigns, Places};

use core::net::IpAddr;
use std::sync::Arc;

use ipnet::IpNet;
use serde::Deserialize;

use crate::{
    model::{
        access::{Rights, Secret},
        units::Count,
    },
    session::NewLimits,
};

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
    /// Whether its ids of players are names, which others may see.
    pub ids_are_names: bool,
}

impl ClientSpec {
    /// Whether the client may connect from this address.
    pub fn admits(&self, from: IpAddr) -> bool {
        let from = from.to_canonical();
        self.networks.is_empty() || self.networks.iter().any(|network| network.contains(&from))
    }

    /// How well the name of a HELLO fits: how many bytes of it the client states. `None` if the name is
    /// another client's.
    fn fit(&self, name: &str) -> Option<usize> {
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

/// The limits on what each client, or each address without one, may do.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateSettings {
    /// The lines per second, in the long run; 0 is no limit.
    pub lines_per_second: Count<0, 1_000_000>,
    /// The most lines at once.
    pub lines_burst: Count<1, 1_000_000>,
    /// The decisions per second, in the long run; 0 is no limit.
    pub decisions_per_second: Count<0, 1_000_000>,
    /// The most decisions at once.
    pub decisions_burst: Count<1, 1_000_000>,
    /// The reports per second, in the long run; 0 is no limit.
    pub reports_per_second: Count<0, 1_000_000>,
    /// The most reports at once.
    pub reports_burst: Count<1, 1_000_000>,
    /// The most connections of one address at the same time; 0 is no limit.
    pub connections_per_address: Count<0, 65_536>,
    /// The most rulesets that nobody has had and that one client or address may bring in an hour; 0 is no limit.
    pub new_rulesets_per_hour: Count<0, 1_000_000>,
    /// The same for players.
    pub new_players_per_hour: Count<0, 10_000_000>,
}

impl RateSettings {
    /// How much new a client or an address may bring in an hour.
    pub fn new_limits(&self) -> NewLimits {
        NewLimits {
            rulesets: self.new_rulesets_per_hour.get(),
            players: self.new_players_per_hour.get(),
        }
    }

    /// The rates that these settings mean.
    pub fn rates(&self) -> Rates {
        Rates {
            lines: Rate::new(self.lines_per_second.get(), self.lines_burst.get()),
            decisions: Rate::new(self.decisions_per_second.get(), self.decisions_burst.get()),
            reports: Rate::new(self.reports_per_second.get(), self.reports_burst.get()),
        }
    }
}

/// Who may do what, and how fast, as it is configured.
#[derive(Clone, Debug)]
pub struct AccessSettings {
    /// The clients; if there are none, this machine has all rights but `admin`.
    pub clients: Vec<ClientSpec>,
    /// Whether, without clients, all other machines have these rights, too.
    pub allow_anonymous: bool,
    /// The limits on lines, decisions, reports and connections.
    pub rates: RateSettings,
}

impl AccessSettings {
    /// Whether these settings keep other machines out, or the operator has stated that they need not.
    pub fn may_face_a_network(&self) -> bool {
        self.allow_anonymous || !self.clients.is_empty()
    }
}

/// What a connection may do.
#[derive(Clone, Debug)]
pub struct Grant {
    /// The configured client that it is, if clients are configured.
    pub client: Option<Arc<ClientSpec>>,
    /// The rights that the connection has.
    pub rights: Rights,
}

/// Who may connect, and with which rights.
#[derive(Clone, Debug)]
pub enum AccessPolicy {
    /// No clients are configured. Loopback has the usual rights; others have them if `anonymous`, else none.
    Open {
        /// Whether every host that reaches the daemon may use it.
        anonymous: bool,
    },
    /// Only these clients may connect.
    Listed(Vec<Arc<ClientSpec>>),
}

impl AccessPolicy {
    /// What a connection from this address may do after HELLO with this name and token. `None` if they are
    /// not those of a configured client. A wrong name, a wrong token and a wrong address take the same time.
    pub fn greet(&self, name: &str, secret: Option<&Secret>, from: IpAddr) -> Option<Grant> {
        let clients = match self {
            Self::Open { anonymous } => return Some(open(*anonymous, from)),
            Self::Listed(clients) => clients,
        };
        let client = best(clients, name);
        // An unknown name is compared with a token, too.
        let decoy = Secret::of("");
        let expected = match client {
            Some(client) => client.secret.as_ref(),
            None => Some(&decoy),
        };
        let proven = match (expected, secret) {
            (Some(expected), Some(secret)) => expected == secret,
            (expected, _) => expected.is_none(),
        };
        let client = client.filter(|client| proven & client.admits(from))?;
        Some(granted(client))
    }

    /// What a connection from this address may do without HELLO; `None` if HELLO is required. If clients
    /// are configured, it is the first client without a token that may connect from there.
    pub fn silent(&self, from: IpAddr) -> Option<Grant> {
        match self {
            Self::Open { anonymous } => Some(open(*anonymous, from)),
            Self::Listed(clients) => clients
                .iter()
                .find(|client| client.secret.is_none() && client.admits(from))
                .map(granted),
        }
    }

    /// What a caller with this token may do from this address; `None` if no configured client has the token, or not
    /// from there. All tokens are compared, so that the time tells nothing about them.
    pub fn bearer(&self, secret: &Secret, from: IpAddr) -> Option<Grant> {
        let Self::Listed(clients) = self else {
            return None;
        };
        let mut found = None;
        for client in clients {
            let is_own = client.secret.as_ref().is_some_and(|own| own == secret);
            if is_own & client.admits(from) {
                found = found.or(Some(client));
            }
        }
        found.map(granted)
    }

    /// What the client of this configured name may do from this address, as long as its token is the one with this
    /// mark; `None` if there is no such client any more.
    pub fn recall(&self, name: &str, mark: &[u8; 32], from: IpAddr) -> Option<Grant> {
        let Self::Listed(clients) = self else {
            return None;
        };
        let is_same = |client: &&Arc<ClientSpec>| {
            let own = client.secret.as_ref();
            client.name == name && own.is_some_and(|own| own.mark() == *mark)
        };
        let client = clients.iter().find(is_same)?;
        client.admits(from).then(|| granted(client))
    }

    /// The configured name of the client that a HELLO with this name means; `None` if it means none.
    pub fn meant(&self, name: &str) -> Option<&str> {
        match self {
            Self::Open { .. } => None,
            Self::Listed(clients) => best(clients, name).map(|client| client.name.as_str()),
        }
    }
}

/// The client that this name fits best: its own name, else that with the longest common beginning.
fn best<'a>(clients: &'a [Arc<ClientSpec>], name: &str) -> Option<&'a Arc<ClientSpec>> {
    let fits = clients
        .iter()
        .filter_map(|client| Some((client.fit(name)?, client)));
    fits.max_by_key(|(fit, _)| *fit).map(|(_, client)| client)
}

fn granted(client: &Arc<ClientSpec>) -> Grant {
    Grant {
        client: Some(client.clone()),
        rights: client.rights,
    }
}

fn open(anonymous: bool, from: IpAddr) -> Grant {
    let trusted = anonymous || from.to_canonical().is_loopback();
    Grant {
        client: None,
        rights: if trusted { Rights::USUAL } else { Rights::NONE },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::access::Right;

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

    fn client(name: &str, token: Option<&str>, networks: &[&str]) -> Arc<ClientSpec> {
        Arc::new(ClientSpec {
            name: name.to_owned(),
            secret: token.map(Secret::of),
            networks: networks.iter().map(|text| text.parse().unwrap()).collect(),
            rights: Rights::of(&[Right::Ask]),
            players: PlayerScope::everybody(),
            ids_are_names: false,
        })
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn greeted(policy: &AccessPolicy, name: &str, token: &str, from: &str) -> Option<String> {
        let secret = (!token.is_empty()).then(|| Secret::of(token));
        let grant = policy.greet(name, secret.as_ref(), ip(from))?;
        grant.client.map(|client| client.name.clone())
    }

    #[test]
    fn without_clients_only_this_machine_has_rights() {
        let policy = AccessPolicy::Open { anonymous: false };
        for near in ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1"] {
            let grant = policy.silent(ip(near)).unwrap();
            assert_eq!(grant.rights, Rights::USUAL, "{near}");
        }
        for far in [
            "192.168.0.1",
            "10.0.0.1",
            "fe80::1",
            "::ffff:10.0.0.1",
            "0.0.0.0",
        ] {
            let grant = policy.silent(ip(far)).unwrap();
            assert_eq!(grant.rights, Rights::NONE, "{far}");
            let grant = policy.greet("x", None, ip(far)).unwrap();
            assert_eq!(grant.rights, Rights::NONE, "{far}");
            let all = AccessPolicy::Open { anonymous: true };
            assert_eq!(all.silent(ip(far)).unwrap().rights, Rights::USUAL);
        }
    }

    #[test]
    fn a_client_proves_its_name_with_its_token_from_its_networks() {
        let policy = AccessPolicy::Listed(vec![
            client("ctf", Some("red"), &[]),
            client("far", Some("blue"), &["10.0.0.0/8", "2001:db8::/32"]),
            client("lan", None, &["192.168.1.0/24"]),
        ]);
        let near = "127.0.0.1";
        assert_eq!(greeted(&policy, "ctf", "red", near).as_deref(), Some("ctf"));
        for (name, token, from) in [
            ("ctf", "blue", near),
            ("ctf", "", near),
            ("CTF", "red", near),
            ("", "", near),
            ("unknown", "", near),
            ("far", "blue", near),
            ("far", "blue", "11.0.0.1"),
            ("lan", "", near),
        ] {
            assert_eq!(
                greeted(&policy, name, token, from),
                None,
                "{name} {token} {from}"
            );
        }
        for from in ["10.9.8.7", "::ffff:10.9.8.7", "2001:db8::7"] {
            assert_eq!(
                greeted(&policy, "far", "blue", from).as_deref(),
                Some("far")
            );
        }
        // The address alone proves who a client without a token is.
        for token in ["", "whatever"] {
            let found = greeted(&policy, "lan", token, "192.168.1.9");
            assert_eq!(found.as_deref(), Some("lan"));
        }
        let bearer = |token: &str, from| {
            let grant = policy.bearer(&Secret::of(token), ip(from))?;
            grant.client.map(|client| client.name.clone())
        };
        assert_eq!(bearer("red", near).as_deref(), Some("ctf"));
        assert_eq!(bearer("blue", "10.9.8.7").as_deref(), Some("far"));
        for (token, from) in [("blue", near), ("", "192.168.1.9"), ("green", near)] {
            assert_eq!(bearer(token, from), None, "{token} {from}");
        }
        let open = AccessPolicy::Open { anonymous: true };
        assert!(open.bearer(&Secret::of("red"), ip(near)).is_none());
        let silent = |from| policy.silent(ip(from)).and_then(|grant| grant.client);
        assert_eq!(silent("192.168.1.9").unwrap().name, "lan");
        for from in [near, "192.168.2.9", "10.0.0.1"] {
            assert!(silent(from).is_none(), "{from} has to say HELLO");
        }
    }

    #[test]
    fn the_longest_beginning_of_a_name_counts() {
        let policy = AccessPolicy::Listed(vec![
            client("*", Some("all"), &[]),
            client("farm-*", Some("farm"), &[]),
            client("farm-7", Some("seven"), &[]),
        ]);
        for (name, token) in [
            ("x", "all"),
            ("farm-", "farm"),
            ("farm-8", "farm"),
            ("farm-7", "seven"),
        ] {
            assert!(
                greeted(&policy, name, token, "127.0.0.1").is_some(),
                "{name}"
            );
            for other in ["all", "farm", "seven"]
                .iter()
                .filter(|other| **other != token)
            {
                assert!(
                    greeted(&policy, name, other, "127.0.0.1").is_none(),
                    "{name} {other}"
                );
            }
        }
        assert_eq!(policy.meant("farm-8"), Some("farm-*"));
        assert_eq!(AccessPolicy::Listed(vec![]).meant("x"), None);
    }
}
