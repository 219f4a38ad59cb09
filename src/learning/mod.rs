//! From stored matches to published weights.
//!
//! [`Learning`] folds the matches of the store in (end time, fingerprint) order, keeps the learned
//! state in memory, writes the derived tables to the store, and publishes the weights as
//! [`Standings`]. Readers of the standings never wait: a new state replaces the old one as a whole.
//! Only one daemon of a database writes the derived tables: the one that has their lease ([`leases`]).
//! This room does not depend on sessions, sockets or log files.
//!
//! Entry point: [`Learning::open`].

mod ahead;
mod awaited;
mod behaviour;
mod board;
mod boards;
mod changes;
mod checkpoint;
mod compared;
mod derive;
mod error;
mod gaps;
mod keys;
mod knowledge;
mod learned;
pub mod leases;
mod look;
mod matches;
mod mean_bot;
mod memo;
mod metrics;
mod ongoing;
mod player_facts;
mod poll;
mod prediction;
mod ranks;
mod recall;
mod replay;
mod resume;
mod rulings;
mod save;
mod settings;
mod spacing;
mod standings;
mod stored;
mod suspects;
mod swaps;
mod systems;
mod verify;
mod view;
mod why;
mod write_derived;
mod writer;

use std::{
    path::Path,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU8, AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::{Mutex, RwLock};
use tokio::{
    sync::Notify,
    time::{Instant, timeout_at},
};
use tracing::Span;

use crate::{
    domain::{CountsAs, Kind, PlayerKey, Rulebook, Timestamp},
    store::Store,
};
use leases::SharedSettings;

pub use behaviour::{ANYONE, BehaviourBook, BehaviourError};
pub use board::{BoardSize, Standing};
pub use boards::{BoardQuery, BoardRow, FoundPerson, StandingLine};
pub use derive::Rebuilt;
pub use error::LearningError;
pub use metrics::{LearnedFigures, LearningMetrics};
pub use player_facts::PlayerFacts;
pub use ranks::DisplayedRank;
pub use resume::AT_ONCE;
pub use settings::Settings;
pub use standings::Standings;
pub use swaps::{Exchange, SwapSeat, Swaps, swaps};
pub use systems::{BestOfRuleset, SystemMeasures, SystemsReport};
pub use verify::Verified;
pub use view::View;
pub use why::{EarlierGames, WeighedMatch, WeightHere, WhyQuestion, WhyRating, reason};

use boards::SortedBoards;
use changes::Written;
use checkpoint::Folder;
use learned::Learned;
use ongoing::Ongoing;
use writer::Writer;

/// The learned state, and the weights published from it.
pub struct Learning {
    settings: Settings,
    /// A hash of the settings. Derived data with another hash was made with other settings.
    settings_key: String,
    /// What the daemons of a database must have in common.
    shared: SharedSettings,
    rulebook: Rulebook,
    store: Arc<Store>,
    behaviour: Arc<BehaviourBook>,
    /// Replaced as a whole when new weights are published; readers keep the state that they have.
    standings: RwLock<Arc<Standings>>,
    /// Raised after the standings are replaced, so that a reader finds out without a lock whether its own are
    /// old.
    edition: AtomicU64,
    boards: SortedBoards,
    /// The learned state and the key of its settings; locked by the one task that adds to it.
    learned: tokio::sync::Mutex<Option<(String, Learned)>>,
    writer: Writer,
    /// The weights in the database; `None` if they are not known to be those of a fold.
    written: Mutex<Option<Written>>,
    /// Many rows are being written.
    writes: Ongoing,
    /// Locked by the one task that may fold matches again beside the learned state.
    second: tokio::sync::Mutex<()>,
    /// Matches are being folded again.
    replays: Ongoing,
    /// Notified when matches have to be folded again.
    corrected: Notify,
    /// Notified when the last checkpoint is old.
    behind: Notify,
    /// Where checkpoints are kept; unset if they are not.
    folder: OnceLock<Folder>,
    /// Notified when weights are published.
    published: Notify,
    /// Notified when this process has recorded a match.
    recorded: Notify,
    /// The span in which the first of the matches that wait to be learned from was recorded.
    cause: Mutex<Span>,
    /// One of [`FRESH`], [`STARTING`], [`OLD`] and [`CURRENT`].
    phase: AtomicU8,
    metrics: LearningMetrics,
    /// The date and time of day, for notices that weights were counted again.
    clock: Box<dyn Fn() -> Timestamp + Send + Sync>,
    /// The beginning of the milliseconds in the metrics.
    began: Instant,
    /// When the weights of the last process were published.
    resumed: OnceLock<Instant>,
}

/// Nothing is published, and there are no matches to derive weights from.
const FRESH: u8 = 0;
/// No weights are known, and there are matches that will give weights.
const STARTING: u8 = 1;
/// Stored weights are published: those of a checkpoint, or those in the database.
const OLD: u8 = 2;
/// The weights of a fold by these settings are published.
const CURRENT: u8 = 3;

/// The extension of the folder of checkpoints beside a database file.
const FOLDER: &str = "learned";
/// How long after [`Learning::resume`] a question waits for weights.
const PATIENCE: Duration = Duration::from_secs(2);

impl std::fmt::Debug for Learning {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Learning").finish_non_exhaustive()
    }
}

impl Learning {
    /// Opens the learned state over a store. The standings are empty before the first
    /// [`refresh`](Self::refresh). The clock gives the date and time of day.
    ///
    /// # Errors
    /// Fails if the rulebook has an invalid pattern.
    pub fn open(
        store: Arc<Store>,
        settings: Settings,
        clock: impl Fn() -> Timestamp + Send + Sync + 'static,
    ) -> Result<Self, LearningError> {
        let folder = OnceLock::new();
        if let Some(file) = store.file() {
            let _ = folder.set(Folder::new(file.with_extension(FOLDER)));
        }
        Ok(Self {
            rulebook: Rulebook::new(&settings.rulebook)?,
            behaviour: Arc::new(BehaviourBook::open(
                store.clone(),
                settings.behaviour.clone(),
                settings.tags.clone(),
            )?),
            settings_key: keys::settings_key(&settings)?,
            shared: settings.shared(keys::FOLD_VERSION)?,
            settings,
            store,
            standings: RwLock::default(),
            edition: AtomicU64::new(0),
            boards: SortedBoards::default(),
            learned: tokio::sync::Mutex::default(),
            writer: Writer::default(),
            written: Mutex::default(),
            writes: Ongoing::default(),
            second: tokio::sync::Mutex::default(),
            replays: Ongoing::default(),
            corrected: Notify::new(),
            behind: Notify::new(),
            folder,
            published: Notify::new(),
            recorded: Notify::new(),
            cause: Mutex::new(Span::none()),
            phase: AtomicU8::new(FRESH),
            metrics: LearningMetrics::default(),
            clock: Box::new(clock),
            began: Instant::now(),
            resumed: OnceLock::new(),
        })
    }

    /// Keeps checkpoints in a folder beside this file, which is that of a database unless that is on a server.
    pub fn keep_beside(&self, file: &Path) {
        let _ = self.folder.set(Folder::new(file.with_extension(FOLDER)));
    }

    /// The weights as of the last fold. The value does not change; a later fold publishes a new
    /// one.
    pub fn standings(&self) -> Arc<Standings> {
        self.standings.read().clone()
    }

    /// The weights as of the last fold, in the season of `now`: a season begins on its date, not with
    /// the next match.
    pub fn standings_at(&self, now: Timestamp) -> Arc<Standings> {
        let standings = self.standings();
        if !standings.season_is_due(now) {
            return standings;
        }
        let later = Arc::new(standings.in_season(now));
        let mut published = self.standings.write();
        if Arc::ptr_eq(&published, &standings) {
            *published = later.clone();
            self.edition.fetch_add(1, Ordering::Release);
        }
        later
    }

    /// The edition of the standings: those that are read after it are at least as new.
    pub fn edition(&self) -> u64 {
        self.edition.load(Ordering::Acquire)
    }

    /// The rulebook, which finds the ruleset of a game.
    pub fn rulebook(&self) -> &Rulebook {
        &self.rulebook
    }

    /// The one form of an identity under which its player is known, if this is another one: of a Steam id, or of a name
    /// with tags.
    pub fn canonical(&self, kind: Kind, id: &str) -> Option<PlayerKey> {
        CountsAs::new([], &self.settings.tags).canonical(kind, id)
    }

    /// What game servers report about players' behaviour.
    pub fn behaviour(&self) -> &Arc<BehaviourBook> {
        &self.behaviour
    }

    /// What is counted about learning.
    pub fn metrics(&self) -> &LearningMetrics {
        &self.metrics
    }

    /// The milliseconds of the metrics, now.
    pub fn millis(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// The settings with which this process derives weights.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether no weights are known, although there are matches that give weights; until they are derived,
    /// questions about weights have no answer.
    pub fn is_starting(&self) -> bool {
        self.phase() == STARTING
    }

    /// Whether the published weights are stored ones, or none, and those by the present settings are being
    /// derived. Until then, some questions have no answer; see [`View::awaits`].
    pub fn is_deriving(&self) -> bool {
        [STARTING, OLD].contains(&self.phase())
    }

    /// Waits until that is over, but not for long, and only just after the start of this process. Returns whether
    /// it is over.
    pub async fn derived_in_time(&self) -> bool {
        let derived = async {
            loop {
                let mut published = std::pin::pin!(self.published.notified());
                published.as_mut().enable();
                if !self.is_deriving() {
                    return;
                }
                published.await;
            }
        };
        let resumed = self.resumed.get().copied().unwrap_or(self.began);
        timeout_at(resumed + PATIENCE, derived).await.is_ok()
    }

    /// Whether the published weights were derived with the present settings.
    fn is_current(&self) -> bool {
        self.phase() == CURRENT
    }

    fn phase(&self) -> u8 {
        self.phase.load(Ordering::Acquire)
    }
}
