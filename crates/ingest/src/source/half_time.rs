//! The halves of a match of Counter-Strike between which the server restarted the game.
//!
//! Older versions know no half-time: after the first half, the teams change sides, and somebody
//! restarts the game, which sets the scores to 0. A restart also ends a warm-up, or a round with
//! knives that decides who chooses the side. Which of them it was is clear only once the game after
//! the restart is over.

use crate::{
    LogItem,
    format::Skip,
    halves::{join, may_follow, sides},
};
use evenkeel_model::{MatchRecord, Outcome};

/// What was played before the restart of a game.
struct SourceFirstHalf {
    /// The line on which it began.
    line: u64,
    record: MatchRecord,
    /// Whether the teams have changed sides in it.
    has_changed: bool,
    /// Whether it began before the log, so that its match has no record.
    is_cut: bool,
}

/// Holds back what was played before a restart, until it is clear whether it belongs to a match.
#[derive(Default)]
pub(super) struct SourceHalfTime {
    held: Option<SourceFirstHalf>,
}

impl SourceHalfTime {
    /// Holds back what was played before a restart. `line` is the line on which it began; `is_cut` says
    /// whether it began before the log.
    pub(super) fn hold(&mut self, line: u64, record: MatchRecord, is_cut: bool) {
        let held = self.held.take();
        let joined = held.and_then(|first| {
            let (record, changed) = first.continued(&record)?;
            Some(SourceFirstHalf {
                line: first.line,
                record,
                has_changed: first.has_changed || changed,
                is_cut: first.is_cut || is_cut,
            })
        });
        self.held = joined.or(Some(SourceFirstHalf {
            line,
            record,
            has_changed: false,
            is_cut,
        }));
    }

    /// The item for a game that began on this line: with what was played before, if that belongs to
    /// its match. With the record comes whether its teams have to be exchanged.
    pub(super) fn complete(
        &mut self,
        line: u64,
        game: Result<(MatchRecord, bool), Skip>,
    ) -> LogItem {
        let first = self.held.take();
        let (record, exchange) = match game {
            Ok(game) => game,
            Err(reason) => return LogItem::skipped(line, reason),
        };
        let (line, record) = match first
            .as_ref()
            .map(|first| (first, first.continued(&record)))
        {
            Some((first, Some(_))) if first.is_cut => {
                return LogItem::skipped(first.line, Skip::StartedBeforeLog);
            }
            Some((first, Some((joined, _)))) => (first.line, joined),
            _ => (line, record),
        };
        let record = if exchange {
            record.with_teams_exchanged()
        } else {
            record
        };
        LogItem::of_game(line, Ok(record))
    }

    /// Forgets what is held back, and returns the line on which it began.
    pub(super) fn forget(&mut self) -> Option<u64> {
        self.held.take().map(|first| first.line)
    }
}

impl SourceFirstHalf {
    /// The match of this half and of `second`, with the teams of `second`, and whether they have
    /// changed sides in between; `None` if the two are no match: the same people play on after they
    /// have changed sides, or, after a draw, in overtime.
    fn continued(&self, second: &MatchRecord) -> Option<(MatchRecord, bool)> {
        let changed = sides(&self.record, second).filter(|_| may_follow(&self.record, second))?;
        let overtime = self.has_changed && self.record.outcome == Outcome::Draw;
        if !changed && !overtime {
            return None;
        }
        let joined = join(&self.record, second, changed)?;
        let joined = if changed {
            joined.with_teams_exchanged()
        } else {
            joined
        };
        Some((joined, changed))
    }
}
