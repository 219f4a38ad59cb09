//! Xonotic and Nexuiz: the event log, version 3 (`sv_eventlog`).
//!
//! A line is `:event:field:…`; a `:time:` line before it tells when, unless that is switched off. A
//! game begins with `:gamestart:`, is over with `:scores:` (`:status:` tells scores in mid-game), and
//! everything of it is told at `:end`. `grammar` reads one line, `game` follows one game.

mod game;
mod grammar;
#[cfg(test)]
mod tests;

use super::{Context, Format, LogItem, LogLine, LogParser, MAX_LINE, Skip, clock::Calendar};
use game::Game;
use grammar::Event;

pub(super) const FORMAT: Format = Format {
    name: "xonotic",
    detect,
    parser: |context| Box::new(Parser::new(context)),
    max_line: MAX_LINE,
    in_halves: false,
};

fn detect(head: &[u8]) -> bool {
    super::format::mostly(head, |line| {
        let Some(rest) = line.strip_prefix(b":") else {
            return (!line.is_empty()).then_some(false);
        };
        let verb = rest.split(|&b| b == b':').next()?;
        let verbs: [&[u8]; 14] = [
            b"logversion",
            b"time",
            b"gamestart",
            b"gameinfo",
            b"join",
            b"part",
            b"team",
            b"name",
            b"kill",
            b"ctf",
            b"scores",
            b"labels",
            b"player",
            b"teamscores",
        ];
        verbs.contains(&verb).then_some(true)
    })
}

struct Parser {
    server: String,
    calendar: Calendar,
    game: Option<Box<Game>>,
    /// Where play was first told of before any game was, if it was.
    foreign: Option<u64>,
    /// Whether a game was told to its end, so that what follows is its aftermath.
    aftermath: bool,
}

impl Parser {
    fn new(context: &Context) -> Self {
        Self {
            server: context.server.clone(),
            calendar: Calendar::default(),
            game: None,
            foreign: None,
            aftermath: false,
        }
    }

    /// What was being told has no end, for this reason.
    fn abandon(&mut self, reason: Skip, items: &mut Vec<LogItem>) {
        if let Some(line) = self.foreign.take() {
            let reason = Skip::StartedBeforeLog;
            items.push(LogItem::Skipped { line, reason });
        }
        if let Some(game) = self.game.take() {
            let line = game.line;
            items.push(LogItem::Skipped { line, reason });
        }
        self.aftermath = false;
    }

    fn event(&mut self, line: u64, event: Event<'_>, items: &mut Vec<LogItem>) {
        match event {
            Event::Other => {}
            Event::Time(date) => self.calendar.read(date),
            Event::GameStart { kind, map } => {
                self.abandon(Skip::Unfinished, items);
                let game = Game::new(line, kind, map, self.calendar);
                self.game = Some(Box::new(game));
            }
            Event::GameOver => {
                // Told to its end, it would be gone by now.
                self.abandon(Skip::Aborted, items);
                self.aftermath = true;
            }
            Event::End => self.end(items),
            other => match &mut self.game {
                Some(game) => game.event(other, &mut self.calendar),
                None if self.aftermath => {}
                None => {
                    self.foreign.get_or_insert(line);
                }
            },
        }
    }

    fn end(&mut self, items: &mut Vec<LogItem>) {
        let over = self.game.take_if(|game| game.ends());
        let Some(game) = over else { return };
        self.aftermath = true;
        let line = game.line;
        items.push(match game.finish(&self.server) {
            Ok(record) => LogItem::Match(Box::new(record)),
            Err(reason) => LogItem::Skipped { line, reason },
        });
    }
}

impl LogParser for Parser {
    fn line(&mut self, line: LogLine<'_>, items: &mut Vec<LogItem>) {
        if line.bytes.is_empty() {
            return;
        }
        let read = match line.whole {
            true => grammar::read(line.bytes),
            false => Err("the log ends within this line"),
        };
        match read {
            Ok(event) => self.event(line.number, event, items),
            Err(why) => items.push(LogItem::Malformed {
                line: line.number,
                why: why.into(),
            }),
        }
    }

    fn finish(&mut self, items: &mut Vec<LogItem>) {
        self.abandon(Skip::Unfinished, items);
    }

    fn elapsed(&self) -> u64 {
        self.calendar.position()
    }
}
