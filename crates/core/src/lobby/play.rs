//! Applies the commands on the course of play: START, SCORE, POINTS, KILL, DEATH, CLOCK, and END.
//!
//! Before START, and between END and the next START, all except START are accepted and ignored, so
//! that a game server can report its warm-up without errors.

use super::{
    Finished, Lobby, LobbyError, RecordFrame,
    course::GameFacts,
    state::{RunningGame, exists},
};
use crate::domain::{Ident, Verdict};

impl Lobby {
    /// How many milliseconds the game has been in play; `None` before START and after END.
    pub fn played(&self) -> Option<u64> {
        let game = self.game.as_ref();
        let running = game.filter(|game| game.course.is_running())?;
        Some(running.course.elapsed(self.now))
    }

    /// The score of each team since START; empty before it, and without teams.
    pub fn scores(&self) -> &[f64] {
        self.game.as_ref().map_or(&[], |game| game.course.scores())
    }

    pub(super) fn start(&mut self) -> Result<(), LobbyError> {
        let (now, teams) = (self.now, self.teams);
        let game = self.game_mut()?;
        if game.course.is_running() {
            return Err(LobbyError::AlreadyStarted);
        }
        let played = if game.has_teams { teams } else { 0 };
        game.course.start(usize::from(played), now);
        game.seat_all(now);
        let sizes = game.has_teams.then(|| game.team_sizes(teams));
        game.course.chances.start(sizes);
        game.by_score = None;
        // Teams that were uneven in warm-up count as uneven only from now on.
        if let Some((_, since)) = &mut game.watch.imbalance {
            *since = now;
        }
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
        let by = by.map(|id| game.track(id)).transpose()?;
        game.course.score(team, points, by, now);
        self.note_scores();
        Ok(())
    }

    pub(super) fn points(&mut self, id: &Ident, points: f64) -> Result<(), LobbyError> {
        let game = self.game_mut()?;
        let track = game.track(id)?;
        game.course.points(track, points);
        Ok(())
    }

    pub(super) fn kill(&mut self, killer: &Ident, victim: &Ident) -> Result<(), LobbyError> {
        let game = self.game_mut()?;
        let (killer, victim) = (game.track(killer)?, game.track(victim)?);
        game.course.kill(killer, victim);
        Ok(())
    }

    pub(super) fn death(&mut self, id: &Ident) -> Result<(), LobbyError> {
        let game = self.game_mut()?;
        let track = game.track(id)?;
        game.course.death(track);
        Ok(())
    }

    pub(super) fn clock(&mut self, left: u64) -> Result<(), LobbyError> {
        let now = self.now;
        self.game_mut()?.course.clock(left, now);
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
        let silent = game.has_teams && !reported && !game.course.has_scored();
        let decided = !(silent && verdict == Verdict::Scores);
        if let Verdict::Won(team) = verdict {
            if !game.has_teams {
                return Err(LobbyError::NoTeams);
            }
            exists(team, teams)?;
        }
        let mut course = std::mem::take(&mut game.course);
        let result = course.end(&game.facts(frame, teams), decided.then_some(verdict), now);
        game.course = course;
        result
    }

    /// Frees the stays and score events of a game that has ended and is on disk. [`end`](Self::end)
    /// then fails until the next START.
    pub fn forget_course(&mut self) {
        if let Some(game) = &mut self.game {
            game.course.forget();
        }
    }

    /// The record of a game that GAME or a lost connection ends during play; `None` if play has not
    /// begun or is over, or if no player has taken part.
    pub fn abandoned(&self, frame: &RecordFrame) -> Option<Finished> {
        let game = self.game.as_ref()?;
        let facts = game.facts(frame, self.teams);
        let finished = game.course.abandoned(&facts, self.now);
        finished.filter(|finished| !finished.record.participants.is_empty())
    }

    /// Whether play has begun and has not ended.
    pub fn is_running(&self) -> bool {
        self.game
            .as_ref()
            .is_some_and(|game| game.course.is_running())
    }
}

impl RunningGame {
    /// Each team's score so far; empty before START and in a game without teams.
    pub fn scores(&self) -> &[f64] {
        self.course.scores()
    }

    /// Index of the track of a player who plays or has played, see
    /// [`PlayCourse`](super::course::PlayCourse).
    pub(super) fn track(&self, id: &Ident) -> Result<usize, LobbyError> {
        self.course.find(id.text()).ok_or(LobbyError::UnknownPlayer)
    }

    fn facts<'a>(&'a self, frame: &'a RecordFrame, teams: u8) -> GameFacts<'a> {
        GameFacts {
            frame,
            game_type: &self.game_type,
            map: self.map.as_deref().unwrap_or(""),
            mutators: &self.mutators,
            teams: if self.has_teams {
                usize::from(teams)
            } else {
                0
            },
        }
    }
}
