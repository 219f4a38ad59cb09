//! Xonotic and Nexuiz: the event log, version 3 (`sv_eventlog`).
//!
//! A line is `:event:field:…`; a `:time:` line before it has the date, unless the server has that
//! switched off; then the time stamps that another program wrote before the lines count. A game begins with `:gamestart:` and ends with `:scores:` (`:status:` lists scores in
//! mid-game); `:end` closes the list. `grammar` reads one line, `server` says what the lines mean, `game` records one game.

mod game;
pub mod grammar;
pub mod server;
#[cfg(test)]
mod tests;

use super::{
    clock::Calendar,
    event::GameEvent,
    format::{Context, DateZone, Format, LogParser, mostly},
    lines::{LogLine, MAX_LINE},
    text::CUT_LINE,
};
use crate::format::{LogItem, Skip, StrayPlay, kind_of};
use evenkeel_model::Timestamp;
pub use game::GAME;
use game::XonoticGame;
use grammar::XonoticEvent;
use server::XonoticServer;

/// The format's entry in the registry.
pub(super) const FORMAT: Format = Format {
    name: "xonotic",
    detect,
    is_beneath: Some(is_known),
    parser: |context| Box::new(XonoticParser::new(context)),
    max_line: MAX_LINE,
    unknown,
    finds_repeats: false,
    names_games: true,
    dates: DateZone::OfStamps,
    in_halves: false,
};

fn detect(head: &[u8]) -> bool {
    mostly(head, |line| match line.first() {
        None => None,
        Some(b':') => is_known(line).then_some(true),
        Some(_) => Some(false),
    })
}

/// Whether a line has a common event of this format.
fn is_known(line: &[u8]) -> bool {
    const VERBS: [&[u8]; 14] = [
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
    let verb = line
        .strip_prefix(b":")
        .and_then(|rest| rest.split(|&b| b == b':').next());
    verb.is_some_and(|verb| VERBS.contains(&verb))
}

/// Events that no record needs.
const NEEDLESS: [&str; 13] = [
    "logversion",
    "gameinfo",
    "recordset",
    "ctf",
    "vote",
    "chat",
    "anticheat",
    "dom",
    "race",
    "keyhunt",
    "ka",
    "labels",
    "teamscores",
];

/// The kind of event of a line that [`grammar`] does not know.
fn unknown(line: &[u8]) -> Option<&[u8]> {
    match grammar::read(line) {
        Ok(XonoticEvent::Other) => kind_of(line.strip_prefix(b":")?, &NEEDLESS),
        _ => None,
    }
}

struct XonoticParser {
    server: String,
    calendar: Calendar,
    log: XonoticServer,
    game: Option<Box<XonoticGame>>,
    stray: StrayPlay,
    /// Whether the log has dates of its own.
    dated: bool,
}

impl XonoticParser {
    fn new(context: &Context) -> Self {
        Self {
            server: context.server.clone(),
            calendar: Calendar::default(),
            log: XonoticServer::default(),
            game: None,
            stray: StrayPlay::default(),
            dated: false,
        }
    }

    /// Takes the date of the next line.
    fn pass(&mut self, date: Timestamp) {
        let log = self.game.as_ref().map(|_| &self.log);
        self.calendar
            .read(date, || log.is_some_and(XonoticServer::are_opposed));
    }

    /// Skips the game being read for this reason.
    fn abandon(&mut self, reason: Skip, items: &mut Vec<LogItem>) {
        self.stray.close(false, items);
        if let Some(game) = self.game.take() {
            let line = game.line;
            items.push(LogItem::skipped(line, reason));
        }
    }

    fn event(&mut self, line: u64, event: XonoticEvent<'_>, items: &mut Vec<LogItem>) {
        match event {
            XonoticEvent::Other
            | XonoticEvent::GameStart { .. }
            | XonoticEvent::GameOver
            | XonoticEvent::End => {}
            XonoticEvent::Time(date) => {
                self.dated = true;
                self.pass(date);
            }
            other => match &mut self.game {
                Some(game) => game.note(other, &mut self.calendar),
                None => self.stray.note(line),
            },
        }
        let mut events = Vec::new();
        self.log.interpret(event, &mut events);
        for event in events {
            self.take(line, event, items);
        }
    }

    fn take(&mut self, line: u64, event: GameEvent, items: &mut Vec<LogItem>) {
        match event {
            GameEvent::Game => {
                self.abandon(Skip::Unfinished, items);
                let game = XonoticGame::new(line, &self.log, self.calendar);
                self.game = Some(Box::new(game));
            }
            GameEvent::Closed => {
                // A game that was played to its end has been closed by `:end` before.
                self.abandon(Skip::Aborted, items);
                self.stray.close(true, items);
            }
            GameEvent::Result(scores) => {
                if let Some(game) = self.game.take() {
                    self.stray.close(true, items);
                    let line = game.line;
                    let outcome = game.finish(scores, &self.log, &self.server);
                    items.push(LogItem::of_game(line, outcome));
                }
            }
            other => {
                if let Some(game) = &mut self.game {
                    game.event(other, &self.log, self.calendar);
                }
            }
        }
    }
}

impl LogParser for XonoticParser {
    fn line(&mut self, line: LogLine<'_>, items: &mut Vec<LogItem>) {
        if line.bytes.is_empty() {
            return;
        }
        if let Some(stamp) = line.stamp {
            if !line.bytes.starts_with(b":") {
                return; // something else that the server has printed
            }
            if stamp.is_date && !self.dated {
                self.pass(stamp.at);
            }
        }
        let read = match line.whole {
            true => grammar::read(line.bytes),
            false => Err(CUT_LINE),
        };
        match read {
            Ok(event) => self.event(line.number, event, items),
            Err(why) => items.push(LogItem::malformed(line, why)),
        }
    }

    fn finish(&mut self, items: &mut Vec<LogItem>) {
        self.abandon(Skip::Unfinished, items);
    }

    fn elapsed(&self) -> u64 {
        self.calendar.position()
    }
}
