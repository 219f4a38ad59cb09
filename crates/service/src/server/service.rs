//! What a server serves: one store, the weights learned from it, and the sessions and queues that use both.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use super::Gate;
use crate::{
    learning::leases::LeaseSettings,
    learning::{self, AT_ONCE, Learning, LearningError},
    matchmaking::lifecycle::{CoordinatorSettings, Provider},
    matchmaking::{QueueError, QueueSettings},
    model::rulebook::PatternError,
    queues::{Allocator, AllocatorError, Queues},
    session::{self, Clock, HolderOf, MachineClock, MailboxReceiver, Session, Sessions},
    store::Store,
};

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
