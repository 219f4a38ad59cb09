//! How games end: by END, by the next GAME, or with the connection.
//!
//! A game whose connection ended is parked for the configured grace period, until its server
//! reconnects. A game that is given up is recorded as abandoned; abandoned matches are never rated.

use std::sync::Arc;

use super::{
    Session, SessionError, Sessions,
    state::{KeptEnd, SessionState, draw_game},
};
use crate::{
    domain::{MatchRecord, Outcome, Timestamp, Verdict},
    history,
    lobby::{BotUse, Command, Finished, LobbyError},
    store::StoreError,
};

/// The answer to END; the match is on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The id of the match.
    pub id: i64,
    /// Why the match is not rated; `None` if it is rated.
    pub unrated: Option<&'static str>,
}

impl Session {
    /// Ends the game and records the match. A repeated END, on this connection or on the next one
    /// of the same server, gets the same answer.
    ///
    /// # Errors
    /// Fails if there is no game, the team does not exist, play has not begun, or the reported events
    /// make no valid record: the game then continues, and END can be repeated. Fails with
    /// [`SessionError::Kept`] if the match cannot be written now: the game is over, and a repeated END
    /// gets the id once the match is on disk.
    pub async fn end(&mut self, verdict: Verdict) -> Result<Ended, SessionError> {
        let server = self.server.clone();
        if self.lobby().game().is_err() {
            // The daemon may have been restarted before the server received its answer.
            return match server {
                Some(server) => self.sessions.last_end(&server).await,
                None => Err(LobbyError::NoGame.into()),
            };
        }
        if let Some(ended) = &self.state.ended {
            return Ok(ended.clone()); // END was repeated
        }
        if let Some(kept) = self.state.kept {
            return self.end_kept(kept).await;
        }
        let frame = self.state.frame(server.as_deref());
        let before = self.state.lobby.clone();
        let finished = self.lobby().end(verdict, &frame)?;
        let (record, unrated) = self.sessions.judge(finished);
        let game = self.state.game;
        let id = match self.sessions.record_game(&record, game).await {
            Ok(id) => id,
            Err(error) if !error.is_of_record() && self.sessions.backlog.keep(record, game) => {
                tracing::error!(%error, "a match cannot be recorded now and is kept");
                self.state.kept = Some(KeptEnd { unrated });
                return Err(SessionError::Kept);
            }
            Err(error) => {
                // A command that fails changes nothing.
                self.state.lobby = before;
                return Err(error.into());
            }
        };
        self.sessions.backlog.became(game, id);
        let ended = self.note_end(Ended { id, unrated });
        if let Err(error) = self.sessions.write_backlog().await {
            tracing::warn!(%error, "the decisions of a game are not on disk yet");
        }
        Ok(ended)
    }

    /// Answers END again for a match that could not be recorded before: writes it, if that can be done now.
    async fn end_kept(&mut self, kept: KeptEnd) -> Result<Ended, SessionError> {
        let game = self.state.game;
        let written = self.sessions.write_backlog().await;
        let found = self.sessions.store.match_of_game(game).await;
        match found {
            Ok(Some(id)) => Ok(self.note_end(Ended {
                id,
                unrated: kept.unrated,
            })),
            Ok(None) if !self.sessions.backlog.keeps(game) => {
                Err(SessionError::NotAllowed("this match cannot be recorded"))
            }
            _ => {
                tracing::debug!(?written, ?found, "a match is still kept");
                Err(SessionError::Kept)
            }
        }
    }

    /// Notes the answer to END. The next START begins another game.
    fn note_end(&mut self, ended: Ended) -> Ended {
        tracing::info!(
            match_id = ended.id,
            unrated = ended.unrated.unwrap_or("no"),
            "game ended"
        );
        self.state.game = draw_game();
        self.state.kept = None;
        self.state.ended = Some(ended.clone());
        self.state.lobby.forget_course();
        ended
    }

    /// Ends the session. With `park`, parks the game of a server that gave its name; otherwise
    /// gives it up.
    pub fn close(&mut self, park: bool) {
        let state = std::mem::replace(
            &mut self.state,
            SessionState::new(&self.sessions, &self.span),
        );
        self.leave_game(state, park);
        self.registration.end();
    }

    fn leave_game(&self, state: SessionState, park: bool) {
        if state.lobby.game().is_err() {
            return;
        }
        match &self.server {
            Some(server) if park => {
                let now = self.sessions.clock.millis();
                for (server, state) in self.sessions.parked.put(server, state, now) {
                    self.sessions.give_up(&state, Some(&server));
                }
            }
            server => self.sessions.give_up(&state, server.as_deref()),
        }
    }

    /// Resumes the parked game of this server. Returns whether there was one.
    pub(super) fn resume_parked(&mut self) -> bool {
        let Some(server) = &self.server else {
            return false;
        };
        let earliest = self.sessions.resumable_since();
        let Some(state) = self.sessions.parked.take(server, earliest) else {
            return false;
        };
        tracing::info!("parked game resumed");
        let bots = self.state.lobby.bot_use();
        self.state = state;
        self.state.span = self.span.clone();
        self.inherit_bots(bots);
        true
    }

    /// Gives up the running game, and the parked one of this server, because a new game begins.
    pub(super) fn give_up_running(&mut self) {
        let server = self.server.as_deref();
        let left = server.and_then(|server| self.sessions.parked.take(server, 0));
        for state in left.iter().chain([&self.state]) {
            self.sessions.give_up(state, server);
        }
        if let Some(left) = left {
            let own = self.state.lobby.bot_use();
            self.inherit_bots(left.lobby.bot_use());
            // What this connection declared came later.
            self.inherit_bots(own);
        }
    }

    /// Adds what another connection of this server has shown about bots. Where both declared
    /// whether it acts on them, `bots` rules.
    fn inherit_bots(&mut self, bots: BotUse) {
        let now = self.sessions.clock.millis();
        let declared = bots.declared.map(|acts| Command::DeclareBots { acts });
        let shown = bots.shown.then_some(Command::ShowBots);
        for command in declared.into_iter().chain(shown) {
            // Neither command can fail.
            let _ = self.state.lobby.apply(&command, now);
        }
    }
}

impl Sessions {
    /// Gives up the games that have been parked for longer than the grace period.
    pub(super) fn give_up_expired(&self) {
        for (server, state) in self.parked.expired(self.resumable_since()) {
            self.give_up(&state, Some(&server));
        }
    }

    /// Gives up all parked games and writes the backlog, because the daemon stops.
    ///
    /// # Errors
    /// Fails if the database does.
    pub async fn drain(self: &Arc<Self>) -> Result<(), SessionError> {
        for (server, state) in self.parked.expired(u64::MAX) {
            self.give_up(&state, Some(&server));
        }
        self.write_backlog().await
    }

    /// Adds the record of an abandoned game to the backlog.
    fn give_up(&self, state: &SessionState, server: Option<&str>) {
        let keep = |finished: Finished| self.backlog.keep(finished.record, state.game);
        let _in_span = state.span.enter();
        if let Some(finished) = state.abandoned(server)
            && !keep(finished)
        {
            tracing::warn!("an abandoned game is lost: the backlog is full");
        }
    }

    /// The record of a finished game, and why it is not rated, `None` if it is.
    fn judge(&self, finished: Finished) -> (MatchRecord, Option<&'static str>) {
        let mut record = finished.record;
        if finished.cut {
            // Events are missing, so the result is not valid for rating.
            record.outcome = Outcome::Abandoned;
        }
        let rules = &self.learning.settings().history.rules;
        let unrated = history::unrated(&record, self.rulebook(), rules);
        (record, unrated.map(|why| why.as_str()))
    }

    /// Records the match of a finished game. The background task learns from it later.
    async fn record_game(&self, record: &MatchRecord, game: i64) -> Result<i64, StoreError> {
        let recorded = self.store.record_game(record, game).await?;
        self.learning.match_recorded();
        Ok(recorded.id())
    }

    /// The answer to this server's last END, if it was within the grace period.
    async fn last_end(&self, server: &str) -> Result<Ended, SessionError> {
        let grace = i64::try_from(self.settings.resume_grace.millis()).unwrap_or(i64::MAX);
        let since = Timestamp(self.clock.now().0.saturating_sub(grace));
        let last = self.store.last_of(server, since).await?;
        let stored = last.ok_or(LobbyError::NoGame)?;
        if stored.record.outcome == Outcome::Abandoned {
            return Err(LobbyError::NoGame.into());
        }
        let rules = &self.learning.settings().history.rules;
        let unrated = history::unrated(&stored.record, self.rulebook(), rules);
        Ok(Ended {
            id: stored.id,
            unrated: unrated.map(|why| why.as_str()),
        })
    }

    /// The earliest time, in milliseconds of the clock, at which a game that can still be resumed was
    /// parked.
    fn resumable_since(&self) -> u64 {
        let grace = self.settings.resume_grace.millis();
        self.clock.millis().saturating_sub(grace)
    }
}

/// Gives up the game of a session that was not closed.
impl Drop for Session {
    fn drop(&mut self) {
        self.close(false);
    }
}
