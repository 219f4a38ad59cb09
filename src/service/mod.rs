//! The use cases: what a game server, an admin or an operator can ask for.
//!
//! This room joins the store with the pure rooms, and owns what is shared between sessions: the
//! weights in memory, and the right to use a core. It knows nothing of sockets and lines. Questions
//! about weights are answered from memory; only what must be kept touches the disk.
//! Entry points: [`Service::open`], [`Session::new`].

mod clock;
mod decide;
mod decisions;
mod derive;
mod journal;
mod learned;
pub mod logs;
mod play;
mod players;
mod present;
mod results;
mod seen;
mod session;
mod table;
mod tail;
mod weights;

use std::{
    collections::BTreeMap,
    sync::{Arc, PoisonError, RwLock},
};

use tokio::sync::Semaphore;

use crate::{
    domain::{MatchRecord, PatternError, Patterns, Rulebook, RulebookSpec, Secret},
    history,
    lobby::LobbySettings,
    store::{Store, StoreError},
};

pub use crate::lobby::{LobbyError, Update};
pub use crate::store::{Half, NameSeen, Recorded, Said, WeightRow};
pub use clock::{Clock, HandClock, MachineClock};
pub use decide::{BalanceSettings, Balanced, Rebalanced};
pub use decisions::Replayed;
pub use derive::Rebuilt;
pub use results::Ended;
pub use session::{Session, draw_seed};
pub use tail::{Tail, Tailed};
pub use weights::{Standings, View};

use journal::Journal;
use learned::Learned;
use present::Present;
use results::Waiting;

/// What an admin decides about the service.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which games count alike.
    pub rulebook: RulebookSpec,
    /// How weights are learned.
    pub history: history::Settings,
    /// Whether each ruleset gets the rating system that predicts best on the server's own past.
    pub auto: bool,
    /// What every lobby goes by.
    pub lobby: LobbySettings,
    /// How teams are chosen.
    pub balance: BalanceSettings,
    /// Game servers that may connect, with their tokens; none: all may.
    pub clients: BTreeMap<String, Secret>,
    /// For how long a game waits for its server after its connection ended, in milliseconds.
    pub resume_grace: u64,
    /// How many decisions are stored, 0 for none.
    pub keep_decisions: u32,
    /// Game types whose teams are the players' own affair; globs.
    pub tournament: Vec<String>,
}

/// Why a use case did not happen; nothing has changed.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The lobby says no.
    #[error(transparent)]
    Lobby(#[from] LobbyError),
    /// This peer may not.
    #[error("{0}")]
    NotAllowed(&'static str),
    /// An argument that makes no problem to solve.
    #[error("{0}")]
    BadArgument(String),
    /// No core or no time for it.
    #[error("there was no time to choose teams")]
    Overloaded,
    /// The database's fault, for the log.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A pattern in the configuration.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// A task was ended from outside.
    #[error("a task was cancelled or panicked")]
    Task(#[from] tokio::task::JoinError),
}

/// Shared by all sessions.
pub struct Service {
    settings: Settings,
    /// Tells what was derived by these settings from what was by others.
    settings_key: String,
    rulebook: Rulebook,
    tournament: Patterns,
    store: Store,
    /// Swapped whole when new weights are known; readers keep what they have.
    standings: RwLock<Arc<Standings>>,
    /// One permit a core for work that takes long.
    cores: Arc<Semaphore>,
    /// All that is learned, for whoever adds to it, and by which configuration.
    learned: tokio::sync::Mutex<Option<(String, Learned)>>,
    clock: Arc<dyn Clock>,
    /// Games whose connection has ended.
    waiting: Waiting,
    present: Present,
    journal: Journal,
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service").finish_non_exhaustive()
    }
}

impl Service {
    /// The use cases over an open store. Nothing is known before the first [`Service::refresh`].
    ///
    /// # Errors
    /// A bad pattern in the settings.
    pub fn open(store: Store, settings: Settings) -> Result<Self, ServiceError> {
        let rulebook = Rulebook::new(&settings.rulebook)?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let service = Self {
            rulebook,
            tournament: Patterns::new("tournament", &settings.tournament)?,
            settings_key: derive::settings_key(&settings),
            settings,
            store,
            standings: RwLock::default(),
            cores: Arc::new(Semaphore::new(cores)),
            learned: tokio::sync::Mutex::default(),
            clock: Arc::new(MachineClock::default()),
            waiting: Waiting::default(),
            present: Present::default(),
            journal: Journal::default(),
        };
        Ok(service)
    }

    /// The same, by another clock.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Writes a finished match. Its weights follow with [`Service::refresh`].
    ///
    /// # Errors
    /// The record's or the database's.
    pub async fn record(&self, record: &MatchRecord) -> Result<Recorded, ServiceError> {
        Ok(self.store.record(record).await?)
    }

    /// The weights known now.
    pub fn standings(&self) -> Arc<Standings> {
        self.standings
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Which games count alike.
    pub fn rulebook(&self) -> &Rulebook {
        &self.rulebook
    }

    /// Waits for what is under way and closes the database.
    pub async fn close(&self) {
        self.store.close().await;
    }

    /// Why these matches are not rated, or `None` where they are, in any order.
    ///
    /// # Errors
    /// The database's.
    pub async fn rulings(&self, ids: &[i64]) -> Result<Vec<Option<String>>, ServiceError> {
        Ok(self.store.rulings(ids).await?)
    }

    /// From now on, this is what is known.
    fn publish(&self, learned: &Learned) {
        let fresh = Arc::new(Standings::new(learned.knowledge.clone()));
        *self
            .standings
            .write()
            .unwrap_or_else(PoisonError::into_inner) = fresh;
    }
}
