//! The state of one session's game: everything that a lost connection passes on to the next one.
//!
//! It goes into the journal: what is noted, what is written, and what an earlier daemon has left. A game keeps the
//! settings that it had at its GAME: a configuration that is read again counts for each server's next game.

use std::{borrow::Cow, sync::Arc};

use parking_lot::RwLock;
use tracing::Span;

use super::{
    CachedWeights, Clock, GameSettings, SessionMetrics,
    backlog::Backlog,
    command::server_name,
    draw_game,
    game_journal::GameJournal,
    live::{LiveGame, LivePlace},
    metrics::InPlay,
};
use crate::{
    experiments::RunningExperiment,
    lobby::{
        Command, Lobby, LobbyError,
        journal::{EndAnswer, Entry, HeldGame, JournalSnapshot},
        recorder::{Finished, RecordFrame},
    },
    model::{
        Rulebook, Ruleset, Timestamp,
        rulebook::{PatternError, Patterns},
    },
    store::DrawnArm,
};

/// The answer to END; the match is on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The id under which the match is stored.
    pub id: i64,
    /// Why the match is not rated; `None` if it is rated.
    pub unrated: Option<String>,
}

/// A lobby, and what the session stores besides it about the game.
#[derive(Debug)]
pub(super) struct SessionState {
    pub(super) lobby: Lobby,
    /// The settings of the game.
    pub(super) rules: Arc<GameRules>,
    /// The date at which the lobby's milliseconds were 0, as computed at START.
    pub(super) epoch: Timestamp,
    /// Set by the first question about a weight, and cleared by GAME and MUTATOR.
    ruleset: Option<Ruleset>,
    /// The weights of that ruleset as of the last question about one.
    pub(super) cached_weights: Option<CachedWeights>,
    /// The reasons for the last decision; cleared by GAME.
    reasons: Vec<String>,
    /// Whether the reasons are not in the journal yet.
    new_reasons: bool,
    /// The number of the game, which all decisions before one END share.
    pub(super) game: i64,
    /// The arm of the game in an experiment.
    pub(super) arm: GameArm,
    /// Whether the last game had an arm, whose settings the lobby has.
    pub(super) had_arm: bool,
    /// The number of the next game, if it is drawn already.
    pub(super) next_game: Option<i64>,
    /// What is known of the game that the lobby keeps, because the present one may be the same once more.
    pub(super) held: Option<HeldGame>,
    /// The answer to END, if it has been sent.
    pub(super) ended: Option<Ended>,
    /// Whether an answer to END (the id of its match, or that the match is kept) has been sent or
    /// is about to be sent.
    pub(super) delivered: bool,
    /// Whether the daemon was restarted since this game began, and has not answered END since.
    pub(super) restarted: bool,
    /// Whether END is being carried out: the game is over, and its match may or may not be on disk.
    pub(super) ending: bool,
    /// The span of the session that has the game, or had it last.
    pub(super) span: Span,
    /// Whether the match of this game's END is still in the backlog, under the number of this game.
    pub(super) kept: bool,
    /// The numbers of this session's games whose matches may wait in the backlog.
    pub(super) waiting: Vec<i64>,
    /// The session's milliseconds minus the clock's. It is not 0 if an earlier daemon began the
    /// game.
    shift: i64,
    pub(super) journal: GameJournal,
    /// Where spectators see the game.
    pub(super) live: LivePlace,
    /// Counts the game while it is in play.
    pub(super) playing: Option<InPlay>,
}

impl SessionState {
    /// The state before the first command.
    pub(super) fn new(
        mut lobby: Lobby,
        rules: Arc<GameRules>,
        journal: GameJournal,
        live: LivePlace,
        span: &Span,
    ) -> Self {
        if journal.is_on() {
            lobby.keep_trail();
        }
        Self {
            lobby,
            rules,
            epoch: Timestamp::default(),
            ruleset: None,
            cached_weights: None,
            reasons: Vec::new(),
            new_reasons: false,
            game: draw_game(),
            arm: GameArm::Open,
            had_arm: false,
            next_game: None,
            held: None,
            ended: None,
            delivered: false,
            restarted: false,
            ending: false,
            kept: false,
            waiting: Vec::new(),
            shift: 0,
            playing: None,
            journal,
            live,
            span: span.clone(),
        }
    }

    /// The session's milliseconds.
    pub(super) fn millis(&self, clock: &dyn Clock) -> u64 {
        clock.millis().saturating_add_signed(self.shift)
    }

    /// Clears what belongs to the last game, except the lobby itself.
    pub(super) fn begin_game(&mut self) {
        self.forget_ruleset();
        self.reasons.clear();
        self.new_reasons = false;
        self.game = self.next_game.take().unwrap_or_else(draw_game);
        self.forget_arm();
        self.forget_end();
    }

    /// Takes over the settings of the games that begin now. Returns whether they are others than before.
    pub(super) fn set_rules(&mut self, rules: Arc<GameRules>) -> bool {
        if Arc::ptr_eq(&self.rules, &rules) {
            return false;
        }
        self.lobby.set_settings(rules.settings.lobby.clone());
        self.rules = rules;
        true
    }

    /// The reasons for the last decision, one per line.
    pub(super) fn reasons(&self) -> &[String] {
        &self.reasons
    }

    /// Replaces the reasons for the last decision.
    pub(super) fn give_reasons(&mut self, reasons: Vec<String>) {
        self.live.changed();
        self.new_reasons |= reasons != self.reasons;
        self.reasons = reasons;
    }

    /// Forgets the last END, because play begins again.
    pub(super) fn begin_play(&mut self, epoch: Timestamp) {
        self.epoch = epoch;
        if self.kept {
            // The match in the backlog has the present number.
            self.game = draw_game();
        }
        self.forget_end();
        self.note(&Entry::Number(self.game));
        self.note(&Entry::Epoch(epoch));
    }

    /// Whether END on a new connection may be that of a later game than this one: the answer to
    /// this game's END was sent or about to be sent, and then the daemon was restarted. Everything
    /// that the client has sent of a later game may be lost.
    pub(super) fn may_mean_another_game(&self) -> bool {
        self.restarted && self.delivered
    }

    /// The next game draws an arm of its own.
    fn forget_arm(&mut self) {
        let arm = std::mem::take(&mut self.arm);
        self.had_arm |= matches!(arm, GameArm::Drawn(..));
    }

    fn forget_end(&mut self) {
        self.ended = None;
        self.delivered = false;
        self.restarted = false;
        self.ending = false;
        self.kept = false;
    }

    /// Notes that the match of this game waits in the backlog.
    pub(super) fn keep(&mut self) {
        self.ending = false;
        self.kept = true;
        self.waiting.push(self.game);
    }

    /// Notes the answer to END. The next START begins another game.
    pub(super) fn end_with(&mut self, ended: Ended) {
        self.lobby.forget_record();
        self.forget_end();
        self.note(&Entry::Ended(EndAnswer {
            id: ended.id,
            unrated: ended.unrated.clone(),
            delivered: false,
        }));
        self.ended = Some(ended);
        self.game = draw_game();
        self.forget_arm();
        self.note(&Entry::Number(self.game));
    }

    /// Notes that an answer to END is about to be sent.
    pub(super) fn note_delivered(&mut self) {
        if !self.delivered {
            self.delivered = true;
            self.note(&Entry::Delivered);
        }
    }

    /// Carries out a command of the lobby now, and adds it to the journal.
    pub(super) fn apply(&mut self, command: &Command, clock: &dyn Clock) -> Result<(), LobbyError> {
        let now = self.millis(clock);
        self.lobby.apply(command, now)?;
        self.note(&Entry::Command(Cow::Borrowed(command)));
        Ok(())
    }

    /// Shows the game as it is now, if it has changed.
    fn show_changes(&mut self, clock: &dyn Clock, server: Option<&str>) {
        if self.live.is_outdated {
            self.show(clock, server, true);
        }
    }

    /// Shows the game as it is now.
    pub(super) fn show(&mut self, clock: &dyn Clock, server: Option<&str>, is_connected: bool) {
        let server = server.unwrap_or_default();
        // The lobby knows the time of its last command; since then, play has gone on.
        let idle = self.millis(clock).saturating_sub(self.lobby.now());
        let at = clock.now().plus_millis(-i64::try_from(idle).unwrap_or(0));
        let game = LiveGame::of(&self.lobby, server, at, is_connected);
        self.live.show(game);
    }

    /// Counts the game as in play, or does not any more.
    pub(super) fn count_play(&mut self, metrics: &Arc<SessionMetrics>) {
        match self.lobby.is_running() {
            true if self.playing.is_none() => self.playing = Some(InPlay::new(metrics)),
            false => self.playing = None,
            true => {}
        }
    }

    /// Clears the ruleset, because the mutators have changed.
    pub(super) fn forget_ruleset(&mut self) {
        self.ruleset = None;
        self.cached_weights = None;
    }

    /// The ruleset of the game.
    pub(super) fn ruleset(&mut self, rulebook: &Rulebook) -> Result<&Ruleset, LobbyError> {
        let game = self.lobby.game()?;
        Ok(self
            .ruleset
            .get_or_insert_with(|| rulebook.ruleset(&game.game_type, &game.mutators)))
    }

    /// The parts of a match record that the session knows.
    pub(super) fn frame(&self, server: Option<&str>) -> RecordFrame {
        RecordFrame {
            server: server_name(server.unwrap_or_default()).to_owned(),
            epoch: self.epoch,
            mode: String::new(),
        }
    }

    /// The record of a game that does not continue; `None` if play has not begun or is over, or if
    /// no player has taken part.
    pub(super) fn abandoned(&self, server: Option<&str>) -> Option<Finished> {
        self.lobby.abandoned(&self.frame(server))
    }
}

impl SessionState {
    /// Goes on with a game of an earlier daemon, at this millisecond of the session.
    pub(super) fn go_on(&mut self, reasons: Vec<String>, now: u64, clock: &dyn Clock) {
        let signed = |millis: u64| i64::try_from(millis).unwrap_or(i64::MAX);
        self.reasons = reasons;
        self.shift = signed(now) - signed(clock.millis());
    }

    /// Counts milliseconds from now on as another session has done.
    pub(super) fn go_on_as(&mut self, other: &Self) {
        self.shift = other.shift;
    }

    /// Adds an entry to the journal, after entries for what the lobby's decisions have changed.
    pub(super) fn note(&mut self, entry: &Entry<'_>) {
        self.live.changed();
        self.note_trail();
        self.journal.push(self.lobby.now(), entry);
    }

    fn note_trail(&mut self) {
        let journal = &mut self.journal;
        self.lobby
            .drain_trail(|at, command| journal.push(at, &Entry::Command(Cow::Owned(command))));
    }

    /// Shows the game to spectators, and writes to the journal what has happened since the last time. A
    /// game that is over and whose match is not on disk yet is journaled entry by entry, without a new
    /// snapshot.
    pub(super) fn write_journal(
        &mut self,
        backlog: &Backlog,
        clock: &dyn Clock,
        server: Option<&str>,
    ) {
        self.show_changes(clock, server);
        if !self.journal.is_on() || self.lobby.game().is_err() {
            return;
        }
        self.note_trail();
        if std::mem::take(&mut self.new_reasons) {
            let reasons = Entry::Reasons(Cow::Borrowed(&self.reasons));
            self.journal.push(self.lobby.now(), &reasons);
        }
        self.waiting.retain(|game| backlog.keeps(*game));
        let long = self.journal.write(clock, self.ended.is_some());
        if long && self.waiting.is_empty() && !self.ending {
            let mut journal = std::mem::take(&mut self.journal);
            let (at, snapshot) = self.snapshot(clock, server);
            journal.begin(at, snapshot, clock.millis());
            self.journal = journal;
        }
    }

    /// The state now, with the session's millisecond.
    fn snapshot(&self, clock: &dyn Clock, server: Option<&str>) -> (u64, JournalSnapshot<'_>) {
        let end = self.ended.as_ref().map(|ended| EndAnswer {
            id: ended.id,
            unrated: ended.unrated.clone(),
            delivered: self.delivered,
        });
        let snapshot = JournalSnapshot {
            server: server.map(|server| Cow::Owned(server.to_owned())),
            number: self.game,
            date: clock.now(),
            epoch: self.epoch,
            end,
            reasons: Cow::Borrowed(&self.reasons),
            lobby: Cow::Borrowed(&self.lobby),
            held: self.held.as_ref().map(Cow::Borrowed),
        };
        (self.millis(clock), snapshot)
    }
}

/// The settings of a game.
#[derive(Debug)]
pub(super) struct GameRules {
    pub(super) settings: GameSettings,
    /// The game types in which auto-balance moves no one.
    pub(super) tournament: Patterns,
}

impl GameRules {
    /// # Errors
    /// Fails if `tournament` contains an invalid pattern.
    pub(super) fn new(settings: GameSettings) -> Result<Self, PatternError> {
        Ok(Self {
            tournament: Patterns::new("tournament", &settings.tournament)?,
            settings,
        })
    }

    /// A lobby without a game that has these settings.
    pub(super) fn lobby(&self) -> Lobby {
        Lobby::new(self.settings.lobby.clone())
    }
}

/// The experiment that goes on, with the settings of each policy.
#[derive(Debug)]
pub(super) struct ArmRules {
    pub(super) running: RunningExperiment,
    pub(super) rules: [Arc<GameRules>; 2],
}

/// What is known of the arm of a session's game.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) enum GameArm {
    /// None was drawn yet.
    #[default]
    Open,
    /// The game has none, whatever comes.
    Without,
    /// It was drawn, in the experiment with this number, for the policy of this name.
    Drawn(i64, DrawnArm, String),
}

/// The settings of the games that begin now.
#[derive(Debug)]
pub(super) struct NewestRules(RwLock<Arc<GameRules>>);

impl NewestRules {
    pub(super) fn new(rules: GameRules) -> Self {
        Self(RwLock::new(Arc::new(rules)))
    }

    pub(super) fn get(&self) -> Arc<GameRules> {
        self.0.read().clone()
    }

    /// Replaces them. Returns whether the new ones are others.
    ///
    /// # Errors
    /// Fails if `tournament` contains an invalid pattern; nothing changes then.
    pub(super) fn set(&self, settings: GameSettings) -> Result<bool, PatternError> {
        let mut newest = self.0.write();
        if newest.settings == settings {
            return Ok(false);
        }
        *newest = Arc::new(GameRules::new(settings)?);
        Ok(true)
    }
}
