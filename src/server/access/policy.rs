//! What the configuration grants to a connection.

use core::net::IpAddr;
use std::sync::Arc;

use super::ClientSpec;
use crate::model::{Rights, Secret};

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
    use crate::{model::Right, server::access::PlayerScope};

    fn client(name: &str, token: Option<&str>, networks: &[&str]) -> Arc<ClientSpec> {
        Arc::new(ClientSpec {
            name: name.to_owned(),
            secret: token.map(Secret::of),
            networks: networks.iter().map(|text| text.parse().unwrap()).collect(),
            rights: Rights::of(&[Right::Ask]),
            players: PlayerScope::everybody(),
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
