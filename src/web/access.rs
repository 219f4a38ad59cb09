//! For which address a request counts, also behind trusted proxies, and who may read the metrics and the status.

use std::net::IpAddr;

use axum::http::HeaderMap;
use ipnet::IpNet;

/// The header field in which a proxy states for whom it asks, the last one at the end.
const FORWARDED_FOR: &str = "x-forwarded-for";
/// Header fields by which a proxy shows that it is one.
const TRACES: [&str; 4] = [FORWARDED_FOR, "forwarded", "x-real-ip", "via"];

/// The address for which a request counts: that of the connection, or what the trusted proxies at its end state.
/// `None` if a proxy has forwarded it that is not trusted, or that states no address.
pub(super) fn origin(peer: IpAddr, fields: &HeaderMap, proxies: &[IpAddr]) -> Option<IpAddr> {
    let peer = peer.to_canonical();
    let is_forwarded = TRACES.iter().any(|name| fields.contains_key(*name));
    // A trusted proxy states for whom it asks. So on this machine, where the proxy is not alone, a request that
    // states nothing comes from another program, such as `evenkeel status` or Prometheus.
    let asks_itself = peer.is_loopback() && !is_forwarded;
    if !proxies.contains(&peer) || asks_itself {
        return (!is_forwarded).then_some(peer);
    }
    let stated: Vec<&str> = fields
        .get_all(FORWARDED_FOR)
        .iter()
        .map(|value| value.to_str().unwrap_or_default())
        .flat_map(|value| value.split(','))
        .collect();
    // Each proxy adds the address from which it was asked. What is before an address that is no trusted proxy may
    // be invented.
    for text in stated.iter().rev() {
        let address = text.trim().parse::<IpAddr>().ok()?.to_canonical();
        if !proxies.contains(&address) {
            return Some(address);
        }
    }
    None
}

/// Whether a request comes from one of these networks.
pub(super) fn is_from(
    networks: &[IpNet],
    peer: IpAddr,
    fields: &HeaderMap,
    proxies: &[IpAddr],
) -> bool {
    let origin = origin(peer, fields, proxies);
    origin.is_some_and(|address| networks.iter().any(|network| network.contains(&address)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_counts_for_the_address_that_asked_the_first_trusted_proxy() {
        let proxies: Vec<IpAddr> = ["10.0.0.1", "::1"].map(|text| text.parse().unwrap()).into();
        let origin = |peer: &str, fields: &[(&'static str, &str)]| {
            let mut map = HeaderMap::new();
            for (name, value) in fields {
                map.append(*name, value.parse().unwrap());
            }
            let found = origin(peer.parse().unwrap(), &map, &proxies);
            found.map_or("nobody".to_owned(), |address| address.to_string())
        };
        let forwarded = "x-forwarded-for";
        assert_eq!(origin("127.0.0.1", &[]), "127.0.0.1");
        assert_eq!(origin("::ffff:127.0.0.1", &[]), "127.0.0.1");
        // Not a trusted proxy, but a proxy.
        for trace in TRACES {
            assert_eq!(origin("127.0.0.1", &[(trace, "127.0.0.1")]), "nobody");
        }
        // A trusted one.
        assert_eq!(origin("10.0.0.1", &[]), "nobody");
        // A program beside a trusted one on this machine; but not what that proxy forwards.
        assert_eq!(origin("::1", &[]), "::1");
        assert_eq!(origin("::1", &[("via", "1.1 x")]), "nobody");
        assert_eq!(origin("::1", &[(forwarded, "203.0.113.5")]), "203.0.113.5");
        let invented = [(forwarded, "127.0.0.1, 203.0.113.5, 10.0.0.1")];
        assert_eq!(origin("::1", &invented), "203.0.113.5");
        let twice = [(forwarded, "127.0.0.1"), (forwarded, "203.0.113.5")];
        assert_eq!(origin("::1", &twice), "203.0.113.5");
        for odd in [
            "",
            "unknown",
            "203.0.113.5, x",
            "10.0.0.1",
            "1.2.3.4:5",
            ",",
        ] {
            assert_eq!(origin("::1", &[(forwarded, odd)]), "nobody", "{odd}");
        }
    }

    #[test]
    fn networks_decide() {
        let networks = ["127.0.0.0/8".parse().unwrap(), "::1/128".parse().unwrap()];
        let from = |peer: &str| is_from(&networks, peer.parse().unwrap(), &HeaderMap::new(), &[]);
        assert!(from("127.3.2.1") && from("::1") && from("::ffff:127.0.0.1"));
        assert!(!from("10.0.0.1") && !from("::2"));
    }
}
