//! How games end: by END, by the next GAME, or with the connection.
//!
//! A game whose connection ended waits for its server to come back, for the grace that is
//! configured. One that goes no further is kept as abandoned, which is never rated.

use std::sync::Arc;

use super::{
    Session, SessionError, Sessions,
    state::{SessionState, draw_game},
};
use crate::{
    domain::{MatchRecord, Outcome, Timestamp, Verdict},
    history,
    lobby::{Finished, LobbyError},
    store::Recorded,
};

/// Games of one server, on one map and with the same people, that may begin within one second.
const MAX_PER_SECOND: usize = 64;

/// What END is answered: the match is on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Under this id.
    pub id: i64,
    /// Why it is not rated, where it isn't.
    pub unrated: Option<&'static str>,
}

impl Session {
    /// The game is over and on disk. Said again, on this connection or on the next one of the same
    /// server, it is answered the same.
    ///
    /// # Errors
    /// No game, no such team, play has not begun, what was told makes no record, or the database's:
    /// then it can be said again.
    pub async fn end(&mut self, verdict: Verdict) -> Result<Ended, SessionError> {
        let server = self.server.clone();
        if self.lobby().game().is_err() {
            // Perhaps the daemon was gone, too, before its answer arrived.
            return match server {
                Some(server) => self.sessions.ended_lately(&server).await,
                None => Err(LobbyError::NoGame.into()),
            };
        }
        if let Some(ended) = &self.state.ended {
            return Ok(ended.clone()); // said again
        }
        let frame = self.state.frame(server.as_deref());
        let before = self.state.lobby.clone();
        let finished = self.lobby().end(verdict, &frame)?;
        let ended = match self.sessions.finish_match(finished).await {
            Ok(ended) => ended,
            Err(error) => {
                // A command that failed changed nothing: the game goes on, and can end otherwise.
                self.state.lobby = before;
                return Err(error);
            }
        };
        tracing::info!(
            match_id = ended.id,
            server = server.as_deref().unwrap_or(""),
            unrated = ended.unrated.unwrap_or("no"),
            "a game has ended"
        );
        self.sessions.backlog.became(self.state.game, ended.id);
        self.state.game = draw_game();
        self.state.ended = Some(ended.clone());
        if let Err(error) = self.sessions.write_backlog().await {
            tracing::warn!(%error, "the decisions of a game are not written yet");
        }
        Ok(ended)
    }

    /// The connection is gone. The game waits for the next one, if the server has a name and the
    /// daemon goes on.
    pub fn close(&mut self, goes_on: bool) {
        let state = std::mem::replace(&mut self.state, SessionState::new(&self.sessions));
        self.leave_game(state, goes_on);
        self.registration.end();
    }

    fn leave_game(&self, state: SessionState, goes_on: bool) {
        if state.lobby.game().is_err() {
            return;
        }
        match &self.server {
            Some(server) if goes_on => {
                let now = self.sessions.clock.millis();
                for (server, state) in self.sessions.parked.put(server, state, now) {
                    self.sessions.give_up(&state, Some(&server));
                }
            }
            server => self.sessions.give_up(&state, server.as_deref()),
        }
    }

    /// Goes on with the game that this server's last connection left. Whether there was one.
    pub(super) fn take_up(&mut self) -> bool {
        let Some(server) = &self.server else {
            return false;
        };
        let earliest = self.sessions.resumable_since();
        let Some(state) = self.sessions.parked.take(server, earliest) else {
            return false;
        };
        tracing::info!(server, "a game goes on after its connection ended");
        self.state = state;
        true
    }

    /// What was running gives way to a new game.
    pub(super) fn give_way(&mut self) {
        let server = self.server.as_deref();
        let left = server.and_then(|server| self.sessions.parked.take(server, 0));
        for state in left.iter().chain([&self.state]) {
            self.sessions.give_up(state, server);
        }
    }
}

impl Sessions {
    /// Games that have waited longer than the grace are kept as abandoned.
    pub(super) fn sweep(&self) {
        for (server, state) in self.parked.expired(self.resumable_since()) {
            self.give_up(&state, Some(&server));
        }
    }

    /// The daemon stops: no game waits any longer, and all that is to be written is.
    ///
    /// # Errors
    /// The database's.
    pub async fn drain(self: &Arc<Self>) -> Result<(), SessionError> {
        for (server, state) in self.parked.expired(u64::MAX) {
            self.give_up(&state, Some(&server));
        }
        self.write_backlog().await
    }

    /// Notes a game that goes no further, to be written soon.
    fn give_up(&self, state: &SessionState, server: Option<&str>) {
        if let Some(finished) = state.abandoned(server) {
            self.backlog.abandon(finished.record, state.game);
        }
    }

    /// Writes a finished game, and has it learned from.
    pub(super) async fn finish_match(&self, finished: Finished) -> Result<Ended, SessionError> {
        let mut record = finished.record;
        if finished.cut {
            // Part of it is missing: no rating can be made of that.
            record.outcome = Outcome::Abandoned;
        }
        let rules = &self.learning.settings().history.rules;
        let unrated = history::unrated(&record, self.rulebook(), rules);
        let id = self.insert_match(record).await?;
        self.learning.match_recorded();
        Ok(Ended {
            id,
            unrated: unrated.map(|why| why.as_str()),
        })
    }

    /// Puts a match on disk, once: the same server, instant of START and game type is the same game.
    /// Another game that a fingerprint cannot tell from it, since it began within the same second,
    /// is put a second later.
    pub(super) async fn insert_match(&self, mut record: MatchRecord) -> Result<i64, SessionError> {
        for _ in 0..MAX_PER_SECOND {
            let id = match self.store.record(&record).await? {
                Recorded::New(id) => return Ok(id),
                Recorded::Duplicate(id) => id,
            };
            let known = self.store.start_of(id).await?;
            if known.is_some_and(|known| known == (record.start, record.game_type.clone())) {
                return Ok(id);
            }
            record.start = record.start.plus_millis(1_000);
            record.end = record.end.plus_millis(1_000);
        }
        Err(SessionError::NotAllowed("too many games within a second"))
    }

    /// The game that END was last said of by this server, if that is not long ago.
    async fn ended_lately(&self, server: &str) -> Result<Ended, SessionError> {
        let grace = i64::try_from(self.settings.resume_grace).unwrap_or(i64::MAX);
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

    /// The millisecond before which a game left has waited too long.
    fn resumable_since(&self) -> u64 {
        let grace = self.settings.resume_grace;
        self.clock.millis().saturating_sub(grace)
    }
}

/// However a session ends, its game is kept.
impl Drop for Session {
    fn drop(&mut self) {
        self.close(false);
    }
}
