//! What all connections share to decide who may do what: the policy in force, and the counts of limits.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::{Mutex, RwLock};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::ServerMetrics;
use crate::{
    model::access::Holder,
    server::access::{
        AccessPolicy, AccessSettings, AddressKey, AddressTable, Allowance, ClientSpec, Rates,
        Slowdown,
    },
};

/// The most addresses without a connection whose limits are kept in memory.
const MOST_ADDRESSES: usize = 4_096;

/// The policy in force, and the counts of limits. It can be [replaced](Gate::replace) while connections use
/// it.
#[derive(Debug)]
pub struct Gate {
    state: RwLock<Arc<GateState>>,
    /// The generation of the state, so that a connection finds out without a lock whether its own is old.
    generation: AtomicU64,
    pub(super) addresses: Mutex<AddressTable>,
    pub(super) slowdown: Mutex<Slowdown>,
    began: Instant,
    metrics: ServerMetrics,
}

/// One version of the policy.
#[derive(Debug)]
pub(super) struct GateState {
    pub generation: u64,
    pub policy: AccessPolicy,
    pub rates: Rates,
    pub connections_per_address: u32,
    /// What each configured client may still do.
    allowances: BTreeMap<String, Arc<Allowance>>,
    /// Cancelled when a newer version is in force.
    pub outdated: CancellationToken,
}

impl GateState {
    /// What this client may still do.
    pub fn allowance(&self, client: &ClientSpec) -> Option<Arc<Allowance>> {
        self.allowances.get(&client.name).cloned()
    }
}

impl Gate {
    /// A gate with these settings.
    pub fn new(settings: AccessSettings) -> Self {
        let state = state_of(settings, 0, |_| Arc::default());
        Self {
            state: RwLock::new(Arc::new(state)),
            generation: AtomicU64::new(0),
            addresses: Mutex::new(AddressTable::new(MOST_ADDRESSES)),
            slowdown: Mutex::new(Slowdown::default()),
            began: Instant::now(),
            metrics: ServerMetrics::default(),
        }
    }

    /// Puts other settings in force, also for the connections that are open. A client that keeps its name
    /// keeps the counts of its limits.
    pub fn replace(&self, settings: AccessSettings) {
        let mut current = self.state.write();
        let allowance = |client: &ClientSpec| current.allowance(client).unwrap_or_default();
        let next = state_of(settings, current.generation + 1, allowance);
        let old = std::mem::replace(&mut *current, Arc::new(next));
        self.generation.store(current.generation, Ordering::Release);
        drop(current);
        old.outdated.cancel();
    }

    /// What all connections count.
    pub fn metrics(&self) -> &ServerMetrics {
        &self.metrics
    }

    /// Whose share of the daemon a name that was said in HELLO means, by the clients that are configured.
    pub fn holder_of(&self, name: &str) -> Holder {
        match self.state().policy.meant(name) {
            Some(client) => Holder::Client(client.into()),
            None => Holder::ThisMachine,
        }
    }

    /// How many HELLOs have failed since the start.
    pub fn failed_hellos(&self) -> u64 {
        self.slowdown.lock().total()
    }

    pub(super) fn leave(&self, address: AddressKey) {
        self.addresses.lock().leave(address);
    }

    pub(super) fn state(&self) -> Arc<GateState> {
        self.state.read().clone()
    }

    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// The nanoseconds since the gate was made.
    pub(super) fn now(&self) -> u64 {
        self.nanos(Instant::now())
    }

    /// The nanoseconds from then to this moment.
    pub(super) fn nanos(&self, moment: Instant) -> u64 {
        let since = moment.saturating_duration_since(self.began);
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }
}

fn state_of(
    settings: AccessSettings,
    generation: u64,
    allowance: impl Fn(&ClientSpec) -> Arc<Allowance>,
) -> GateState {
    let clients = &settings.clients;
    let allowances = clients
        .iter()
        .map(|client| (client.name.clone(), allowance(client)));
    GateState {
        generation,
        allowances: allowances.collect(),
        rates: settings.rates.rates(),
        connections_per_address: settings.rates.connections_per_address.get(),
        policy: match clients.is_empty() {
            true => AccessPolicy::Open {
                anonymous: settings.allow_anonymous,
            },
            false => AccessPolicy::Listed(settings.clients.into_iter().map(Arc::new).collect()),
        },
        outdated: CancellationToken::new(),
    }
}
