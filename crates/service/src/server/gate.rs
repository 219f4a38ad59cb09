//! The gate: what all connections share to decide who may do what, which is the policy in force and the counts of limits.
//! At it is the sender: a connection of the line protocol, or one request over HTTP, each with what it may do, and how
//! much of that is left.

use std::{
    collections::BTreeMap,
    net::IpAddr,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::{Mutex, RwLock};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{
    ServerMetrics,
    access::{AddressKey, Allowance, ConnectionProgress, ConnectionSigns, Grant},
};

use crate::{
    model::access::{Holder, Right, Secret},
    protocol::{
        Code, Refusal, Request,
        request::{Charge, WeightQuestion},
    },
    server::access::{AccessPolicy, AccessSettings, AddressTable, ClientSpec, Rates, Slowdown},
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
struct GateState {
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

    fn state(&self) -> Arc<GateState> {
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

/// The peer of a connection, as the gate knows it.
#[derive(Debug)]
pub struct Peer {
    gate: Arc<Gate>,
    state: Arc<GateState>,
    from: IpAddr,
    /// What its address may still do; `None` for this machine.
    address: Option<(AddressKey, Arc<Allowance>)>,
    /// The name and the token of its last HELLO.
    hello: Option<(String, Option<Secret>)>,
    /// What it may do; `None` while it has to say HELLO first.
    grant: Option<Grant>,
    /// What it may still do; `None` if it has no limits.
    allowance: Option<Arc<Allowance>>,
    /// How long to wait before its next line is read.
    pause: Duration,
    /// What those see of it who give away places.
    shown: Arc<ConnectionSigns>,
    /// Cancelled when it has to give up its place.
    gives_up: CancellationToken,
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.gate.metrics().connections.fall();
        if let Some((address, _)) = &self.address {
            self.gate.leave(*address);
        }
    }
}

impl Peer {
    /// Lets in a connection from this address. `None` if the address has as many as it may have.
    pub fn enter(gate: &Arc<Gate>, from: IpAddr) -> Option<Self> {
        let state = gate.state();
        let address = match from.to_canonical().is_loopback() {
            true => None,
            false => {
                let key = AddressKey::of(from);
                let most = state.connections_per_address;
                let allowance = gate.addresses.lock().enter(key, most, gate.now())?;
                Some((key, allowance))
            }
        };
        gate.metrics().connections.rise();
        let mut peer = Self {
            grant: state.policy.silent(from),
            gate: gate.clone(),
            state,
            from,
            address,
            hello: None,
            allowance: None,
            pause: Duration::ZERO,
            shown: Arc::default(),
            gives_up: CancellationToken::new(),
        };
        peer.find_allowance();
        Some(peer)
    }

    /// The address from which it has connected.
    pub(super) fn from(&self) -> IpAddr {
        self.from
    }

    /// What is seen of the connection by those who give away places.
    pub(super) fn shown(&self) -> &Arc<ConnectionSigns> {
        &self.shown
    }

    /// Cancelled when the connection has to give up its place.
    pub(super) fn gives_up(&self) -> &CancellationToken {
        &self.gives_up
    }

    /// Notes a line.
    pub(super) fn heard(&self, now: Instant) {
        self.shown.heard(self.gate.nanos(now));
    }

    /// Notes whether the connection has said HELLO, and has a running game.
    pub(super) fn show(&self, is_named: bool, has_game: bool) {
        if is_named || has_game {
            self.shown.reach(ConnectionProgress::Known);
        }
        self.shown.set_game(has_game);
    }

    /// Whether it has to say HELLO before anything else.
    pub(super) fn must_say_hello(&self) -> bool {
        self.grant.is_none()
    }

    /// Whether it has this right.
    pub(super) fn has(&self, right: Right) -> bool {
        self.grant
            .as_ref()
            .is_some_and(|grant| grant.rights.has(right))
    }

    /// Whether the configuration has been replaced since this connection last looked.
    pub(super) fn is_outdated(&self) -> bool {
        self.gate.generation() != self.state.generation
    }

    /// Cancelled when the configuration is replaced that this connection has looked at last.
    pub(super) fn outdated(&self) -> CancellationToken {
        self.state.outdated.clone()
    }

    /// Whether it may ask for weights, by the configuration in force.
    pub(super) fn may_ask_for_weights(&self) -> bool {
        let rights = WeightQuestion::DEMAND.rights;
        let meets = |grant: &Grant| grant.rights.meets(rights);
        !self.is_outdated() && self.grant.as_ref().is_some_and(meets)
    }

    /// Takes over the configuration in force: the connection proves again who it is, by the HELLO that it has
    /// said.
    ///
    /// # Errors
    /// Fails if it is no client any more. The connection must be closed then.
    pub(super) fn renew(&mut self) -> Result<(), Refusal> {
        self.state = self.gate.state();
        let policy = &self.state.policy;
        self.grant = match &self.hello {
            Some((name, secret)) => policy.greet(name, secret.as_ref(), self.from),
            None => policy.silent(self.from),
        };
        self.find_allowance();
        match &self.grant {
            None if self.hello.is_some() => Err(not_allowed("you are no client any more")),
            _ => Ok(()),
        }
    }

    /// Handles the name and the token of HELLO. After failures it first waits.
    ///
    /// # Errors
    /// Fails if they are not those of a client, or if too many attempts wait. The connection must be closed
    /// then.
    pub(super) async fn greet(
        &mut self,
        name: &str,
        secret: Option<Secret>,
    ) -> Result<(), Refusal> {
        if self.is_outdated() {
            self.renew()?;
        }
        let meant = self.state.policy.meant(name).map(str::to_owned);
        let key = (AddressKey::of(self.from), meant);
        let wait = self.gate.slowdown.lock().attempt(&key, self.gate.now());
        let wait = wait.map_err(|wait| {
            let again = wait.as_secs() + 1;
            let why = "too many HELLOs from your address have failed";
            Refusal::new(Code::Overloaded, format!("{why}: try again in {again} s"))
        })?;
        if !wait.is_zero() {
            tokio::time::sleep(wait).await;
        }
        self.state = self.gate.state();
        let Some(grant) = self.state.policy.greet(name, secret.as_ref(), self.from) else {
            let failures = self.gate.slowdown.lock().failed(&key, self.gate.now());
            if failures.is_power_of_two() {
                tracing::warn!(
                    from = %self.from, name, failures,
                    "HELLO with an unknown name, a wrong token or from a wrong address"
                );
            }
            return Err(not_allowed("unknown server or wrong token"));
        };
        self.grant = Some(grant);
        self.hello = Some((name.to_owned(), secret));
        self.find_allowance();
        Ok(())
    }

    /// Checks whether the peer may send this request now, and counts a decision.
    ///
    /// # Errors
    /// Fails if HELLO is missing, if the peer lacks the right or may not speak for the player, or if it has
    /// asked for too many decisions.
    pub(super) fn authorize(&self, request: &Request) -> Result<(), Refusal> {
        let Some(grant) = &self.grant else {
            return Err(not_allowed("say HELLO <server> <token> first"));
        };
        let demand = request.demand();
        if !demand.rights.is_empty() && !grant.rights.meets(demand.rights) {
            let (verb, rights) = (request.verb().as_str(), demand.rights);
            let text = format!("{verb} needs the right {rights}, which you do not have");
            return Err(not_allowed(&text));
        }
        if let (Some(player), Some(client)) = (request.speaks_for(), &grant.client)
            && !client.players.contains(player.text())
        {
            return Err(not_allowed("you may not speak for this player"));
        }
        match demand.charge {
            Charge::Decision => self.count_decision(),
            Charge::Line | Charge::Report => Ok(()),
        }
    }

    fn count_decision(&self) -> Result<(), Refusal> {
        let (Some(allowance), Some(rate)) = (&self.allowance, self.state.rates.decisions) else {
            return Ok(());
        };
        let taken = allowance.decisions.take(self.gate.now(), rate);
        taken.map_err(|wait| {
            let again = wait.as_secs_f64();
            let text = format!("too many decisions: ask again in {again:.1} s");
            Refusal::new(Code::Overloaded, text)
        })
    }

    /// What all connections count.
    pub(super) fn metrics(&self) -> &ServerMetrics {
        self.gate.metrics()
    }

    /// The configured client that the peer is, by its name in the configuration.
    pub(super) fn client(&self) -> Option<&str> {
        let client = self.grant.as_ref()?.client.as_ref()?;
        Some(&client.name)
    }

    /// Whether the ids of players that the peer sends are names: those of a client that says so, and of no client.
    pub(super) fn ids_are_names(&self) -> bool {
        let client = self.grant.as_ref().and_then(|grant| grant.client.as_ref());
        client.is_none_or(|client| client.ids_are_names)
    }

    /// Whose share of the daemon it uses.
    pub(super) fn holder(&self) -> Holder {
        match (self.client(), &self.address) {
            (Some(client), _) => Holder::Client(client.into()),
            (None, Some((address, _))) => address.holder(),
            (None, None) => Holder::ThisMachine,
        }
    }

    /// Counts a line.
    pub(super) fn count_line(&mut self) {
        if let (Some(allowance), Some(rate)) = (&self.allowance, self.state.rates.lines) {
            let wait = allowance.lines.charge(self.gate.now(), rate);
            self.pause = self.pause.max(wait);
        }
    }

    /// Counts a report, if the request is one.
    pub(super) fn count_report(&mut self, request: &Request) {
        if let (Some(allowance), Some(rate)) = (&self.allowance, self.state.rates.reports)
            && request.demand().charge == Charge::Report
        {
            let wait = allowance.reports.charge(self.gate.now(), rate);
            self.pause = self.pause.max(wait);
        }
    }

    /// Whether it has to wait before its next line is read.
    pub(super) fn is_paused(&self) -> bool {
        !self.pause.is_zero()
    }

    /// How long to wait before the next line is read, because the peer has sent more than it may.
    pub(super) fn take_pause(&mut self) -> Option<Duration> {
        let pause = std::mem::take(&mut self.pause);
        (!pause.is_zero()).then_some(pause)
    }

    /// A configured client has limits of its own; any other connection shares those of its address.
    fn find_allowance(&mut self) {
        let client = self.grant.as_ref().and_then(|grant| grant.client.as_ref());
        self.allowance = match (client, &self.address) {
            (Some(client), _) => self.state.allowance(client),
            (None, Some((_, allowance))) => Some(allowance.clone()),
            (None, None) => None,
        };
    }
}

/// Refuses what the peer may not do, or not now.
pub(super) fn not_allowed(text: &str) -> Refusal {
    Refusal::new(Code::NotAllowed, text)
}

/// The sender of a request.
#[derive(Debug)]
pub struct Caller {
    gate: Arc<Gate>,
    state: Arc<GateState>,
    /// The client that it has proven to be; `None` without a token.
    grant: Option<Grant>,
    allowance: Option<Arc<Allowance>>,
    from: IpAddr,
}

impl Gate {
    /// The configured client with this token, if it may call from this address.
    pub fn bearer(self: &Arc<Self>, secret: &Secret, from: IpAddr) -> Option<Caller> {
        let state = self.state();
        let grant = state.policy.bearer(secret, from)?;
        Some(self.caller(state, grant, from))
    }

    /// The configured client that has once shown a token with this mark, if it still has that token and may call from
    /// this address.
    pub fn recall(self: &Arc<Self>, name: &str, mark: &[u8; 32], from: IpAddr) -> Option<Caller> {
        let state = self.state();
        let grant = state.policy.recall(name, mark, from)?;
        Some(self.caller(state, grant, from))
    }

    fn caller(self: &Arc<Self>, state: Arc<GateState>, grant: Grant, from: IpAddr) -> Caller {
        let client = grant.client.as_ref();
        Caller {
            allowance: client.and_then(|client| state.allowance(client)),
            gate: self.clone(),
            grant: Some(grant),
            state,
            from,
        }
    }

    /// A caller without a token. All from one address share its limits, those of this machine, too.
    pub fn stranger(self: &Arc<Self>, from: IpAddr) -> Caller {
        let key = AddressKey::of(from);
        let allowance = {
            let mut addresses = self.addresses.lock();
            let allowance = addresses.enter(key, 0, self.now());
            addresses.leave(key);
            allowance
        };
        Caller {
            gate: self.clone(),
            state: self.state(),
            grant: None,
            allowance,
            from,
        }
    }

    /// Counts a wrong token from this address. Returns how long its sender has to wait for the answer, so that
    /// guessing takes long. A right token never waits.
    ///
    /// # Errors
    /// Fails with the wait if it is too long, because others from there wait already.
    pub fn wrong_token(&self, from: IpAddr) -> Result<Duration, Duration> {
        let key = (AddressKey::of(from), None);
        let mut slowdown = self.slowdown.lock();
        let wait = slowdown.attempt(&key, self.now());
        let failures = slowdown.failed(&key, self.now());
        if failures.is_power_of_two() {
            tracing::warn!(%from, failures, "a wrong token over HTTP");
        }
        wait
    }
}

impl Caller {
    /// The configured name of the client; `None` without a token.
    pub fn name(&self) -> Option<&str> {
        let client = self.grant.as_ref()?.client.as_ref()?;
        Some(&client.name)
    }

    /// Whose share of the daemon it uses.
    pub fn holder(&self) -> Holder {
        match self.name() {
            Some(client) => Holder::Client(client.into()),
            None => AddressKey::of(self.from).holder(),
        }
    }

    /// Whether it has this right.
    pub fn has(&self, right: Right) -> bool {
        let grant = self.grant.as_ref();
        grant.is_some_and(|grant| grant.rights.has(right))
    }

    /// Whether its ids of players are names.
    pub fn ids_are_names(&self) -> bool {
        let grant = self.grant.as_ref();
        let client = grant.and_then(|grant| grant.client.as_ref());
        client.is_some_and(|client| client.ids_are_names)
    }

    /// Whether it may use the queues for this player.
    pub fn speaks_for(&self, player: &str) -> bool {
        let grant = self.grant.as_ref();
        let client = grant.and_then(|grant| grant.client.as_ref());
        client.is_some_and(|client| client.players.contains(player))
    }

    /// Counts `number` lines, decisions or reports against the limits.
    ///
    /// # Errors
    /// Fails with the time after which it may be tried again.
    pub fn count(&self, charge: Charge, number: usize) -> Result<(), Duration> {
        let Some(allowance) = &self.allowance else {
            return Ok(());
        };
        let (rates, now) = (&self.state.rates, self.gate.now());
        let (bucket, rate) = match charge {
            Charge::Line => (&allowance.lines, rates.lines),
            Charge::Decision => (&allowance.decisions, rates.decisions),
            Charge::Report => (&allowance.reports, rates.reports),
        };
        let Some(rate) = rate.filter(|_| number > 0) else {
            return Ok(());
        };
        bucket.take(now, rate)?;
        for _ in 1..number {
            // What is taken beyond the limit, later requests wait for.
            bucket.charge(now, rate);
        }
        Ok(())
    }
}
