//! What all sessions of one daemon share, and the task in the background that writes the backlog and gives up parked
//! games in time.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use parking_lot::{Mutex, RwLock};
use tokio::time::{MissedTickBehavior, interval, sleep};
use tokio_util::task::TaskTracker;
use tracing::{Instrument, Span};

use super::{
    AskerClass, Clock, CoreTurn, GameSettings, MachineClock, Mailbox, SessionError, SessionLevels,
    SessionMetrics, Settings, TurnAsker,
    backlog::{Backlog, INTERVAL},
    command::server_name,
    game_journal::GameJournal,
    hours::Hours,
    journal_folder::JournalFolder,
    live::{LiveBoard, LiveGame, LivePlace},
    registry::{ConnectionRegistry, ParkedGames},
    shares::Shares,
    sources::SourceRegistry,
    state::{ArmRules, GameRules, NewestRules, SessionState},
    turn_gate::TurnGate,
    unlearned::Unlearned,
};
use crate::{
    learning::{Learning, Standings},
    lobby::recorder::Finished,
    model::{Rulebook, access::Holder, rulebook::PatternError},
    store::Store,
};

/// How often journals are forced to the disk.
const SYNC: Duration = Duration::from_secs(2);
/// The most milliseconds of a running game that may be lost in a power cut.
const MAX_LOSS: u64 = 5_000;

/// The state that all sessions share: the store, the published weights, the parked games, and the
/// turns of questions for teams.
pub struct Sessions {
    pub(super) settings: Settings,
    /// The settings of the games that begin now.
    pub(super) rules: NewestRules,
    pub(super) store: Arc<Store>,
    pub(super) learning: Arc<Learning>,
    turns: Arc<TurnGate>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) parked: ParkedGames,
    pub(super) registry: Arc<ConnectionRegistry>,
    /// Which connection reports which game server.
    pub(super) sources: Arc<SourceRegistry>,
    pub(super) backlog: Backlog,
    /// The experiment that goes on, if there is one.
    pub(super) arms: RwLock<Option<Arc<ArmRules>>>,
    /// What senders have brought that is new.
    pub(super) shares: Mutex<Shares>,
    /// How many matches of each human programs have recorded in each hour.
    pub(super) hours: Mutex<Hours>,
    /// What programs have reported and nobody has learned.
    pub(super) unlearned: Mutex<Unlearned>,
    /// The running games as spectators see them.
    pub(super) live: Arc<LiveBoard>,
    tasks: TaskTracker,
    pub(super) metrics: Arc<SessionMetrics>,
    /// Where running games are journaled, if they are.
    pub(super) journals: OnceLock<Arc<JournalFolder>>,
    /// Whose share the name of a game server means.
    holders: OnceLock<HolderOf>,
}

/// Whose share of the daemon a name that was said in HELLO means.
pub type HolderOf = Arc<dyn Fn(&str) -> Holder + Send + Sync>;

impl std::fmt::Debug for Sessions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sessions").finish_non_exhaustive()
    }
}

impl Sessions {
    /// Sessions that record matches in `store` and use the weights of `learning`.
    ///
    /// # Errors
    /// Fails if `tournament` contains an invalid pattern.
    pub fn new(
        store: Arc<Store>,
        learning: Arc<Learning>,
        settings: Settings,
    ) -> Result<Self, PatternError> {
        let parked = ParkedGames::new(settings.connections);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            rules: NewestRules::new(GameRules::new(settings.games.clone())?),
            store,
            learning,
            turns: TurnGate::new(cores),
            clock: Arc::new(MachineClock::default()),
            parked,
            hours: Mutex::default(),
            unlearned: Mutex::default(),
            arms: RwLock::default(),
            shares: Mutex::new(Shares::new(settings.new)),
            registry: Arc::default(),
            sources: Arc::default(),
            backlog: Backlog::default(),
            live: Arc::default(),
            tasks: TaskTracker::new(),
            settings,
            metrics: Arc::default(),
            journals: OnceLock::new(),
            holders: OnceLock::new(),
        })
    }

    /// Replaces the machine's clock.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Says whose share the name of a game server means, for games that an earlier daemon has left. Only the first call
    /// counts.
    pub fn share_by(&self, holder_of: HolderOf) {
        let _ = self.holders.set(holder_of);
    }

    /// Whose share the name of a session means.
    pub(super) fn holder_of(&self, session: &str) -> Holder {
        let of = self.holders.get();
        of.map_or(Holder::ThisMachine, |of| of(server_name(session)))
    }

    /// The mailbox of the newest connection that named this game server in HELLO.
    pub fn mailbox(&self, server: &str) -> Option<Mailbox> {
        self.registry.mailbox(server)
    }

    /// The state of a session before its first command.
    pub(super) fn new_state(&self, span: &Span) -> SessionState {
        let rules = self.rules.get();
        let journal = GameJournal::new(self.journals(), &self.metrics);
        SessionState::new(
            rules.lobby(),
            rules,
            journal,
            LivePlace::new(&self.live),
            span,
        )
    }

    /// Gives other settings to the games that begin from now on. Each running game keeps those that it has until its
    /// server sends GAME. Returns whether they differ from those before.
    ///
    /// # Errors
    /// Fails if `tournament` contains an invalid pattern; nothing changes then.
    pub fn set_game_settings(&self, settings: GameSettings) -> Result<bool, PatternError> {
        self.rules.set(settings)
    }

    /// The running games with players, in the order in which their sessions began.
    pub fn live(&self) -> Vec<Arc<LiveGame>> {
        self.live.games()
    }

    /// The clock of all sessions.
    pub fn clock(&self) -> &Arc<dyn Clock> {
        &self.clock
    }

    /// What all sessions count.
    pub fn metrics(&self) -> &SessionMetrics {
        &self.metrics
    }

    /// What waits or is kept now.
    pub fn levels(&self) -> SessionLevels {
        let (waiting_matches, waiting_decisions) = self.backlog.lengths();
        SessionLevels {
            parked: self.parked.len(),
            waiting_matches,
            waiting_decisions,
            waiting_questions: AskerClass::ALL.map(|class| self.turns.waiting(class)),
            unforced_journals: self.unforced_journals(),
        }
    }

    /// Whether a match that ends now is kept if it cannot be written to the database.
    pub fn can_keep(&self) -> bool {
        self.backlog.has_room()
    }

    /// The number of questions for teams that have their turn now: at most one per core.
    pub fn running_turns(&self) -> usize {
        self.turns.running()
    }

    /// Waits for a turn to choose teams, which takes as long as a game that begins now would have.
    ///
    /// # Errors
    /// Fails if too many others ask.
    pub async fn turn(&self, asker: TurnAsker) -> Result<CoreTurn, SessionError> {
        let deadline = self.rules.get().settings.balance.deadline_ms.duration();
        self.turn_of(asker, deadline).await
    }

    /// Waits for a turn, which takes at most `deadline`.
    pub(super) async fn turn_of(
        &self,
        asker: TurnAsker,
        deadline: Duration,
    ) -> Result<CoreTurn, SessionError> {
        let turn = self.turns.turn(asker, deadline).await;
        Ok(turn.inspect_err(|none| self.metrics.no_turn(none.class))?)
    }

    /// The tasks that outlive the call that starts them, because what they write must be whole. Who stops the
    /// sessions waits for them.
    pub fn tasks(&self) -> &TaskTracker {
        &self.tasks
    }

    /// Where running games are journaled, if they are.
    pub(super) fn journals(&self) -> Option<Arc<JournalFolder>> {
        self.journals.get().cloned()
    }

    /// Forces the journals to the disk every two seconds, until dropped. An entry that is written
    /// just after a round has synced its file reaches the disk by the end of the next round. If no
    /// round takes more than 2.5 seconds, a power cut therefore loses at most five seconds. If
    /// rounds take longer, the log says so.
    pub async fn run_journal_sync(&self) {
        let mut rounds = interval(SYNC);
        rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut last, mut slow) = (self.clock.millis(), false);
        loop {
            rounds.tick().await;
            let began = self.clock.millis();
            self.sync_journals().await;
            let loss = self.clock.millis().saturating_sub(last);
            last = began;
            if std::mem::replace(&mut slow, loss > MAX_LOSS) != (loss > MAX_LOSS) {
                match slow {
                    true => tracing::warn!(
                        millis = loss,
                        journals = self.unforced_journals(),
                        "the disk is slow: in a power cut, more than the last five seconds of running games would be lost"
                    ),
                    false => tracing::info!("the disk is fast enough for the journals again"),
                }
            }
        }
    }

    /// The number of journals of which a power cut now would lose the last bytes.
    pub fn unforced_journals(&self) -> usize {
        self.journals().map_or(0, |journals| journals.unforced())
    }

    /// Forces the journals to the disk now.
    pub(super) async fn sync_journals(&self) {
        let Some(journals) = self.journals() else {
            return;
        };
        let now = self.clock.now();
        let synced = tokio::task::spawn_blocking(move || journals.sync(now)).await;
        if let Ok(Err(error)) = synced {
            self.metrics.journal_failures.count();
            tracing::warn!(%error, "the journals of running games may not survive a power cut");
        }
    }

    pub(super) fn standings(&self) -> Arc<Standings> {
        self.learning.standings_at(self.clock.now())
    }

    /// The published weights; fails while the first ones are being derived. They may lack players; see
    /// [`View::awaits`](crate::learning::View::awaits).
    pub(super) fn ready_standings(&self) -> Result<Arc<Standings>, SessionError> {
        match self.is_starting() {
            true => Err(SessionError::NotReady),
            false => Ok(self.standings()),
        }
    }

    /// Whether the first weights are still being derived.
    pub(super) fn is_starting(&self) -> bool {
        self.learning.is_starting()
    }

    pub(super) fn rulebook(&self) -> &Rulebook {
        self.learning.rulebook()
    }
}

impl Sessions {
    /// Writes the backlog, and records parked games whose grace period is over, until dropped.
    /// Retries a failed write every second; logs the first failure, and the success after it.
    pub async fn run_background(self: &Arc<Self>) {
        let mut failing = false;
        loop {
            self.backlog.changed().await;
            self.give_up_expired();
            match self.write_backlog().await {
                Ok(()) => {
                    if std::mem::take(&mut failing) {
                        tracing::info!("the database can be written again");
                    }
                }
                Err(error) => {
                    if !std::mem::replace(&mut failing, true) {
                        tracing::warn!(%error, "cannot write matches and decisions now; trying every second");
                    }
                    sleep(INTERVAL).await;
                }
            }
        }
    }

    /// Writes the whole backlog now.
    ///
    /// # Errors
    /// Fails if the database does; the entries stay in the backlog.
    pub async fn write_backlog(self: &Arc<Self>) -> Result<(), SessionError> {
        // Run in a task of its own, which completes even if the caller is dropped: a committed
        // entry must also leave the backlog.
        let sessions = self.clone();
        let written = async move {
            let _one_at_a_time = sessions.backlog.writing.lock().await;
            sessions.write_matches().await?;
            sessions.write_decisions().await
        };
        self.tasks().spawn(written.in_current_span()).await?
    }

    async fn write_matches(&self) -> Result<(), SessionError> {
        while let Some(pending) = self.backlog.first() {
            let written = self.write_match(&pending.finished, pending.game);
            written.instrument(pending.span).await?;
            if let (Some(journal), Some(journals)) = (self.backlog.pop(), self.journals()) {
                journals.remove(&journal);
            }
        }
        Ok(())
    }

    /// Records a match. If the match itself is the reason why it cannot be recorded, it is dropped
    /// and logged.
    async fn write_match(&self, finished: &Finished, game: i64) -> Result<(), SessionError> {
        match self.record_game(finished, game).await {
            Ok(_) => {}
            Err(error) if error.is_of_record() => {
                self.metrics.lost.count();
                tracing::error!(%error, "a match cannot be recorded and is lost");
            }
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    async fn write_decisions(&self) -> Result<(), SessionError> {
        loop {
            let (batch, dropped) = self.backlog.decisions();
            if dropped > 0 {
                self.metrics.lost.add(dropped);
                tracing::warn!(dropped, "decisions are lost: the database is too slow");
            }
            if batch.is_empty() {
                return Ok(());
            }
            self.store.decisions().write_decisions(&batch).await?;
            self.backlog.remove_decisions(batch.len());
        }
    }
}
