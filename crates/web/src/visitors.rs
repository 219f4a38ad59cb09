//! The visitors: who may ask for what, how many there may be, and how often each may ask. It finds the address for
//! which a request counts, also behind trusted proxies, and says who may read the metrics and the status.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use axum::http::HeaderMap;
use ipnet::IpNet;
use parking_lot::Mutex;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{Site, WebLimits};
use crate::server::{
    access::{AddressKey, AddressTable, Allowance, Rate},
    watch::HttpMetrics,
};

/// The most addresses without a connection whose number of requests is kept in memory.
const MOST_ADDRESSES: usize = 4_096;
/// The most visitors at a time who are told that there is no room. The connections of more are closed.
const MOST_REFUSALS: usize = 32;
/// After a pause, an address may make the requests of these seconds at once.
const BURST_SECONDS: u32 = 10;

/// The connections of all visitors.
pub(super) struct Visitors {
    site: Arc<Site>,
    room: Arc<Semaphore>,
    /// Room for visitors who are told that there is none.
    pub(super) refusals: Arc<Semaphore>,
    /// The connections and requests by address, without trusted proxies.
    addresses: Mutex<AddressTable>,
    /// How often an address may ask; `None` for no limit.
    rate: Option<Rate>,
    began: Instant,
}

impl Visitors {
    /// The state at the start: no visitor is connected.
    pub(super) fn new(site: Arc<Site>) -> Arc<Self> {
        let limits = site.settings.limits;
        let per_second = limits.requests_per_second.get();
        Arc::new(Self {
            room: Arc::new(Semaphore::new(limits.max_connections.as_usize())),
            refusals: Arc::new(Semaphore::new(MOST_REFUSALS)),
            addresses: Mutex::new(AddressTable::new(MOST_ADDRESSES)),
            rate: Rate::new(per_second, per_second.saturating_mul(BURST_SECONDS)),
            began: Instant::now(),
            site,
        })
    }

    /// What is counted about all visitors.
    pub(super) fn metrics(&self) -> &HttpMetrics {
        self.site.monitor().http()
    }

    /// The nanoseconds since this was created.
    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// Why a visitor is not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum NoRoom {
    #[error("There are too many visitors. Try again later.")]
    AtAll,
    #[error("There are too many connections from your address. Try again later.")]
    ForAddress,
}

/// One connection; dropping it makes room for another.
pub(super) struct Visit {
    visitors: Arc<Visitors>,
    /// The address of the other end.
    pub(super) peer: IpAddr,
    /// The address, and what it may still ask; `None` for a trusted proxy.
    counted: Option<(AddressKey, Arc<Allowance>)>,
    /// The end of the connection's time.
    pub(super) until: Instant,
    /// Cancelled when the daemon stops.
    pub(super) stop: CancellationToken,
    _permit: OwnedSemaphorePermit,
}

impl Visit {
    /// Counts a connection.
    ///
    /// # Errors
    /// Fails if there are too many, of all visitors or from this address.
    pub(super) fn begin(
        visitors: &Arc<Visitors>,
        peer: SocketAddr,
        stop: &CancellationToken,
    ) -> Result<Self, NoRoom> {
        let permit = visitors.room.clone().try_acquire_owned();
        let permit = permit.map_err(|_| NoRoom::AtAll)?;
        let (address, settings) = (peer.ip().to_canonical(), &visitors.site.settings);
        let counted = match settings.trusted_proxies.contains(&address) {
            true => None,
            false => {
                let key = AddressKey::of(address);
                let most = settings.limits.max_per_address.get();
                let mut addresses = visitors.addresses.lock();
                let allowance = addresses.enter(key, most, visitors.now());
                Some((key, allowance.ok_or(NoRoom::ForAddress)?))
            }
        };
        visitors.metrics().connections.rise();
        Ok(Self {
            visitors: visitors.clone(),
            peer: address,
            counted,
            until: Instant::now() + settings.limits.connection_seconds.duration(),
            stop: stop.clone(),
            _permit: permit,
        })
    }

    /// The limits of the connection.
    pub(super) fn limits(&self) -> WebLimits {
        self.visitors.site.settings.limits
    }

    /// Counts a request. Returns whether its address may make it now.
    pub(super) fn may_ask(&self) -> bool {
        let (Some((_, allowance)), Some(rate)) = (&self.counted, self.visitors.rate) else {
            return true;
        };
        allowance.lines.take(self.visitors.now(), rate).is_ok()
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.visitors.metrics().connections.fall();
        if let Some((address, _)) = &self.counted {
            self.visitors.addresses.lock().leave(*address);
        }
    }
}

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
