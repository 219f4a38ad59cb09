//! What happens in a game, as a session is told of it.

use super::{Session, SessionError};
use crate::domain::Ident;

impl Session {
    /// A human is not to be moved for so many seconds, or until said otherwise.
    ///
    /// # Errors
    /// No game, or nobody of that id.
    pub fn protect(&mut self, id: &Ident, seconds: Option<u32>) -> Result<(), SessionError> {
        let millis = seconds.map(|seconds| u64::from(seconds) * 1_000);
        Ok(self.lobby().protect(id, millis)?)
    }

    /// Play begins: time zero.
    ///
    /// # Errors
    /// There is no game.
    pub fn start(&mut self) -> Result<(), SessionError> {
        self.lobby().start()?;
        let clock = &self.sessions.clock;
        let passed = i64::try_from(clock.millis()).unwrap_or(i64::MAX);
        self.state.epoch = clock.now().plus_millis(-passed);
        self.state.ended = None;
        Ok(())
    }

    /// A team's score changed by so many points, by this human's or bot's doing.
    ///
    /// # Errors
    /// No game, a game without teams, no such team, nobody of that id.
    pub fn score(&mut self, team: u8, points: f64, by: Option<&Ident>) -> Result<(), SessionError> {
        Ok(self.lobby().score(team, points, by)?)
    }

    /// Somebody's points on the scoreboard so far.
    ///
    /// # Errors
    /// No game, or nobody of that id has played.
    pub fn points(&mut self, id: &Ident, points: f64) -> Result<(), SessionError> {
        Ok(self.lobby().points(id, points)?)
    }

    /// Somebody killed somebody.
    ///
    /// # Errors
    /// No game, or nobody of either id has played.
    pub fn kill(&mut self, killer: &Ident, victim: &Ident) -> Result<(), SessionError> {
        Ok(self.lobby().kill(killer, victim)?)
    }

    /// So many seconds of play are left.
    ///
    /// # Errors
    /// There is no game.
    pub fn clock(&mut self, seconds: u32) -> Result<(), SessionError> {
        Ok(self.lobby().clock(u64::from(seconds) * 1_000)?)
    }
}
