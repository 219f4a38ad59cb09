//! Play outside the games whose beginning the log contains.

use super::{item::LogItem, skip::Skip};

/// Notices play outside games. Play just after a game's end is ignored. Any other stray play
/// belongs to a game that began before the log did, which is reported as skipped.
#[derive(Debug, Default)]
pub(super) struct StrayPlay {
    /// The line of the first stray play.
    line: Option<u64>,
    aftermath: bool,
}

impl StrayPlay {
    /// Notes play outside a game.
    pub(super) fn note(&mut self, line: u64) {
        if !self.aftermath {
            self.line.get_or_insert(line);
        }
    }

    /// Appends the game to which the stray play belongs, if there was any. `aftermath` says whether
    /// the play that follows comes just after a game's end.
    pub(super) fn close(&mut self, aftermath: bool, items: &mut Vec<LogItem>) {
        if let Some(line) = self.line.take() {
            let reason = Skip::StartedBeforeLog;
            items.push(LogItem::skipped(line, reason));
        }
        self.aftermath = aftermath;
    }
}
