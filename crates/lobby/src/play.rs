//! Applies the commands on what is recorded of play: START, SCORE, POINTS, KILL, DEATH, CLOCK, and END.
//!
//! Before START, and between END and the next START, all except START are accepted and ignored, so
//! that a game server can report its warm-up without errors.

use super::{
    Finished, Lobby, LobbyError, RecordFrame,
    state::{RunningGame, exists},
    streak::ScoreRun,
};
use evenkeel_model::{Ident, MatchRecord, Outcome, Verdict};

impl Lobby {
    /// How many milliseconds the game has been in play; `None` before START and after END.
    pub fn played(&self) -> Option<u64> {
        let game = self.game.as_ref();
        let running = game.filter(|game| game.recorder.is_running())?;
        Some(running.recorder.elapsed(self.now))
    }

    /// The remaining time of play in milliseconds, if CLOCK has stated it.
    pub fn left(&self) -> Option<u64> {
        let game = self.game.as_ref();
        let running = game.filter(|game| game.recorder.is_running())?;
        running.recorder.left(self.now)
    }

    /// Whether SCORE has been sent since START. If not, scores of 0 may only mean that the game server states none.
    pub fn has_scored(&self) -> bool {
        let game = self.game.as_ref();
        game.is_some_and(|game| game.recorder.has_scored())
    }

    /// The score of each team since START; empty before it, and without teams.
    pub fn scores(&self) -> &[f64] {
        self.game
            .as_ref()
            .map_or(&[], |game| game.recorder.scores())
    }

    pub(super) fn start(&mut self) -> Result<(), LobbyError> {
        let (now, teams) = (self.now, self.teams);
        let game = self.game_mut()?;
        if game.recorder.is_running() {
            return Err(LobbyError::AlreadyStarted);
        }
        game.stand(teams);
        let played = if game.has_teams { teams } else { 0 };
        game.recorder.start(usize::from(played), now);
        game.seat_all(now);
        let sizes = game.has_teams.then(|| game.team_sizes(teams));
        game.recorder.chances.start(sizes);
        (game.by_score, game.again) = (None, false);
        game.run = ScoreRun::default();
        // Teams that were uneven in warm-up count as uneven only from now on.
        if let Some((_, since)) = &mut game.watch.imbalance {
            *since = now;
        }
        game.died.clear();
        Ok(())
    }

    pub(super) fn score(
        &mut self,
        team: u8,
        points: f64,
        by: Option<&Ident>,
    ) -> Result<(), LobbyError> {
        let (now, teams) = (self.now, self.teams);
        let game = self.game_mut()?;
        if !game.has_teams {
            return Err(LobbyError::NoTeams);
        }
        exists(team, teams)?;
        let by = by.map(|id| game.timeline(id)).transpose()?;
        game.recorder.score(team, points, by, now);
        if game.recorder.is_running() {
            game.run.score(team, points);
        }
        self.note_scores();
        Ok(())
    }

    pub(super) fn points(&mut self, id: &Ident, points: f64) -> Result<(), LobbyError> {
        let game = self.game_mut()?;
        let who = game.timeline(id)?;
        game.recorder.points(who, points);
        Ok(())
    }

    pub(super) fn kill(&mut self, killer: &Ident, victim: &Ident) -> Result<(), LobbyError> {
        let now = self.now;
        let game = self.game_mut()?;
        let (killer, victim) = (game.timeline(killer)?, game.timeline(victim)?);
        game.recorder.kill(killer, victim, now);
        Ok(())
    }

    pub(super) fn death(&mut self, id: &Ident) -> Result<(), LobbyError> {
        let now = self.now;
        let delay = self.settings.auto_balance.delay_seconds.millis();
        let game = self.game_mut()?;
        let who = game.timeline(id)?;
        game.recorder.death(who, now);
        let lasts = |(_, since): (u8, u64)| now.saturating_sub(since) >= delay;
        let due = game.recorder.is_running() && game.watch.imbalance.is_some_and(lasts);
        if due && game.roster.find(id).is_some() && !game.died.contains(id) {
            game.died.push(id.clone());
        }
        Ok(())
    }

    pub(super) fn clock(&mut self, left: u64) -> Result<(), LobbyError> {
        let now = self.now;
        self.game_mut()?.recorder.clock(left, now);
        Ok(())
    }

    /// Ends the game and makes its record. A second call returns the same record, until the next
    /// START or GAME. It is not a [`Command`](super::Command) because it has a result.
    ///
    /// # Errors
    /// Fails if there is no game or no such team, if play has not begun, or if the game makes no
    /// valid record.
    pub fn end(&mut self, verdict: Verdict, frame: &RecordFrame) -> Result<Finished, LobbyError> {
        let (now, teams) = (self.now, self.teams);
        let reported = self.reports_scores();
        let game = self.game_mut()?;
        // A team game of a server that reports no scores is undecided, not a draw.
        let silent = game.has_teams && !reported && !game.recorder.has_scored();
        let decided = !(silent && verdict == Verdict::Scores);
        if let Verdict::Won(team) = verdict {
            if !game.has_teams {
                return Err(LobbyError::NoTeams);
            }
            exists(team, teams)?;
        }
        let mut record = game.blank_record(frame, teams);
        record.unscored = silent;
        let verdict = decided.then_some(verdict);
        let was_running = game.recorder.is_running();
        let finished = game.recorder.end(record, verdict, now)?;
        game.offer = None;
        if was_running {
            self.note_winner(match finished.record.outcome {
                Outcome::Won(team) => Some(team),
                _ => None,
            });
        }
        Ok(finished)
    }

    /// Frees the stays and score events of a game that has ended and is on disk. [`end`](Self::end)
    /// then fails until the next START.
    pub fn forget_record(&mut self) {
        if let Some(game) = &mut self.game {
            game.recorder.forget();
        }
    }

    /// The record of a game that GAME or a lost connection ends during play; `None` if play has not
    /// begun or is over, or if no player has taken part.
    pub fn abandoned(&self, frame: &RecordFrame) -> Option<Finished> {
        let game = self.game.as_ref()?;
        game.abandoned(frame, self.teams, self.now)
    }

    /// Whether play has begun and has not ended.
    pub fn is_running(&self) -> bool {
        self.game
            .as_ref()
            .is_some_and(|game| game.recorder.is_running())
    }
}

impl RunningGame {
    /// The record of a game that GAME or a lost connection ends at `now`, see [`Lobby::abandoned`].
    pub(super) fn abandoned(&self, frame: &RecordFrame, teams: u8, now: u64) -> Option<Finished> {
        let record = self.blank_record(frame, teams);
        let finished = self.recorder.abandoned(record, now);
        finished.filter(|finished| !finished.record.participants.is_empty())
    }

    /// Each team's score so far; empty before START and in a game without teams.
    pub fn scores(&self) -> &[f64] {
        self.recorder.scores()
    }

    /// Index of the timeline of a player who plays or has played.
    pub(super) fn timeline(&self, id: &Ident) -> Result<usize, LobbyError> {
        let timeline = self.recorder.find(id.text());
        timeline.ok_or(LobbyError::UnknownPlayer)
    }

    /// The parts of the game's record that do not come from its players. It starts with the session, and no team has
    /// scored.
    fn blank_record(&self, frame: &RecordFrame, teams: u8) -> MatchRecord {
        let mut mutators = self.mutators.clone();
        mutators.sort_unstable();
        mutators.dedup();
        let teams = if self.has_teams { teams } else { 0 };
        MatchRecord {
            server: frame.server.clone(),
            client: frame.server.clone(), // which reports its own game
            start: frame.epoch,
            map: self.map.clone().unwrap_or_default(),
            game_type: self.game_type.clone(),
            mode: frame.mode.clone(),
            mutators,
            scores: vec![0.0; usize::from(teams)],
            ..MatchRecord::default()
        }
    }
}
