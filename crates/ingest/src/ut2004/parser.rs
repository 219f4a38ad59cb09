//! Separates the games of a log.

use super::{OLSTATS, game::Game};
use crate::{
    format::LogParser,
    item::LogItem,
    lines::LogLine,
    skip::Skip,
    tabs::{Fields, TabParser},
    text::{self, CUT_LINE, LineResult, NO_TIME},
};

pub(super) type Parser = TabParser<Game>;

impl Parser {
    /// Skips the game being read: its end is missing.
    fn abandon(&mut self, items: &mut Vec<LogItem>) {
        self.stray.close(false, items);
        if let Some(game) = self.game.take() {
            let (line, reason) = (game.line, game.unfinished());
            items.push(LogItem::skipped(line, reason));
        }
    }

    fn event(
        &mut self,
        line: LogLine<'_>,
        rest: &[u8],
        items: &mut Vec<LogItem>,
    ) -> LineResult<()> {
        let mut fields = Fields::of(rest);
        match fields.next()? {
            b"NG" => {
                self.abandon(items);
                let game = Game::read(line.number, fields, self.clock)?;
                self.game = Some(Box::new(game));
            }
            b"EG" => self.end(line, fields, items)?,
            verb => match &mut self.game {
                Some(game) => game.event(verb, fields, self.clock)?,
                None if matches!(verb, b"K" | b"TK" | b"S" | b"T" | b"G") => {
                    self.stray.note(line.number);
                }
                None => {}
            },
        }
        Ok(())
    }

    fn end(
        &mut self,
        line: LogLine<'_>,
        mut fields: Fields<'_>,
        items: &mut Vec<LogItem>,
    ) -> LineResult<()> {
        let reason = fields.next()?;
        if !line.whole && fields.next().is_err() && !is_end(reason) {
            return Err(CUT_LINE);
        }
        match self.game.take() {
            Some(game) => {
                let at = game.line;
                let outcome = if is_abort(reason) {
                    Err(Skip::Aborted)
                } else {
                    game.finish(&self.server, self.clock)
                };
                items.push(LogItem::of_game(at, outcome));
            }
            None => self.stray.note(line.number),
        }
        self.stray.close(true, items);
        Ok(())
    }
}

/// Whether a game that ended for this reason was played to its end. Mods have more such reasons.
/// The ones here are known to be complete words.
fn is_end(reason: &[u8]) -> bool {
    let ends: [&[u8]; 5] = [
        b"fraglimit",
        b"timelimit",
        b"teamscorelimit",
        b"lastman",
        b"scorelimit",
    ];
    ends.iter().any(|end| end.eq_ignore_ascii_case(reason))
}

/// Whether a game that ended for this reason was broken off.
fn is_abort(reason: &[u8]) -> bool {
    let aborts: [&[u8]; 7] = [
        b"",
        b"mapchange",
        b"serverquit",
        b"serverrestart",
        b"restart",
        b"quit",
        b"abort",
    ];
    aborts
        .iter()
        .any(|abort| abort.eq_ignore_ascii_case(reason))
}

impl LogParser for Parser {
    fn line(&mut self, line: LogLine<'_>, items: &mut Vec<LogItem>) {
        if line.bytes.is_empty() || line.bytes.starts_with(OLSTATS) {
            return;
        }
        let read = match text::seconds(line.bytes) {
            None => Err(NO_TIME),
            // The only line that may be read without its end is the last one of a game: see `end`.
            Some((_, rest)) if !line.whole && !rest.starts_with(b"EG\t") => Err(CUT_LINE),
            Some((at, rest)) => {
                if self.clock.read(at) && !rest.starts_with(b"NG\t") {
                    self.abandon(items);
                }
                self.event(line, rest, items)
            }
        };
        if let Err(why) = read {
            items.push(LogItem::malformed(line, why));
        }
    }

    fn finish(&mut self, items: &mut Vec<LogItem>) {
        self.abandon(items);
    }

    fn elapsed(&self) -> u64 {
        self.clock.position()
    }
}
