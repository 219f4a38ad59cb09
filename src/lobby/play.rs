//! What a lobby is told of the game's course: START, SCORE, POINTS, KILL, CLOCK, END.
//!
//! Before START, and after END until the next START, these are heard and don't count: what warm-up
//! tells is not an error of the game server's.

use super::{
    Finished, Frame, Lobby, LobbyError,
    course::About,
    state::{Game, exists},
};
use crate::domain::{Ident, Verdict};

impl Lobby {
    /// Play begins: time zero. Said again, it begins again.
    ///
    /// # Errors
    /// There is no game.
    pub fn start(&mut self) -> Result<(), LobbyError> {
        let (now, teams) = (self.now, usize::from(self.teams));
        let game = self.game_mut()?;
        let teams = if game.has_teams { teams } else { 0 };
        game.course.start(teams, now);
        game.seat_all(now);
        game.help = None;
        Ok(())
    }

    /// A team's score changed by `points`, by this human's or bot's doing.
    ///
    /// # Errors
    /// No game, a game without teams, no such team, nobody of that id.
    pub fn score(&mut self, team: u8, points: f64, by: Option<&Ident>) -> Result<(), LobbyError> {
        let (now, teams) = (self.now, self.teams);
        let game = self.game_mut()?;
        if !game.has_teams {
            return Err(LobbyError::NoTeams);
        }
        exists(team, teams)?;
        let by = by.map(|id| game.track(id)).transpose()?;
        game.course.score(team, points, by, now);
        Ok(())
    }

    /// Somebody's points on the scoreboard so far.
    ///
    /// # Errors
    /// No game, or nobody of that id has played.
    pub fn points(&mut self, id: &Ident, points: f64) -> Result<(), LobbyError> {
        let game = self.game_mut()?;
        let track = game.track(id)?;
        game.course.points(track, points);
        Ok(())
    }

    /// Somebody killed somebody; both may be humans or bots, and may have left since.
    ///
    /// # Errors
    /// No game, or nobody of either id has played.
    pub fn kill(&mut self, killer: &Ident, victim: &Ident) -> Result<(), LobbyError> {
        let game = self.game_mut()?;
        let (killer, victim) = (game.track(killer)?, game.track(victim)?);
        game.course.kill(killer, victim);
        Ok(())
    }

    /// So many milliseconds of play are left.
    ///
    /// # Errors
    /// There is no game.
    pub fn clock(&mut self, left: u64) -> Result<(), LobbyError> {
        let now = self.now;
        self.game_mut()?.course.clock(left, now);
        Ok(())
    }

    /// The game is over. Said again, it has the same answer, until the next START or game.
    ///
    /// # Errors
    /// No game, no such team, play has not begun, or what was told makes no record.
    pub fn end(&mut self, verdict: Verdict, frame: &Frame) -> Result<Finished, LobbyError> {
        let (now, teams) = (self.now, self.teams);
        let game = self.game_mut()?;
        if let Verdict::Won(team) = verdict {
            if !game.has_teams {
                return Err(LobbyError::NoTeams);
            }
            exists(team, teams)?;
        }
        let mut course = std::mem::take(&mut game.course);
        let result = course.end(&game.about(frame, teams), verdict, now);
        game.course = course;
        result
    }

    /// What there is of a running game that goes no further, when GAME or a broken connection ends
    /// it; `None` when there is nothing to keep.
    pub fn abandoned(&self, frame: &Frame) -> Option<Finished> {
        let game = self.game.as_ref()?;
        game.course
            .abandoned(&game.about(frame, self.teams), self.now)
    }

    /// Whether play has begun and isn't over.
    pub fn is_running(&self) -> bool {
        self.game
            .as_ref()
            .is_some_and(|game| game.course.is_running())
    }
}

impl Game {
    /// Each team's score so far; empty before START and in a game without teams.
    pub fn scores(&self) -> &[f64] {
        self.course.scores()
    }

    /// Somebody who plays or has played, in the course.
    pub(super) fn track(&self, id: &Ident) -> Result<usize, LobbyError> {
        self.course.find(id.text()).ok_or(LobbyError::UnknownPlayer)
    }

    fn about<'a>(&'a self, frame: &'a Frame, teams: u8) -> About<'a> {
        About {
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
