//! One game server's session: its identity, its running game, and the decisions in it.
//!
//! A [`Session`] belongs to one connection; [`Sessions`] contains what all of them share. A session
//! passes commands to the lobby, records results in the store, and reads weights from the published
//! standings, so that a question about a weight never waits for the disk. This room does not depend
//! on sockets or lines.
//!
//! Entry points: [`Sessions::new`], [`Session::new`].

mod again;
mod aside;
mod background;
mod backlog;
mod cached_weights;
mod clock;
mod command;
mod decide;
mod draw;
mod error;
mod game_journal;
mod host;
mod journal_folder;
mod leaving;
mod live;
mod mailbox;
mod metrics;
mod offers;
mod parked;
mod pickup;
mod registry;
mod replay;
mod reported;
mod restore;
mod results;
mod rules;
mod sessions;
mod settings;
mod sources;
mod state;
mod stated;
mod weights;

use std::{borrow::Cow, sync::Arc};

use tracing::{Span, error_span, field::Empty};

use crate::{
    lobby::{Lobby, journal::Entry},
    model::Ident,
};

pub use aside::{CountedWeight, StatedByAsker, Wanted};
pub use cached_weights::CachedWeights;
pub use clock::{Clock, HandClock, MachineClock};
pub use decide::Rebalanced;
pub use draw::{draw_game, draw_seed};
pub use error::{MailboxError, SessionError};
pub use host::HostedGame;
pub use live::{LiveGame, LivePlayer};
pub use mailbox::{Mailbox, MailboxReceiver};
pub use metrics::{SessionLevels, SessionMetrics};
pub use replay::Replayed;
pub use reported::Report;
pub use sessions::Sessions;
pub use settings::{BalanceSettings, GameSettings, Settings};
pub use state::Ended;
pub use weights::score_spread;

use aside::Aside;
use game_journal::GameJournal;
use live::LivePlace;
use offers::SessionOffers;
use registry::Registration;
use sources::OwnSource;
use state::SessionState;

/// The state of one connection. It ends with the connection; its game can be parked for the next
/// one.
#[derive(Debug)]
pub struct Session {
    sessions: Arc<Sessions>,
    state: SessionState,
    server: Option<String>,
    registration: Registration,
    source: OwnSource,
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
        if host::server_name(server.text()) != server.text() {
            let why = "a name must not end like that of a hosted match";
            return Err(SessionError::BadArgument(why.to_owned()));
        }
        let key = host::session_name(server.text(), hosts);
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
        let name = host::server_name(self.server.as_deref().unwrap_or_default());
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
