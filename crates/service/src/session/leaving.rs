//! How games end: by END, by the next GAME, which may be the same one again, or with the connection.
//!
//! A game whose connection ended is parked for the configured grace period, until its server
//! reconnects. A game that is not resumed is given up: it is recorded as abandoned, and abandoned
//! matches are never rated. A daemon that stops leaves its games in the journal, from which the
//! next daemon parks them.
//!
//! A GAME that comes again, as after a warm-up: the game before it is kept until the first BALANCE or START, which
//! decide whether it goes on. If so, its decisions are those of the match, and there was no game before.

use std::sync::Arc;

use super::{
    Clock, Ended, Session, SessionError, Sessions, journal_folder::JournalFile, state::SessionState,
};
use crate::{
    lobby::{
        Command, LobbyError,
        journal::{Entry, HeldGame},
        recorder::{Finished, RecordFrame},
        roster::BotUse,
    },
    model::{MatchRecord, Outcome, access::Holder, in_game::Verdict},
    rating::history,
    store::StoreError,
};

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
            Some(server) if park => self.sessions.park(server, self.holder.clone(), state),
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
    pub(super) fn park(&self, server: &str, holder: Holder, mut state: SessionState) {
        state.show(&*self.clock, Some(server), false);
        let now = self.clock.millis();
        for (gone, state) in self.parked.put(server, holder, state, now) {
            if gone != server {
                self.metrics.games_given_up.count();
                tracing::warn!(
                    server = gone,
                    "a game is given up before its server has connected again: too many games wait for their servers, \
                     and its client has most of them"
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
    fn keep_abandoned(
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
        let (finished, unrated) = self.sessions.judge(finished, &self.holder);
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
    /// A finished game as it is recorded, and the reason why it is not rated; `None` if it is rated. A game with more that
    /// is new than the sender's share allows is not rated. Without a sender, there is no share.
    pub(super) fn judge(
        &self,
        mut finished: Finished,
        holder: &Holder,
    ) -> (Finished, Option<String>) {
        if finished.cut {
            // Events are missing, so the result is not valid for rating.
            finished.record.outcome = Outcome::Abandoned;
        }
        let mut played = finished.record.clone().played();
        if *holder != Holder::ThisMachine
            && self.take_new(holder, std::iter::once(&played)).is_err()
        {
            self.metrics.too_many_new.count();
            played.too_many_new = Some(holder.clone());
            finished
                .record
                .too_many_new
                .clone_from(&played.too_many_new);
        }
        (finished, self.unrated(&played))
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

impl Session {
    /// Keeps the running game, or the one that another connection of this server has `left`, if the GAME that comes may
    /// mean it once more. Returns whether the running one need not be given up.
    pub(super) fn hold(&mut self, left: Option<&mut SessionState>) -> bool {
        if self.state.next_game.is_some() {
            // A hosted match begins.
            self.advance(false);
            return false;
        }
        match self.state.lobby.goes_on() {
            // Nothing has been decided in this game, and it was not in play: the one before may still go on.
            Some(false) => return true,
            Some(true) => self.advance(true),
            None => {}
        }
        let server = self.server.as_deref();
        if self.state.lobby.game().is_err()
            && let Some(left) = left
            && (left.held.is_some() || self.sessions.may_go_on(left, server))
        {
            self.state.take_over(left);
            return true;
        }
        let holds = self.sessions.may_go_on(&self.state, server);
        if holds {
            self.state.hold(&*self.sessions.clock);
        }
        holds
    }

    /// Before the first BALANCE or START of a game: finds out whether the game before it goes on.
    pub(super) fn advance_before(&mut self) {
        if let Some(goes_on) = self.lobby().goes_on() {
            self.advance(goes_on);
        }
    }

    fn advance(&mut self, goes_on: bool) {
        let Some(held) = self.state.held.clone() else {
            return;
        };
        let command = match goes_on {
            true => Command::GoOn,
            false => Command::DropBefore,
        };
        if let Some(finished) = self.state.abandoned_before(self.server.as_deref())
            && !goes_on
            && self.sessions.keep_abandoned(finished, held.number, None)
        {
            self.state.waiting.push(held.number);
        }
        // Neither command can fail.
        let _ = self.state.apply(&command, &*self.sessions.clock);
        self.state.held = None;
        if goes_on {
            tracing::info!("the game goes on, and its teams stand");
            self.state.game = held.number;
            if self.state.reasons().is_empty() {
                self.state.give_reasons(held.reasons);
            }
        }
    }
}

impl Sessions {
    /// Whether the next GAME may mean this game once more: its teams are decided, and no play counts.
    fn may_go_on(&self, state: &SessionState, server: Option<&str>) -> bool {
        let abandoned = || state.abandoned(server);
        state.lobby.is_decided()
            && !state.kept
            && !state.ending
            && !abandoned().is_some_and(|finished| self.counts(finished))
    }

    /// Whether a game that was given up in play could have been rated if it had ended at that moment.
    fn counts(&self, finished: Finished) -> bool {
        let mut record = finished.record;
        record.outcome = Outcome::Draw;
        let rules = &self.learning.settings().history.rules;
        history::unrated(&record, self.rulebook(), rules).is_none()
    }
}

impl SessionState {
    /// What is known of the game besides its lobby.
    fn known(&self) -> HeldGame {
        HeldGame {
            number: self.game,
            epoch: self.epoch,
            reasons: self.reasons().to_vec(),
        }
    }

    /// Keeps the game that another connection has left, whose milliseconds go on.
    fn take_over(&mut self, left: &mut Self) {
        let known = left.known();
        self.go_on_as(left);
        self.lobby.take_over(&mut left.lobby);
        self.held = Some(left.held.take().unwrap_or(known));
    }

    /// Keeps the game.
    fn hold(&mut self, clock: &dyn Clock) {
        let known = self.known();
        if self.apply(&Command::Hold, clock).is_ok() {
            self.held = Some(known);
        }
    }

    /// The record of the game that is kept, if it was in play.
    fn abandoned_before(&self, server: Option<&str>) -> Option<Finished> {
        let held = self.held.as_ref()?;
        let frame = RecordFrame {
            epoch: held.epoch,
            ..self.frame(server)
        };
        self.lobby.abandoned_before(&frame)
    }
}
