//! How games end by END. The other ways are in `leaving`.

use super::{Ended, Session, SessionError, Sessions};
use crate::{
    lobby::journal::Entry,
    lobby::{Finished, LobbyError},
    model::{MatchRecord, Outcome, Verdict},
    rating::history,
    store::StoreError,
};

impl Session {
    /// Ends the game and records the match. A repeated END, on this connection or on the next one
    /// of the same server, gets the same answer, unless it may be that of a later game which was
    /// lost when the daemon was restarted.
    ///
    /// # Errors
    /// Fails if there is no game or a repeated END may be that of a later game, if the team does
    /// not exist or play has not begun, or if the reported events do not make a valid record: the
    /// game then continues, and END can be repeated. Fails with [`SessionError::Deferred`] if the match
    /// cannot be written now: the game is over, and a repeated END gets the id once the match is on
    /// disk.
    pub async fn end(&mut self, verdict: Verdict) -> Result<Ended, SessionError> {
        let server = self.server.clone();
        self.lobby().game()?;
        if self.state.may_mean_another_game() {
            return Err(LobbyError::NoGame.into());
        }
        if let Some(ended) = self.state.ended.clone() {
            self.owe_end();
            return Ok(ended); // END was repeated
        }
        if self.state.kept {
            return self.end_kept().await;
        }
        let frame = self.state.frame(server.as_deref());
        let before = self.state.lobby.clone();
        // A snapshot does not contain a match that is not on disk yet, so END is written to the
        // journal as an entry.
        self.write_journal();
        let finished = self.lobby().end(verdict, &frame)?;
        self.state.ending = true;
        self.state.note(&Entry::End(verdict));
        self.write_journal();
        self.look_for_streak();
        let (finished, unrated) = self.sessions.judge(finished);
        let game = self.state.game;
        // Decisions that are on disk before the match belong to it at once.
        if self.sessions.backlog.keeps_decisions_of(game)
            && let Err(error) = self.sessions.write_backlog().await
        {
            tracing::warn!(%error, "the decisions of a game are not on disk yet");
        }
        let id = match self.sessions.record_game(&finished, game).await {
            Ok(id) => id,
            Err(error)
                if !error.is_of_record() && self.sessions.backlog.keep(finished, game, None) =>
            {
                self.sessions.metrics.kept.count();
                tracing::error!(%error, "a match cannot be recorded now and is kept");
                self.state.keep();
                self.owe_end();
                return Err(SessionError::Deferred);
            }
            Err(error) => {
                // A command that fails changes nothing.
                self.state.lobby = before;
                self.state.ending = false;
                self.state.journal.forget();
                return Err(error.into());
            }
        };
        self.sessions.metrics.recorded.count();
        Ok(self.note_end(Ended { id, unrated }))
    }

    /// Notes that an answer to END will be sent. From now on, a repeated END means that match.
    fn owe_end(&mut self) {
        self.owes_end = true;
        self.state.restarted = false;
    }

    /// Answers a repeated END for a match that could not be recorded before. Tries to write it now.
    async fn end_kept(&mut self) -> Result<Ended, SessionError> {
        let game = self.state.game;
        let written = self.sessions.write_backlog().await;
        let found = self.sessions.end_of_game(game).await;
        match found {
            Ok(Some(ended)) => Ok(self.note_end(ended)),
            Ok(None) if !self.sessions.backlog.keeps(game) => {
                Err(SessionError::NotAllowed("this match cannot be recorded"))
            }
            _ => {
                tracing::debug!(?written, ?found, "a match is still kept");
                self.owe_end();
                Err(SessionError::Deferred)
            }
        }
    }

    /// Notes the answer to END. The next START begins another game.
    fn note_end(&mut self, ended: Ended) -> Ended {
        tracing::info!(
            match_id = ended.id,
            unrated = ended.unrated.as_deref().unwrap_or("no"),
            "game ended"
        );
        self.state.end_with(ended.clone());
        self.owe_end();
        ended
    }
}

impl Sessions {
    /// A finished game as it is recorded, and the reason why it is not rated; `None` if it is rated.
    pub(super) fn judge(&self, mut finished: Finished) -> (Finished, Option<String>) {
        if finished.cut {
            // Events are missing, so the result is not valid for rating.
            finished.record.outcome = Outcome::Abandoned;
        }
        let unrated = self.unrated(&finished.record.clone().played());
        (finished, unrated)
    }

    pub(super) fn unrated(&self, record: &MatchRecord) -> Option<String> {
        let rules = &self.learning.settings().history.rules;
        // Merged identities count as one player, as in the fold: a game of a player against another
        // of their own identities has no opponent.
        let standings = self.learning.standings();
        let merged = standings.merged(record);
        let unrated = history::unrated(&merged, self.rulebook(), rules);
        unrated.map(|why| why.as_str().to_owned())
    }

    /// Records the match of a finished game. Another task learns from it later.
    pub(super) async fn record_game(
        &self,
        finished: &Finished,
        game: i64,
    ) -> Result<i64, StoreError> {
        let Finished {
            record, chances, ..
        } = finished;
        let id = self
            .store
            .matches()
            .record_game(record, chances, game)
            .await?
            .id();
        self.learning.note_participants(record);
        self.learning.match_recorded();
        Ok(id)
    }

    /// The answer to END for the game with this number, if its match is on disk.
    pub(super) async fn end_of_game(&self, game: i64) -> Result<Option<Ended>, StoreError> {
        let Some(id) = self.store.matches().match_of_game(game).await? else {
            return Ok(None);
        };
        let stored = self.store.matches().match_with_id(id).await?;
        let unrated = stored.and_then(|stored| self.unrated(&stored.record));
        Ok(Some(Ended { id, unrated }))
    }
}
