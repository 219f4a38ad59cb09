//! How games end without END: by the next GAME, or with the connection.
//!
//! A game whose connection ended is parked for the configured grace period, until its server
//! reconnects. A game that is not resumed is given up: it is recorded as abandoned, and abandoned
//! matches are never rated. A daemon that stops leaves its games in the journal, from which the
//! next daemon parks them.

use std::sync::Arc;

use super::{Session, SessionError, Sessions, journal_folder::JournalFile, state::SessionState};
use crate::lobby::{BotUse, Command, Finished};

impl Session {
    /// Ends the session. With `park`, the game of a server that gave its name is parked. Without
    /// it, because the daemon stops, the game is left in the journal; if the journal does not have
    /// all of it, the game is given up.
    pub fn close(&mut self, park: bool) {
        if self.aside.is_some() {
            return;
        }
        self.write_journal();
        let next = self.sessions.new_state(&self.span);
        let state = std::mem::replace(&mut self.state, next);
        self.leave_game(state, park);
        self.registration.end();
        self.source.end();
    }

    fn leave_game(&self, state: SessionState, park: bool) {
        if state.lobby.game().is_err() {
            return;
        }
        match &self.server {
            // END was cut off: it is in the journal, and the next start records the match.
            None if state.ending && state.journal.is_whole() => {}
            Some(server) if park => self.sessions.park(server, state),
            Some(_) if state.journal.is_whole() => {}
            server => self.sessions.give_up(state, server.as_deref()),
        }
    }

    /// Resumes the parked game of this server. Returns whether there was one.
    ///
    /// A server that asks `explicitly` (`resume=yes`) whether its game goes on may mean a later
    /// game, of which nothing has arrived, if the daemon was restarted after it had answered END;
    /// the old game is then given up. Without `resume=yes`, its players go on to the next START.
    pub(super) fn resume_parked(&mut self, explicitly: bool) -> bool {
        let Some(server) = &self.server else {
            return false;
        };
        let earliest = self.sessions.resumable_since();
        let Some(state) = self.sessions.parked.take(server, earliest) else {
            return false;
        };
        if explicitly && state.may_mean_another_game() {
            self.sessions.give_up(state, Some(server));
            return false;
        }
        tracing::info!("parked game resumed");
        let bots = self.state.lobby.bot_use();
        self.state = state;
        self.state.span = self.span.clone();
        self.inherit_bots(bots);
        true
    }

    /// Gives up the running game, and the parked one of this server, because a new game begins.
    pub(super) fn give_up_running(&mut self) {
        let name = self.server.clone();
        let server = name.as_deref();
        let mut left = server.and_then(|server| self.sessions.parked.take(server, 0));
        let left_bots = left.as_ref().map(|left| left.lobby.bot_use());
        // The game lasts until now, not until its last event; the same holds in its journal.
        let now = self.state.millis(&*self.sessions.clock);
        self.state.lobby.at(now);
        let holds = self.hold(left.as_mut());
        if let Some(left) = left {
            self.sessions.give_up(left, server);
        }
        if !holds && let Some(finished) = self.state.abandoned(server) {
            let game = self.state.game;
            if self.sessions.keep_abandoned(finished, game, None) {
                self.state.waiting.push(game);
            }
        }
        if let Some(left) = left_bots {
            let own = self.state.lobby.bot_use();
            self.inherit_bots(left);
            // The declaration of this connection is the later one.
            self.inherit_bots(own);
        }
    }

    /// Adds `bots`, what another connection of this server has shown about bots. If both
    /// connections declared whether the server acts on bots, `bots` overrides the present one.
    fn inherit_bots(&mut self, bots: BotUse) {
        let declared = bots.declared.map(|acts| Command::DeclareBots { acts });
        let shown = bots.shown.then_some(Command::ShowBots);
        for command in declared.into_iter().chain(shown) {
            // Neither command can fail.
            let _ = self.state.apply(&command, &*self.sessions.clock);
        }
    }
}

impl Sessions {
    /// Parks the game of a server, and gives up the games for which there is no room any more.
    pub(super) fn park(&self, server: &str, mut state: SessionState) {
        state.show(&*self.clock, Some(server), false);
        let now = self.clock.millis();
        for (gone, state) in self.parked.put(server, state, now) {
            if gone != server {
                tracing::warn!(
                    server = gone,
                    "a game is given up before its server has connected again: too many games wait for their servers"
                );
            }
            self.give_up(state, Some(&gone));
        }
    }

    /// Gives up the games that have been parked for longer than the grace period.
    pub(super) fn give_up_expired(&self) {
        for (server, state) in self.parked.expired(self.resumable_since()) {
            self.give_up(state, Some(&server));
        }
    }

    /// Prepares the stop of the daemon: leaves the parked games in the journal, gives up those that
    /// the journal does not have completely, and writes the backlog.
    pub async fn drain(self: &Arc<Self>) -> Result<(), SessionError> {
        for (server, state) in self.parked.expired(u64::MAX) {
            if !state.journal.is_whole() {
                self.give_up(state, Some(&server));
            }
        }
        // The journals reach the disk even if the database is locked until the daemon's end.
        let (written, ()) = tokio::join!(self.write_backlog(), self.sync_journals());
        written
    }

    /// Records a game that will not continue as abandoned, and removes its journal once the match
    /// is on disk.
    pub(super) fn give_up(&self, mut state: SessionState, server: Option<&str>) {
        let span = state.span.clone();
        let _in_span = span.enter();
        let file = state.journal.take_file();
        if let (Some(held), Some(before)) = (&state.held, state.abandoned_before(server)) {
            self.keep_abandoned(before, held.number, None);
        }
        let kept = match state.abandoned(server) {
            Some(finished) => self.keep_abandoned(finished, state.game, file.clone()),
            None => {
                let last = state.waiting.last();
                last.is_some_and(|last| self.backlog.attach(*last, file.clone()))
            }
        };
        if let (false, Some(file), Some(journals)) = (kept, file, self.journals()) {
            journals.remove(&file);
        }
    }

    /// Adds an abandoned game to the backlog, if there is room.
    pub(super) fn keep_abandoned(
        &self,
        finished: Finished,
        game: i64,
        journal: Option<Arc<JournalFile>>,
    ) -> bool {
        let kept = self.backlog.keep(finished, game, journal);
        if !kept {
            self.metrics.lost.count();
            tracing::warn!("an abandoned game is lost: the backlog is full");
        }
        kept
    }

    /// The earliest time, in milliseconds of the clock, at which a game that can still be resumed was
    /// parked.
    fn resumable_since(&self) -> u64 {
        let grace = self.settings.resume_grace.millis();
        self.clock.millis().saturating_sub(grace)
    }
}

/// Keeps the game of a session that was not closed, so that the server can resume it.
impl Drop for Session {
    fn drop(&mut self) {
        self.close(true);
    }
}
