//! The line protocol over TCP: accepts connections, enforces the [`ConnectionLimits`] and what the [`Gate`] permits, and drains on
//! shutdown. `access` decides who may connect, do what, and how fast; [`watch`] is what operators see of the service.
//!
//! The caller provides the listener and the cancellation token; this room opens no port and handles
//! no signal. Whatever a peer sends, its connection costs one task and a bounded buffer for a
//! bounded time. Entry point: [`run`].
//!
//! A new connection is served by the runtime with the fewest connections. It stays there, so that no question about a
//! weight waits for another thread: the time that such a question takes is the reason for this.

pub mod access;
mod connection;
mod dispatch;
mod gate;
mod host;
mod metrics;
mod tls;
pub mod watch;

use std::{
    collections::BTreeMap,
    io,
    net::SocketAddr,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use access::{AddressKey, Places};
use bytes::BytesMut;
use parking_lot::Mutex;
use serde::Deserialize;
use tokio::{
    io::AsyncWriteExt,
    net::{TcpListener, TcpStream},
    runtime::Handle,
    time,
};
use tokio_rustls::TlsAcceptor;
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::Instrument;

use crate::{
    learning::{self, AT_ONCE, Learning, LearningError, leases::LeaseSettings},
    matchmaking::{
        QueueError, QueueSettings,
        lifecycle::{CoordinatorSettings, Provider},
    },
    model::{
        rulebook::PatternError,
        units::{Count, Seconds, UpToAWeek},
    },
    protocol::{Code, Refusal, Reply},
    queues::{Allocator, AllocatorError, Queues},
    session::{self, Clock, HolderOf, MachineClock, MailboxReceiver, Session, Sessions},
    store::Store,
};

pub use connection::{ByteStream, serve};
pub use dispatch::refusal as session_refusal;
pub use gate::{Caller, Gate, Peer};
pub use host::refusal as queue_refusal;
pub use metrics::ServerMetrics;
pub use tls::TlsIdentity;

/// Serves until `stop` is cancelled; connections are tasks of `tasks`. Then each session finishes its
/// current command, sends the pending replies and closes. Connections that have not ended after
/// [`ConnectionLimits::drain_seconds`] are dropped with what they wait for. Returns once all connections have ended.
pub async fn run(
    listeners: Listeners,
    service: Arc<Service>,
    limits: ConnectionLimits,
    gate: Arc<Gate>,
    tasks: TaskTracker,
    stop: CancellationToken,
) {
    let places = Places::new(limits.max_connections.as_usize());
    let connections = TaskTracker::new();
    let drop_all = CancellationToken::new();
    let acceptor = Acceptor {
        service,
        limits,
        gate,
        stop: stop.clone(),
        drop_all: drop_all.clone(),
        tasks,
        connections: connections.clone(),
        places: Arc::new(Mutex::new(places)),
        runtimes: Runtimes::new(&listeners.runtimes),
    };
    stop.run_until_cancelled(acceptor.accept_everywhere(&listeners))
        .await;
    drop(listeners);
    connections.close();
    let drained = time::timeout(limits.drain_seconds.duration(), connections.wait()).await;
    if drained.is_err() {
        tracing::warn!(
            connections = connections.len(),
            "dropping connections that did not drain in time"
        );
        drop_all.cancel();
        connections.wait().await;
    }
}

/// Accepts connections, and holds the state that all of them share.
struct Acceptor {
    service: Arc<Service>,
    limits: ConnectionLimits,
    gate: Arc<Gate>,
    stop: CancellationToken,
    /// When cancelled, every connection is dropped, whatever it waits for.
    drop_all: CancellationToken,
    tasks: TaskTracker,
    /// The connections that have not ended.
    connections: TaskTracker,
    places: Arc<Mutex<Places<CancellationToken>>>,
    runtimes: Runtimes,
}

/// The place of a connection, until it is dropped.
struct OwnPlace {
    places: Arc<Mutex<Places<CancellationToken>>>,
    number: u64,
}

impl Drop for OwnPlace {
    fn drop(&mut self) {
        self.places.lock().leave(self.number);
    }
}

impl Acceptor {
    async fn accept_everywhere(&self, listeners: &Listeners) {
        let plain = self.accept_all(&listeners.plain, None);
        match &listeners.tls {
            None => plain.await,
            Some(tls) => {
                tokio::join!(plain, self.accept_all(&tls.listener, Some(tls)));
            }
        }
    }

    async fn accept_all(&self, listener: &TcpListener, tls: Option<&TlsListener>) {
        let mut fails = false;
        loop {
            match listener.accept().await {
                Ok((stream, address)) => {
                    if std::mem::take(&mut fails) {
                        tracing::info!("connections are accepted again");
                    }
                    self.admit(stream, address, tls);
                }
                Err(error) => {
                    if !std::mem::replace(&mut fails, true) {
                        tracing::warn!(%error, "cannot accept a connection");
                    }
                    // The process has probably run out of file descriptors: give other connections
                    // time to end.
                    time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }

    /// Starts a connection, if there is room for one from this address.
    fn admit(&self, stream: TcpStream, address: SocketAddr, tls: Option<&TlsListener>) {
        let metrics = self.gate.metrics();
        let Some(peer) = Peer::enter(&self.gate, address.ip()) else {
            metrics.refused_by_address.count();
            return self.refuse(stream, tls, "too many connections from your address");
        };
        let Some(place) = self.place(&peer) else {
            metrics.refused.count();
            let most = self.limits.max_connections.get();
            let why = format!("all {most} places are taken by connections with a running game");
            return self.refuse(stream, tls, &why);
        };
        metrics.accepted[usize::from(tls.is_some())].count();
        self.start(stream, address, place, peer, tls);
    }

    /// A place for a connection; `None` if nobody gives up one.
    fn place(&self, peer: &Peer) -> Option<OwnPlace> {
        let address = AddressKey::of(peer.from());
        let (shown, tell) = (peer.shown().clone(), peer.gives_up().clone());
        let mut places = self.places.lock();
        let (number, told) = places.enter(address, shown, tell, self.gate.now())?;
        if let Some(told) = told {
            self.gate.metrics().given_up.count();
            told.cancel();
        }
        Some(OwnPlace {
            places: self.places.clone(),
            number,
        })
    }

    /// Runs a connection as a task that holds its place.
    fn start(
        &self,
        stream: TcpStream,
        address: SocketAddr,
        place: OwnPlace,
        peer: Peer,
        tls: Option<&TlsListener>,
    ) {
        let admitted = Admitted {
            service: self.service.clone(),
            limits: self.limits,
            peer,
            stop: self.stop.clone(),
            shake: tls.map(|tls| (tls.identity.acceptor(), tls.handshake)),
        };
        let slot = self.runtimes.take();
        let runtime = slot.runtime().cloned();
        // Replies are small, and game servers wait for them.
        let _ = stream.set_nodelay(true);
        let Ok(stream) = slot.detach(stream) else {
            return;
        };
        let drop_all = self.drop_all.child_token();
        let span = tracing::debug_span!("connection", peer = %address);
        let serving = async move {
            let _held = (place, slot);
            let serving = admitted.serve(stream).instrument(span);
            drop_all.run_until_cancelled(serving).await;
        };
        let serving = self.connections.track_future(serving);
        match runtime {
            Some(runtime) => self.tasks.spawn_on(serving, &runtime),
            None => self.tasks.spawn(serving),
        };
    }

    /// Refuses a connection with an error line. The peer has one second to close its side. One that would be encrypted is
    /// closed without a reason.
    fn refuse(&self, mut stream: TcpStream, tls: Option<&TlsListener>, why: &str) {
        tracing::debug!(why, "refusing a connection");
        if tls.is_some() {
            return;
        }
        self.gate.metrics().error(Code::Overloaded);
        let mut bytes = BytesMut::new();
        Reply::Error(Refusal::new(Code::Overloaded, why)).encode(&mut bytes);
        // The send buffer of a new connection is empty, so the line fits without waiting.
        let sent: io::Result<usize> = stream.try_write(&bytes);
        tracing::trace!(?sent, "refusal sent");
        self.tasks.spawn(async move {
            let _ = time::timeout(Duration::from_secs(1), stream.shutdown()).await;
        });
    }
}

/// A connection that is let in, and what it is served with.
struct Admitted {
    service: Arc<Service>,
    limits: ConnectionLimits,
    peer: Peer,
    stop: CancellationToken,
    /// For an encrypted connection, what accepts it, and the time limit of the handshake.
    shake: Option<(TlsAcceptor, Duration)>,
}

impl Admitted {
    async fn serve(self, stream: Detached) {
        let (limits, peer, stop) = (self.limits, self.peer, self.stop);
        let Ok(stream) = stream.attach() else { return };
        let Some((acceptor, limit)) = self.shake else {
            serve(stream, &self.service, limits, peer, stop).await;
            return;
        };
        let gives_up = peer.gives_up().clone();
        let shaking = time::timeout(limit, acceptor.accept(stream));
        let shaking = gives_up.run_until_cancelled(shaking);
        match stop.run_until_cancelled(shaking).await.flatten() {
            Some(Ok(Ok(stream))) => {
                serve(stream, &self.service, limits, peer, stop).await;
            }
            Some(Ok(Err(error))) => tracing::debug!(%error, "no encrypted connection"),
            Some(Err(_)) => tracing::debug!("the handshake takes too long"),
            None => {}
        }
    }
}

/// Why a certificate and its key cannot be used. No error contains anything of the key.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file cannot be read.
    #[error("{}: {source}", path.display())]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file does not contain what it should, or the key is not that of the certificate.
    #[error("{}: {why}", path.display())]
    Content {
        /// The path of the file.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
}

/// The limits on each connection, and on their number.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct ConnectionLimits {
    /// The longest line, in bytes without the line end.
    pub max_line_bytes: Count<64, 65_536>,
    /// The most connections at the same time. One more gets the place of a connection without a running game.
    pub max_connections: Count<1, 65_536>,
    /// The most errors on a connection since its last GAME; one more closes it.
    pub max_errors: Count<1, { u32::MAX }>,
    /// The time limit from the connection to the end of the first line.
    pub first_line_seconds: UpToAWeek,
    /// The time limit from the first byte of a line to its end.
    pub line_seconds: UpToAWeek,
    /// The time limit between two lines.
    pub idle_seconds: UpToAWeek,
    /// The time limit for the peer to read a reply.
    pub write_seconds: UpToAWeek,
    /// The time limit for all connections to end after `stop` is cancelled.
    pub drain_seconds: Seconds<0, 60>,
}

/// The sockets on which connections come in, and the runtimes that serve them.
#[derive(Debug)]
pub struct Listeners {
    /// The socket for lines as they are.
    pub plain: TcpListener,
    /// The socket for encrypted lines.
    pub tls: Option<TlsListener>,
    /// The runtimes on which connections are served; if there are none, that of the listeners.
    pub runtimes: Vec<Handle>,
}

/// A socket for encrypted lines.
#[derive(Debug)]
pub struct TlsListener {
    /// The socket itself.
    pub listener: TcpListener,
    /// The certificate that it shows.
    pub identity: Arc<TlsIdentity>,
    /// The time limit of the handshake.
    pub handshake: Duration,
}

impl Listeners {
    /// The addresses of all sockets.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        let tls = self.tls.as_ref().map(|tls| &tls.listener);
        let sockets = [Some(&self.plain), tls].into_iter().flatten();
        sockets
            .filter_map(|socket| socket.local_addr().ok())
            .collect()
    }
}

impl From<TcpListener> for Listeners {
    fn from(plain: TcpListener) -> Self {
        Self {
            plain,
            tls: None,
            runtimes: Vec::new(),
        }
    }
}

/// The runtimes that serve connections, and the number of connections of each.
struct Runtimes(Vec<(Handle, Arc<AtomicUsize>)>);

/// The slot of one connection at a runtime, until it is dropped.
struct RuntimeSlot(Option<(Handle, Arc<AtomicUsize>)>);

/// A connection on its way to the runtime that will serve it.
enum Detached {
    /// It is served where it came in.
    Here(TcpStream),
    /// It has left the runtime on which it came in.
    Elsewhere(std::net::TcpStream),
}

impl Runtimes {
    /// No connection at any of these runtimes.
    pub fn new(runtimes: &[Handle]) -> Self {
        let runtimes = runtimes.iter();
        Self(
            runtimes
                .map(|runtime| (runtime.clone(), Arc::default()))
                .collect(),
        )
    }

    /// A slot at the runtime with the fewest connections. Without any runtimes, connections are served where
    /// they come in.
    pub fn take(&self) -> RuntimeSlot {
        let fewest = self
            .0
            .iter()
            .min_by_key(|(_, number)| number.load(Ordering::Relaxed));
        if let Some((_, number)) = fewest {
            number.fetch_add(1, Ordering::Relaxed);
        }
        RuntimeSlot(fewest.cloned())
    }
}

impl RuntimeSlot {
    /// The runtime that serves the connection; `None` for the one on which it came in.
    pub fn runtime(&self) -> Option<&Handle> {
        self.0.as_ref().map(|(runtime, _)| runtime)
    }

    /// Takes the connection off the runtime on which it came in, if another one serves it.
    ///
    /// # Errors
    /// Fails if the operating system does not let go of the socket.
    pub fn detach(&self, stream: TcpStream) -> io::Result<Detached> {
        Ok(match self.0 {
            Some(_) => Detached::Elsewhere(stream.into_std()?),
            None => Detached::Here(stream),
        })
    }
}

impl Drop for RuntimeSlot {
    fn drop(&mut self) {
        if let Some((_, number)) = &self.0 {
            number.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Detached {
    /// The connection on the present runtime.
    ///
    /// # Errors
    /// Fails if the runtime cannot watch the socket.
    pub fn attach(self) -> io::Result<TcpStream> {
        match self {
            Self::Here(stream) => Ok(stream),
            Self::Elsewhere(stream) => TcpStream::from_std(stream),
        }
    }
}

/// The settings of learning, of sessions and of queues.
#[derive(Clone, Debug)]
pub struct ServiceSettings {
    /// How weights are learned.
    pub learning: learning::Settings,
    /// How sessions behave.
    pub session: session::Settings,
    /// The queues, by name.
    pub queues: BTreeMap<String, QueueSettings>,
    /// How long each step of a hosted match may take.
    pub hosting: CoordinatorSettings,
    /// After how long without a sign of life another daemon may take over what only one may do.
    pub lease: Duration,
}

/// Why the service cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The learned state cannot be opened.
    #[error(transparent)]
    Learning(#[from] LearningError),
    /// The session settings contain an invalid pattern.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// The allocator cannot be asked.
    #[error(transparent)]
    Allocator(#[from] AllocatorError),
    /// The settings of a queue contradict each other.
    #[error("a queue: {0}")]
    Queue(#[from] QueueError),
}

/// An open database, and the learning, the sessions and the queues over it.
///
/// Operators read and write the [`store`](Service::store) directly; after a change that affects weights, call
/// [`Learning::refresh`].
#[derive(Debug)]
pub struct Service {
    leases: LeaseSettings,
    store: Arc<Store>,
    learning: Arc<Learning>,
    sessions: Arc<Sessions>,
    queues: Arc<Queues>,
}

impl Service {
    /// Opens learning and sessions over a store. No weights are published before the first
    /// [`Learning::refresh`].
    ///
    /// # Errors
    /// Fails if the settings contain an invalid pattern, or name certificates that cannot be used.
    pub fn open(store: Arc<Store>, settings: ServiceSettings) -> Result<Self, ServiceError> {
        Self::open_with_clock(store, settings, Arc::new(MachineClock::default()))
    }

    /// Like [`open`](Self::open), with another clock than the machine's.
    ///
    /// # Errors
    /// Fails if the settings contain an invalid pattern.
    pub fn open_with_clock(
        store: Arc<Store>,
        settings: ServiceSettings,
        clock: Arc<dyn Clock>,
    ) -> Result<Self, ServiceError> {
        let (now, learning) = (clock.clone(), settings.learning);
        let learning = Learning::open(store.clone(), learning, move || now.now())?;
        let learning = Arc::new(learning);
        let sessions = Sessions::new(store.clone(), learning.clone(), settings.session)?;
        let sessions = Arc::new(sessions.with_clock(clock.clone()));
        let allocator = match settings.hosting.provider {
            Provider::Agones => Some(Allocator::open(&settings.hosting.agones)?),
            Provider::Instances => None,
        };
        let leases = LeaseSettings::new(settings.lease);
        let queues = Queues::new(
            settings.queues,
            store.clone(),
            learning.clone(),
            clock,
            settings.hosting,
            allocator,
            leases.clone(),
        )?;
        Ok(Self {
            leases,
            store,
            learning,
            sessions,
            queues: Arc::new(queues),
        })
    }

    /// Goes on from what was learned, and publishes weights before anybody can ask, as [`Learning::resume`] says. From
    /// now on, this process writes the weights whenever it has the lease for that. Returns the number of stored matches.
    ///
    /// # Errors
    /// Fails if the weights cannot be derived from the stored matches.
    pub async fn resume(&self) -> Result<i64, ServiceError> {
        self.learning.write_by_lease(self.leases.clone());
        Ok(self.learning.resume(AT_ONCE).await?)
    }

    /// Shares room by the clients of this gate, also for what an earlier daemon has left. Only the first call counts.
    pub fn share_by(&self, gate: &Arc<Gate>) {
        let gate = gate.clone();
        let holder_of: HolderOf = Arc::new(move |name| gate.holder_of(name));
        self.sessions.share_by(holder_of.clone());
        self.queues.share_by(holder_of);
    }

    /// The database that the service works on.
    pub fn store(&self) -> &Arc<Store> {
        &self.store
    }

    /// How this process takes leases of the database.
    pub fn leases(&self) -> &LeaseSettings {
        &self.leases
    }

    /// The learned state and the published weights.
    pub fn learning(&self) -> &Arc<Learning> {
        &self.learning
    }

    /// The state that all sessions share.
    pub fn sessions(&self) -> &Arc<Sessions> {
        &self.sessions
    }

    /// The queues of the configuration.
    pub fn queues(&self) -> &Arc<Queues> {
        &self.queues
    }

    /// Opens a session without a mailbox for pushes.
    pub fn open_session(&self) -> Session {
        Session::new(self.sessions.clone())
    }

    /// Opens a session for a new connection, and the receiver of lines that the connection has to
    /// send without a request.
    pub fn open_connection(&self) -> (Session, MailboxReceiver) {
        Session::open(self.sessions.clone())
    }

    /// Waits for running writes and closes the database.
    pub async fn close(&self) {
        self.store.close().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn connections_are_spread_and_the_slots_of_those_that_end_are_taken_first() {
        let runtimes = Runtimes::new(&[Handle::current(), Handle::current()]);
        let number = |at: usize| runtimes.0[at].1.load(Ordering::Relaxed);
        let mut taken: Vec<RuntimeSlot> = (0..6).map(|_| runtimes.take()).collect();
        assert_eq!((number(0), number(1)), (3, 3));
        taken.retain(|slot| !Arc::ptr_eq(&slot.0.as_ref().unwrap().1, &runtimes.0[1].1));
        assert_eq!((number(0), number(1)), (3, 0));
        taken.extend((0..2).map(|_| runtimes.take()));
        assert_eq!((number(0), number(1)), (3, 2));
        drop(taken);
        assert_eq!((number(0), number(1)), (0, 0));
    }
}
