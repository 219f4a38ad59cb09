//! Separates the games of a log.

use super::game::Game;
use crate::{
    format::LogParser,
    item::LogItem,
    lines::LogLine,
    tabs::{Fields, TabParser},
    text::{self, CUT_LINE, LineResult, NO_TIME},
};

/// How the first line of each game begins.
const FIRST: &[u8] = b"info\tLog_Standard\t";

pub(super) type Parser = TabParser<Game>;

impl Parser {
    /// Ends the game being read, whether or not its end has been read.
    fn close(&mut self, items: &mut Vec<LogItem>) {
        self.stray.close(true, items);
        if let Some(game) = self.game.take() {
            items.push(LogItem::of_game(game.line, game.finish(&self.server)));
        }
    }

    fn event(&mut self, line: u64, rest: &[u8], items: &mut Vec<LogItem>) -> LineResult<()> {
        let mut fields = Fields::of(rest);
        let kind = fields.next()?;
        if rest.starts_with(FIRST) {
            self.close(items);
            self.stray.close(false, items);
            let utstats = rest.ends_with(b"\tUTStats");
            self.game = Some(Box::new(Game::new(line, self.clock, utstats)));
            return Ok(());
        }
        match &mut self.game {
            Some(game) => {
                game.event(kind, fields, self.clock)?;
                if game.is_complete() {
                    self.close(items);
                }
            }
            None if matches!(kind, b"kill" | b"suicide" | b"game_start" | b"game_end") => {
                self.stray.note(line);
            }
            None => {}
        }
        Ok(())
    }
}

impl LogParser for Parser {
    fn line(&mut self, line: LogLine<'_>, items: &mut Vec<LogItem>) {
        if line.bytes.is_empty() {
            return;
        }
        let read = match text::seconds(line.bytes) {
            None => Err(NO_TIME),
            Some(_) if !line.whole => Err(CUT_LINE),
            Some((at, rest)) => {
                if self.clock.read(at) && !rest.starts_with(FIRST) {
                    // The server was restarted, and the beginning of the next game is missing.
                    self.close(items);
                    self.stray.close(false, items);
                }
                self.event(line.number, rest, items)
            }
        };
        if let Err(why) = read {
            items.push(LogItem::malformed(line, why));
        }
    }

    fn finish(&mut self, items: &mut Vec<LogItem>) {
        // A log that is still being written may end between a game's end and its results.
        if let Some(game) = &mut self.game
            && !game.has_results()
        {
            game.forget_end();
        }
        self.close(items);
    }

    fn elapsed(&self) -> u64 {
        self.clock.position()
    }
}
