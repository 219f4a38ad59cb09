//! From stored matches to published weights.
//!
//! [`Learning`] folds the matches of the store in (end time, fingerprint) order, keeps the learned
//! state in memory, writes the derived tables to the store, and publishes the weights as
//! [`Standings`]. Readers of the standings never wait: a new state replaces the old one as a whole.
//! Only one daemon of a database writes the derived tables: the one that has their lease ([`leases`]).
//! This room does not depend on sessions, sockets or log files.
//!
//! Entry point: [`Learning::open`].

mod behaviour;
mod board;
mod boards;
mod checkpoint;
mod derive;
mod derived_tables;
mod gaps;
mod knowledge;
mod late;
mod learned;
pub mod leases;
mod metrics;
mod player_facts;
mod poll;
mod resume;
mod standings;
mod systems;
mod view;
mod why;
mod writer;

pub use behaviour::{ANYONE, BehaviourBook, BehaviourError};
pub use board::BoardSize;
pub use boards::{BoardLine, BoardQuery, FoundPerson, MOST_FOUND, StandingLine};
pub use derive::Rebuilt;
pub use derived_tables::Verified;
pub use metrics::{LearnedFigures, LearningMetrics};
pub use player_facts::PlayerFacts;
pub use resume::AT_ONCE;
pub use standings::{PlayerExchange, Standings, SwapSeat, Swaps, swaps};
pub use systems::{BestOfRuleset, SystemMeasures, SystemsReport};
pub use view::View;
pub use why::{AccountEntry, EarlierGames, PlayedMatch, WeightHere, WhyQuestion, WhyRating};

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    pin::pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering},
    },
    time::Duration,
};

use parking_lot::{Mutex, RwLock};
use serde_json::{Map, Value};
use tokio::{
    sync::Notify,
    time::{Instant, timeout_at},
};
use tracing::Span;

use crate::{
    files::FileMode,
    model::{
        Kind, PlayerKey, Rulebook, Ruleset, Timestamp,
        behaviour::BehaviourSettings,
        merge::CountsAs,
        names::ClanTags,
        rulebook::{PatternError, RulebookSpec},
        weight::Rank,
    },
    rating::history::{self, Level, Weight},
    store::{Store, StoreError},
};

use boards::SortedBoards;
use checkpoint::Folder;
use derived_tables::Written;
use gaps::Passes;
use late::LateBudgets;
pub use late::processor_time;
use learned::LearnedState;
use leases::SharedSettings;
use writer::Writer;

/// Number of matches read per query.
const CHUNK: u32 = 512;

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
    learned: tokio::sync::Mutex<Option<(String, LearnedState)>>,
    writer: Writer,
    /// The weights in the database; `None` if they are not known to be those of a fold.
    written: Mutex<Option<Written>>,
    /// Many rows are being written.
    writes: Ongoing,
    /// Locked by the one task that may fold matches again beside the learned state.
    second: tokio::sync::Mutex<()>,
    /// Matches are being folded again.
    replays: Ongoing,
    /// What clients may let be folded again.
    late: Mutex<LateBudgets>,
    /// Notified when matches have to be folded again.
    corrected: Notify,
    /// Notified when the last checkpoint is old.
    behind: Notify,
    /// Where checkpoints are kept; unset if they are not.
    folder: OnceLock<Folder>,
    /// Notified when weights are published.
    published: Notify,
    passes: Passes,
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

/// The folder of the checkpoints beside a database.
pub fn folder_beside(database: &Path) -> PathBuf {
    database.with_extension(FOLDER)
}
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
            let _ = folder.set(Folder::new(folder_beside(file), settings.file_mode));
        }
        Ok(Self {
            rulebook: Rulebook::new(&settings.rulebook)?,
            behaviour: Arc::new(BehaviourBook::open(
                store.clone(),
                settings.behaviour.clone(),
                settings.tags.clone(),
            )?),
            settings_key: learned::settings_key(&settings)?,
            shared: settings.shared(learned::FOLD_VERSION)?,
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
            late: Mutex::default(),
            corrected: Notify::new(),
            behind: Notify::new(),
            folder,
            published: Notify::new(),
            passes: Passes::default(),
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
        let folder = Folder::new(folder_beside(file), self.settings.file_mode);
        let _ = self.folder.set(folder);
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

/// Why learning failed. The published weights are the same as before.
#[derive(Debug, thiserror::Error)]
pub enum LearningError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The rulebook has an invalid pattern.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// The settings cannot be serialised, so that they cannot be compared with those of stored
    /// weights.
    #[error("the settings cannot be serialised")]
    Settings(#[from] serde_json::Error),
    /// The learned state cannot be encoded.
    #[error("the learned state cannot be encoded")]
    Encode(#[from] std::io::Error),
    /// The thread that folds matches panicked or was cancelled.
    #[error("a task was cancelled or panicked")]
    Task(#[from] tokio::task::JoinError),
}

/// What differs between two versions of the program that derive other weights from the same matches and settings.
const VERSION: &str = "the version of the program";

/// How weights are learned. Weights that were learned with other settings are derived again.
#[derive(Clone, Debug, Default, serde::Serialize)]
pub struct Settings {
    /// Which games share their weights.
    pub rulebook: RulebookSpec,
    /// Which matches are rated, and by which rating system.
    pub history: history::Settings,
    /// What is stripped from names before they are identities.
    #[serde(skip_serializing_if = "ClanTags::is_empty")]
    pub tags: ClanTags,
    /// How reports about behaviour count. No weight depends on it.
    #[serde(skip)]
    pub behaviour: BehaviourSettings,
    /// The mode of new checkpoints.
    #[serde(skip)]
    pub file_mode: FileMode,
}

impl Settings {
    /// What the daemons of a database must have in common to derive the same weights, by the keys of the configuration.
    ///
    /// # Errors
    /// Fails if the settings cannot be serialised.
    fn shared(&self, version: u32) -> Result<SharedSettings, serde_json::Error> {
        let mut shared = SharedSettings::default();
        shared.add(VERSION, &version)?;
        shared.add("mutators", &self.rulebook.mutators)?;
        shared.add("game_types", &self.rulebook.game_types)?;
        shared.add(
            "identity",
            &Map::from_iter([("strip".into(), serde_json::to_value(&self.tags)?)]),
        )?;
        let mut rating = Map::new();
        if let Value::Object(history) = serde_json::to_value(&self.history)? {
            for (key, value) in history {
                match key.as_str() {
                    "divisions" => shared.add("divisions", &value)?,
                    "seasons" => {
                        shared.add("season", &Map::from_iter([("starts".into(), value)]))?
                    }
                    "season_keeps" => {
                        shared.add("season", &Map::from_iter([("keeps".into(), value)]))?;
                    }
                    _ => drop(rating.insert(key, value)),
                }
            }
        }
        shared.add("rating", &rating)?;
        Ok(shared)
    }
}

/// A player's division as it is displayed.
#[derive(Clone, Debug, PartialEq)]
pub struct DisplayedRank {
    /// The name of the division and the progress in it, 0 to 1; `None` while the player is calibrating.
    pub division: Option<(String, f64)>,
    /// The number of rated matches from which the weight was learned.
    pub games: u32,
    /// The weight, if players may see it and it is known.
    pub weight: Option<f64>,
}

impl Learning {
    /// The displayed division of a human under a ruleset. It is lower than the division that the
    /// player reached if the last match was long before `now`. `None` if no divisions are
    /// configured.
    pub fn displayed_rank(
        &self,
        standings: &Standings,
        ruleset: &Ruleset,
        id: &str,
        now: Timestamp,
    ) -> Option<DisplayedRank> {
        let settings = &self.settings.history.divisions;
        if !settings.is_on() {
            return None;
        }
        let view = standings.view(ruleset);
        let reached = view.rank(id);
        let displayed = reached.rank.map(|rank| {
            let away = now.0.saturating_sub(reached.last_seen.0);
            settings.displayed(rank, away)
        });
        let named = |rank: Rank| Some((settings.name(rank.division)?.to_owned(), rank.progress));
        Some(DisplayedRank {
            division: displayed.and_then(named),
            games: reached.games,
            weight: view.human(id).filter(|_| settings.shows_weights()),
        })
    }
}

/// The bots that have the closest level of games that any bot has.
#[derive(Clone, Debug, Default)]
struct MeanBot {
    /// The mean weight, and the number of these bots; `None` without any.
    mean: Option<(f64, usize)>,
    strength: f64,
    names: BTreeSet<String>,
}

impl MeanBot {
    fn of(bots: &[(Weight<'_>, Level)]) -> Self {
        let closest = bots.iter().map(|(_, level)| *level).min();
        let (mut sum, mut strength, mut names) = (0.0, 0.0, BTreeSet::new());
        for (weight, _) in bots.iter().filter(|(_, level)| Some(*level) == closest) {
            sum += weight.weight;
            strength += weight.strength;
            names.insert(weight.key.id.clone());
        }
        if names.is_empty() {
            return Self::default();
        }
        let count = names.len();
        Self {
            mean: Some((sum / count as f64, count)),
            strength: strength / count as f64,
            names,
        }
    }
}

/// Whether some work goes on, which only one task does at a time.
#[derive(Debug, Default)]
struct Ongoing {
    goes_on: AtomicBool,
    ended: Notify,
}

/// The work goes on until this is dropped.
struct Work<'a>(&'a Ongoing);

impl Ongoing {
    pub fn begin(&self) -> Work<'_> {
        self.goes_on.store(true, Ordering::Release);
        Work(self)
    }

    pub fn goes_on(&self) -> bool {
        self.goes_on.load(Ordering::Acquire)
    }

    /// Waits until it does not.
    pub async fn end(&self) {
        loop {
            let mut ended = pin!(self.ended.notified());
            ended.as_mut().enable();
            if !self.goes_on() {
                return;
            }
            ended.await;
        }
    }
}

impl Drop for Work<'_> {
    fn drop(&mut self) {
        self.0.goes_on.store(false, Ordering::Release);
        self.0.ended.notify_waiters();
    }
}
