//! A round that is restarted. Team Fortress 2 writes nothing when a round or the whole game is restarted: the next round
//! begins without an end of the one before it. Only the next scores show which of the two it was.

use super::{Game, restore::Checkpoint};
use crate::{
    clock::Calendar,
    source::{style::ResultStyle, totals::BothScores},
};
use evenkeel_model::Timestamp;

/// A game whose last round was broken off, as it was when that round began.
pub(super) struct BrokenOff {
    line: u64,
    began: (u64, Option<Timestamp>),
    kept: Checkpoint,
    /// The scores that were stated since, until those of both sides are known.
    stated: BothScores,
}

impl Game {
    /// What goes on if a round that begins now, without an end of the last one, is that one again; `None` if nothing
    /// was scored before.
    pub(super) fn break_off(&mut self, style: ResultStyle) -> Option<Box<BrokenOff>> {
        let scored = self.totals.people().iter().any(|score| *score != 0.0);
        if style != ResultStyle::Finals || !self.round || self.is_over() || !scored {
            return self.broken_off.take().filter(|_| self.round);
        }
        let (began, kept) = self.began.zip(self.checkpoints.pop_back())?;
        let (line, stated) = (self.line, BothScores::default());
        Some(Box::new(BrokenOff {
            line,
            began,
            kept,
            stated,
        }))
    }

    /// Takes a side's score. If the scores go on from those before the round that was broken off, so does the game.
    pub(super) fn go_on(&mut self, team: u8, total: f64, now: Calendar) {
        let Some(mut broken_off) = self.broken_off.take() else {
            return;
        };
        let Some([one, two]) = broken_off.stated.state(team, total) else {
            self.broken_off = Some(broken_off);
            return;
        };
        let before = [0, 1].map(|side| broken_off.kept.totals.stated(side));
        // What was scored since by itself, if the game began anew: a round, or the captures.
        let anew = one + two <= 1.0 || self.recorder.sums(2) == [one, two];
        if one >= before[0] && two >= before[1] && !anew && !self.exchanged {
            self.continue_from(*broken_off);
            self.total(0, one, now);
            self.total(1, two, now);
        }
    }

    /// Puts what was played before the round that was broken off in front of what was played since.
    fn continue_from(&mut self, before: BrokenOff) {
        let (position, _) = before.began;
        let offset = self
            .began
            .map_or(0, |(began, _)| began.saturating_sub(position));
        let kept = before.kept;
        let later = std::mem::replace(&mut self.recorder, kept.recorder);
        let grown = self.recorder.append(later, kept.at, offset);
        self.visits.values_mut().for_each(|visit| *visit += grown);
        // The first scores since are yet to be counted.
        self.rounds = kept.rounds;
        for (sum, before) in self.kills.iter_mut().zip(kept.kills) {
            *sum = sum.saturating_add(before);
        }
        self.totals = kept.totals;
        (self.exchanged, self.exchanged_late) = (kept.exchanged, kept.exchanged_late);
        (self.line, self.began) = (before.line, Some(before.began));
        self.lasted = self.lasted.map(|lasted| lasted.saturating_add(offset));
        self.checkpoints.clear();
    }
}
