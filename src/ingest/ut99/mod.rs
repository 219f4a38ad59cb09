//! Unreal Tournament (1999): ngLog, as the game and UTStats write it.
//!
//! Lines are fields between tabs: seconds, a kind, and what it needs. A log opens with what game it
//! is; play begins with `game_start` (or, in a tournament, anew with `realstart`) and is over with
//! `game_end`. UTStats goes on to tell everybody's score. `game` follows one game; this file reads
//! lines and keeps the games of a log apart.

mod game;
#[cfg(test)]
mod tests;

use super::{Context, Format, LogItem, LogLine, LogParser, MAX_LINE, Skip, clock::LogClock, text};
use game::Game;

pub(super) const FORMAT: Format = Format {
    name: "ut99",
    detect,
    parser: |context| Box::new(Parser::new(context)),
    max_line: MAX_LINE,
    in_halves: false,
};

fn detect(head: &[u8]) -> bool {
    super::format::mostly(head, |line| {
        let Some((_, rest)) = text::seconds(line) else {
            return (!line.is_empty()).then_some(false);
        };
        let kind = rest.split(|&b| b == b'\t').next()?;
        let kinds: [&[u8]; 13] = [
            b"info",
            b"map",
            b"game",
            b"player",
            b"kill",
            b"teamkill",
            b"suicide",
            b"item_get",
            b"game_start",
            b"game_end",
            b"teamscore",
            b"stat_player",
            b"flag_captured",
        ];
        let known = kinds.contains(&kind) || kind.starts_with(b"weap_");
        known.then_some(true)
    })
}

/// The fields of a line after its time.
struct Fields<'a>(std::slice::Split<'a, u8, fn(&u8) -> bool>);

type Read<T> = Result<T, &'static str>;

impl<'a> Fields<'a> {
    fn of(rest: &'a [u8]) -> Self {
        Self(rest.split(|&b| b == b'\t'))
    }

    fn next(&mut self) -> Read<&'a [u8]> {
        self.0.next().ok_or("a field is missing")
    }

    fn player(&mut self) -> Read<u32> {
        let number = text::whole_number(self.next()?).and_then(|n| u32::try_from(n).ok());
        number.ok_or("a player's number is missing")
    }

    /// A team; 255 is none.
    fn team(&mut self) -> Read<Option<u8>> {
        let team = text::whole_number(self.next()?).ok_or("a team's number is missing")?;
        let team = u8::try_from(team).ok();
        Ok(team.filter(|&team| usize::from(team) < game::TEAMS))
    }

    fn points(&mut self) -> Read<f64> {
        let points = text::real(self.next()?).filter(|points| points.abs() < 1e6);
        points.ok_or("points are missing")
    }

    fn is_true(&mut self) -> Read<bool> {
        Ok(self.next()?.eq_ignore_ascii_case(b"true"))
    }
}

struct Parser {
    server: String,
    clock: LogClock,
    game: Option<Box<Game>>,
    /// Where play was first told of before any game was, if it was.
    foreign: Option<u64>,
    /// Whether a game was told, so that what follows is its aftermath.
    aftermath: bool,
}

impl Parser {
    fn new(context: &Context) -> Self {
        Self {
            server: context.server.clone(),
            clock: LogClock::default(),
            game: None,
            foreign: None,
            aftermath: false,
        }
    }

    /// What was being told is over, or has no end.
    fn close(&mut self, items: &mut Vec<LogItem>) {
        if let Some(line) = self.foreign.take() {
            let reason = Skip::StartedBeforeLog;
            items.push(LogItem::Skipped { line, reason });
        }
        if let Some(game) = self.game.take() {
            let line = game.line;
            items.push(match game.finish(&self.server) {
                Ok(record) => LogItem::Match(Box::new(record)),
                Err(reason) => LogItem::Skipped { line, reason },
            });
        }
        self.aftermath = true;
    }

    fn event(&mut self, line: u64, rest: &[u8], items: &mut Vec<LogItem>) -> Read<()> {
        let mut fields = Fields::of(rest);
        let kind = fields.next()?;
        if rest.starts_with(b"info\tLog_Standard\t") {
            self.close(items);
            let utstats = rest.ends_with(b"\tUTStats");
            self.game = Some(Box::new(Game::new(line, self.clock, utstats)));
            self.aftermath = false;
            return Ok(());
        }
        match &mut self.game {
            Some(game) => {
                game.event(kind, fields, self.clock)?;
                if game.is_complete() {
                    self.close(items);
                }
            }
            None if self.aftermath => {}
            None if matches!(kind, b"kill" | b"suicide" | b"game_start" | b"game_end") => {
                self.foreign.get_or_insert(line);
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
            None => Err("the line does not begin with a time"),
            Some(_) if !line.whole => Err("the log ends within this line"),
            Some((at, rest)) => {
                if self.clock.read(at) && !rest.starts_with(b"info\tLog_Standard\t") {
                    // The server was started anew, and the beginning is missing.
                    self.close(items);
                    self.aftermath = false;
                }
                self.event(line.number, rest, items)
            }
        };
        if let Err(why) = read {
            let line = line.number;
            let why = why.into();
            items.push(LogItem::Malformed { line, why });
        }
    }

    fn finish(&mut self, items: &mut Vec<LogItem>) {
        // A log that is still being written may end between the end of a game and its results.
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
