//! One game server's session: its identity, its running game, and the decisions in it.
//!
//! A [`Session`] belongs to one connection; [`Sessions`] contains what all of them share. A session
//! passes commands to the lobby, records results in the store, and reads weights from the published
//! standings, so that a question about a weight never waits for the disk. This room does not depend
//! on sockets or lines.
//!
//! Entry points: [`Sessions::new`], [`Session::new`].

mod arm;
mod aside;
mod backlog;
mod bounds;
mod clock;
mod command;
mod decide;
mod game_journal;
mod hours;
mod journal_folder;
mod leaving;
mod live;
mod metrics;
mod registry;
mod restore;
mod sessions;
mod shares;
mod sources;
mod state;
mod turn_gate;
mod turns;
mod unlearned;
mod weights;

pub use arm::{ConfiguredExperiment, NoExperiment};
pub use aside::{CountedWeight, Report, StatedByAsker, WantedTeams};
pub use bounds::Reporter;
pub use clock::{Clock, HandClock, MachineClock};
pub use command::HostedGame;
pub use decide::{Rebalanced, Replayed};
pub use live::{LiveGame, LivePlayer, Mailbox, MailboxReceiver};
pub use metrics::{SessionLevels, SessionMetrics};
pub use sessions::{HolderOf, Sessions};
pub use shares::NewLimits;
pub use state::Ended;
pub use turn_gate::{CoreTurn, NoTurn};
pub use turns::{AskerClass, TurnAsker};
pub use weights::{CachedWeights, score_spread};

use std::{
    borrow::Cow,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use serde::Deserialize;
use tracing::{Span, error_span, field::Empty};

use crate::{
    files::FileMode,
    learning::BehaviourError,
    lobby::{Lobby, LobbyError, LobbySettings, journal::Entry},
    model::{
        access::Holder,
        ident::Ident,
        units::{Millis, PlayerWeight, Seconds, UpToADay},
    },
    partition::{self, ProblemError, problem::SizeLimits, stated::StatedError},
    random,
    store::StoreError,
};

use aside::Aside;
use decide::SessionOffers;
use game_journal::GameJournal;
use live::LivePlace;
use registry::Registration;
use shares::ShareUsedUp;
use sources::OwnSource;
use state::SessionState;

/// The state of one connection. It ends with the connection; its game can be parked for the next
/// one.
#[derive(Debug)]
pub struct Session {
    sessions: Arc<Sessions>,
    state: SessionState,
    server: Option<String>,
    /// Whose share of the daemon it uses.
    holder: Holder,
    registration: Registration,
    source: OwnSource,
    /// Whether the ids that it sends are names of players.
    ids_are_names: bool,
    /// Whether the replies that are not sent yet include one to END.
    owes_end: bool,
    offers: SessionOffers,
    /// What a session for one question has besides; `None` for that of a connection.
    aside: Option<Box<Aside>>,
    /// Around every log line that this session causes, also on other tasks and threads.
    span: Span,
}

impl Session {
    /// A session whose connection has not sent anything yet.
    pub fn new(sessions: Arc<Sessions>) -> Self {
        Self::open(sessions).0
    }

    /// Like [`new`](Self::new), with the receiver of lines that the connection has to send without
    /// a request.
    pub fn open(sessions: Arc<Sessions>) -> (Self, MailboxReceiver) {
        let (mailbox, pushes) = Mailbox::new();
        let registration = Registration::new(&sessions.registry, mailbox);
        // A span at level ERROR is enabled whenever any log line of the session is.
        let span = error_span!("session", id = registration.number(), server = Empty);
        let session = Self {
            state: sessions.new_state(&span),
            registration,
            source: OwnSource::default(),
            sessions,
            server: None,
            holder: Holder::ThisMachine,
            ids_are_names: true,
            owes_end: false,
            offers: SessionOffers::default(),
            aside: None,
            span,
        };
        (session, pushes)
    }

    /// The span in which the work of this session runs. It holds the number of the session, unique
    /// within this process, and the name of the game server once HELLO has been accepted.
    pub fn span(&self) -> &Span {
        &self.span
    }

    /// The name that HELLO gave.
    pub fn name(&self) -> Option<&str> {
        self.server.as_deref()
    }

    /// Notes whose share of the daemon it uses from now on.
    pub fn belongs_to(&mut self, holder: Holder) {
        self.holder = holder;
    }

    /// The mailbox of this session's connection.
    pub fn mailbox(&self) -> &Mailbox {
        self.registration.own_mailbox()
    }

    /// Names the game server. With `resume`, continues at once the game that the server's last
    /// connection left, or that this last connection still has because the daemon has not noticed
    /// its end. Returns whether there was such a game. Otherwise the first command that needs a
    /// game continues a parked one, unless that command is GAME. With `hosts`, the connection has the game
    /// of that hosted match, and only a connection for the same match resumes it.
    ///
    /// # Errors
    /// Fails if the name ends like that of a hosted match.
    pub async fn hello(
        &mut self,
        server: &Ident,
        resume: bool,
        hosts: Option<i64>,
    ) -> Result<Option<bool>, SessionError> {
        if command::server_name(server.text()) != server.text() {
            let why = "a name must not end like that of a hosted match";
            return Err(SessionError::BadArgument(why.to_owned()));
        }
        let key = command::session_name(server.text(), hosts);
        let named = Entry::Server(Cow::Borrowed(&key));
        self.state.note(&named);
        self.span.record("server", &key);
        self.server = Some(key.clone());
        if !resume {
            self.registration.announce(&key);
            return Ok(None);
        }
        self.registration.replace(&key).await;
        Ok(Some(
            self.state.lobby.game().is_ok() || self.resume_parked(true),
        ))
    }

    /// Whether weights are being derived that questions may need: [`SessionError::NotReady`].
    pub fn awaits_weights(&self) -> bool {
        self.sessions.learning.is_deriving()
    }

    /// Waits until they are derived, but only for a short time after the daemon has started. Returns whether they
    /// are.
    pub async fn weights_in_time(&self) -> bool {
        self.sessions.learning.derived_in_time().await
    }

    /// Writes to the journal what has happened.
    pub fn write_journal(&mut self) {
        let Sessions {
            metrics,
            backlog,
            clock,
            ..
        } = &*self.sessions;
        self.state.count_play(metrics);
        let server = self.server.as_deref();
        self.state.write_journal(backlog, &**clock, server);
    }

    /// Writes to the journal what has happened, before the replies are sent. If one of the replies
    /// answers END, it counts as delivered from now on: even if the daemon is killed now, the
    /// client may have received it, and the next END may be that of another game. So that this is
    /// known after a power cut, too, such a reply waits until the journal is on the disk.
    pub async fn before_replies(&mut self) {
        let ends = std::mem::take(&mut self.owes_end);
        if ends {
            self.state.note_delivered();
        }
        self.write_journal();
        if ends {
            self.state.journal.sync().await;
        }
    }

    /// Stores a report about how a human behaves. When this returns, it is on disk. The report is not about
    /// the running game: that player may have left, and play may be over. `client` is the configured client
    /// that the connection has proven to be.
    ///
    /// # Errors
    /// Fails if this game server may not report, or has reported too often, if `points` are more than a report may have,
    /// or if the database fails.
    pub async fn report_behaviour(
        &mut self,
        client: Option<&str>,
        id: &Ident,
        points: f64,
    ) -> Result<(), SessionError> {
        let sessions = self.sessions.clone();
        let name = command::server_name(self.server.as_deref().unwrap_or_default());
        sessions.report_behaviour(name, client, id, points).await
    }

    /// The reasons for the last decision, one per line.
    ///
    /// # Errors
    /// Fails if there is no game, or if there has been no decision in it.
    pub fn explain(&mut self) -> Result<&[String], SessionError> {
        self.lobby().game()?;
        let reasons = self.state.reasons();
        if reasons.is_empty() {
            return Err(SessionError::NotAllowed("nothing has been decided yet"));
        }
        Ok(reasons)
    }

    /// The lobby at the current time. Continues the server's parked game if there is no other.
    fn lobby(&mut self) -> &mut Lobby {
        if self.state.lobby.game().is_err() {
            self.resume_parked(false);
        }
        let now = self.state.millis(&*self.sessions.clock);
        self.state.lobby.at(now)
    }
}

/// Why a command failed. It has changed nothing, except for [`Deferred`](Self::Deferred).
#[derive(Debug, thiserror::Error)]
pub enum SessionError {
    /// The lobby refused the command.
    #[error(transparent)]
    Lobby(#[from] LobbyError),
    /// The client may not send the command, or may not send it now.
    #[error("{0}")]
    NotAllowed(&'static str),
    /// Another connection reports the same game server.
    #[error("{0}")]
    Reported(String),
    /// An argument is invalid.
    #[error("{0}")]
    BadArgument(String),
    /// A weight that the asker of a question has stated cannot count.
    #[error("a stated weight {0}")]
    Stated(#[from] StatedError),
    /// The game server has sent too many reports about behaviour today.
    #[error("{0}")]
    TooManyReports(String),
    /// A share of the sender is used up.
    #[error("{why}")]
    UsedUp {
        /// Which share, and what to do.
        why: String,
        /// After how long there is room again, if that is known.
        again: Option<Duration>,
    },
    /// The weights that this needs are being derived from the stored matches. Once they are, the same command
    /// succeeds.
    #[error("the weights are being derived from the stored matches: try again")]
    NotReady,
    /// Too many others ask for teams.
    #[error(transparent)]
    NoTurn(#[from] NoTurn),
    /// The match of a game that has ended cannot be written now. It is kept in the backlog and
    /// written as soon as possible.
    #[error("kept")]
    Deferred,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A task panicked or was cancelled.
    #[error("a task was cancelled or panicked")]
    Task(#[from] tokio::task::JoinError),
}

impl From<BehaviourError> for SessionError {
    fn from(error: BehaviourError) -> Self {
        match error {
            BehaviourError::NotAReporter => {
                SessionError::NotAllowed("this game server may not report behaviour")
            }
            BehaviourError::TooManyPoints(_) => SessionError::BadArgument(error.to_string()),
            BehaviourError::TooManyReports => SessionError::TooManyReports(error.to_string()),
            BehaviourError::Store(error) => SessionError::Store(error),
        }
    }
}

impl From<ShareUsedUp> for SessionError {
    fn from(used_up: ShareUsedUp) -> Self {
        Self::UsedUp {
            why: used_up.to_string(),
            again: used_up.again,
        }
    }
}

impl From<ProblemError> for SessionError {
    fn from(error: ProblemError) -> Self {
        SessionError::BadArgument(error.to_string())
    }
}

/// Why a line was not queued.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MailboxError {
    /// The peer reads too slowly, or not at all.
    #[error("too many lines wait for this connection")]
    Full,
    /// The connection has ended.
    #[error("the connection has ended")]
    Closed,
}

/// A random seed. It has 31 bits, so that it fits the integers of old scripting languages.
pub fn draw_seed() -> u64 {
    // If the system has no randomness, a fixed seed still gives good teams.
    random::bytes().map_or(0, |drawn| u64::from(u32::from_le_bytes(drawn) >> 1))
}

/// A random number for the decisions of a game, unique among all games. Without system randomness
/// it is negative, and unique among the games of this process.
pub fn draw_game() -> i64 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    let counted = || {
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        -(i64::from(std::process::id()) << 32 | i64::from(next))
    };
    random::bytes().map_or_else(
        |_| counted(),
        |drawn| (u64::from_le_bytes(drawn) >> 1).cast_signed(),
    )
}

/// The settings of every game, which it has from its GAME on.
#[derive(Clone, Debug, PartialEq)]
pub struct GameSettings {
    /// Rules of the running game: roster, bots, late arrivals, advantage, moves.
    pub lobby: LobbySettings,
    /// How BALANCE chooses teams.
    pub balance: BalanceSettings,
    /// Patterns of game types in which auto-balance moves no one.
    pub tournament: Vec<String>,
}

/// The settings of every session.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The settings of the games that begin before others are stated.
    pub games: GameSettings,
    /// How long a parked game waits for its server.
    pub resume_grace: UpToADay,
    /// How long a connection that reports a game server may be silent before another one takes its place.
    pub heartbeat: Seconds<1, 3_600>,
    /// How many connections there may be, so that the games of all of them can be parked.
    pub connections: usize,
    /// How many decisions are stored; 0 stores none.
    pub keep_decisions: u32,
    /// The mode of new journals.
    pub file_mode: FileMode,
    /// How much new a sender may bring in an hour.
    pub new: NewLimits,
}

/// The default weight that stands for a newcomer's, which is learned.
const LEARNED: f64 = 50.0;

/// How BALANCE chooses teams.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct BalanceSettings {
    /// How many candidates are compared, and how one of them is picked.
    #[serde(flatten)]
    pub partition: partition::Settings,
    /// How much the teams may differ in size.
    #[serde(flatten)]
    pub limits: SizeLimits,
    /// Weight of a human without rated games; 50 stands for what newcomers turned out to be.
    pub default_weight: PlayerWeight,
    /// The same of a bot while no bot has a weight.
    pub default_bot_weight: PlayerWeight,
    /// The time limit for choosing teams, from the turn of the question on.
    pub deadline_ms: Millis<1, 60_000>,
}

impl BalanceSettings {
    /// The weights that an operator has stated for an unknown human and an unknown bot; `None` where newcomers count as
    /// what they turned out to be.
    pub fn stated_defaults(&self) -> (Option<f64>, Option<f64>) {
        let stated = |weight: PlayerWeight| Some(weight.get()).filter(|weight| *weight != LEARNED);
        (stated(self.default_weight), stated(self.default_bot_weight))
    }
}
