//! Ends a running game and makes its record.

use super::{GameRecorder, PlayPhase};
use crate::{
    domain::{MatchChances, MatchRecord, MatchRecorder, Outcome, Timestamp, Verdict},
    lobby::LobbyError,
};

/// The parts of a match record that do not come from the game itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RecordFrame {
    /// Name of the game server.
    pub server: String,
    /// The instant from which the session's milliseconds count.
    pub epoch: Timestamp,
    /// The league, region or playlist; empty if there is none.
    pub mode: String,
}

/// The result of a game, for the store.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// The record, checked. Its outcome is [`Outcome::Abandoned`] if the game ended without a
    /// result.
    pub record: MatchRecord,
    /// What was predicted of its teams, from BALANCE before START on.
    pub chances: MatchChances,
    /// Whether the game exceeded a bound far above any real game, so that part of it is missing and
    /// it must not be rated.
    pub cut: bool,
}

impl GameRecorder {
    /// Ends the game and completes its record, which states what does not come from the players. Without a verdict the
    /// outcome is undecided. A second call returns the same record.
    ///
    /// # Errors
    /// Fails if play has not begun, if its record was [forgotten](Self::forget), or if the record
    /// is not valid; play then continues.
    pub(in crate::lobby) fn end(
        &mut self,
        record: MatchRecord,
        verdict: Option<Verdict>,
        now: u64,
    ) -> Result<Finished, LobbyError> {
        if let PlayPhase::Over(Some(finished)) = &self.phase {
            return Ok((**finished).clone());
        }
        let outcome = |scores: &[f64]| match verdict {
            None => Outcome::Undecided,
            Some(Verdict::Scores) => MatchRecord::outcome_of(scores),
            Some(Verdict::Won(team)) => Outcome::Won(team),
            Some(Verdict::Draw) => Outcome::Draw,
        };
        let (ended, finished) = self.finished(record, outcome, now)?;
        self.play = ended;
        self.phase = PlayPhase::Over(Some(Box::new(finished.clone())));
        Ok(finished)
    }

    /// If play is over, frees everything that only the record needs. START does so, too.
    pub(in crate::lobby) fn forget(&mut self) {
        if let PlayPhase::Over(finished) = &mut self.phase {
            *finished = None;
            self.play.forget();
            self.chances.forget();
        }
    }

    /// The record of a game that ends now without a result; `None` unless the game is in play.
    pub(in crate::lobby) fn abandoned(&self, record: MatchRecord, now: u64) -> Option<Finished> {
        let outcome = |_: &[f64]| Outcome::Abandoned;
        let finished = self.finished(record, outcome, now).ok();
        finished.map(|(_, finished)| finished)
    }

    /// The play with all stays ended, and its record.
    fn finished(
        &self,
        record: MatchRecord,
        outcome: impl FnOnce(&[f64]) -> Outcome,
        now: u64,
    ) -> Result<(MatchRecorder, Finished), LobbyError> {
        let PlayPhase::Running(start) = self.phase else {
            return Err(LobbyError::NotStarted);
        };
        let mut ended = self.play.clone();
        let millis = ended.end(self.elapsed(now));
        let mut scores = self.scores.clone();
        scores.resize(record.scores.len(), 0.0);
        let start = i64::try_from(start).unwrap_or(i64::MAX);
        let record = MatchRecord {
            start: record.start.plus_millis(start),
            outcome: outcome(&scores),
            scores,
            ..record
        };
        let (record, seats) = ended.complete(record, millis);
        record.check()?;
        let finished = Finished {
            record,
            chances: self.chances.recorded(&seats),
            cut: ended.is_cut(),
        };
        Ok((ended, finished))
    }
}
