//! The visitors who are connected: how many there may be, and how often each may ask.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

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
    #[error("{}", text!(error.too_many_visitors_try_again_later))]
    AtAll,
    #[error("{}", text!(error.too_many_connections_from_your))]
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
