//! Teeworlds 0.7: the output of the server, or its `logfile`.
//!
//! `grammar` reads one line. `play` follows the games, with `players` and `scoring`, and makes the record of a match; the
//! sidecar uses it, too.

pub(crate) mod grammar;
pub(crate) mod play;
pub(crate) mod players;
mod scoring;
#[cfg(test)]
mod tests;

use super::{
    clock::Calendar,
    event::GameEvent,
    format::{Context, DateZone, Format, LogParser, mostly},
    lines::{LogLine, MAX_LINE},
    text::{CUT_LINE, NO_TIME},
};
use crate::format::{LogItem, Skip, StrayPlay, kind_of};
use grammar::TeeworldsEvent;
pub use play::GAME;
use play::{GameStage, TeeworldsGame, TeeworldsPlay};
use scoring::ScoringRules;

/// The format's entry in the registry.
pub(super) const FORMAT: Format = Format {
    name: "teeworlds",
    detect,
    is_beneath: Some(grammar::is_certain),
    parser: |context| Box::new(TeeworldsParser::new(context)),
    max_line: MAX_LINE,
    unknown,
    finds_repeats: false,
    names_games: true,
    dates: DateZone::OfStamps,
    in_halves: false,
};

fn detect(head: &[u8]) -> bool {
    mostly(head, |line| match line.is_empty() {
        true => None,
        false => Some(grammar::split(line).is_some()),
    })
}

/// The kind of event of a line of the game that [`grammar`] does not know.
fn unknown(line: &[u8]) -> Option<&[u8]> {
    let line = grammar::split(line).filter(|line| line.source == b"game")?;
    match grammar::read(&line) {
        Ok(TeeworldsEvent::Other) => kind_of(line.text, &["Teams are", "Balancing teams"]),
        _ => None,
    }
}

struct TeeworldsParser {
    server: String,
    calendar: Calendar,
    play: TeeworldsPlay,
    game: Option<Box<TeeworldsGame>>,
    stray: StrayPlay,
}

impl TeeworldsParser {
    fn new(context: &Context) -> Self {
        Self {
            server: context.server.clone(),
            calendar: Calendar::default(),
            play: TeeworldsPlay::default(),
            game: None,
            stray: StrayPlay::default(),
        }
    }

    fn event(&mut self, line: LogLine<'_>, event: TeeworldsEvent<'_>, items: &mut Vec<LogItem>) {
        if self.play.stage == GameStage::Unknown
            && matches!(event, TeeworldsEvent::Kill(_) | TeeworldsEvent::Grab(_))
        {
            self.stray.note(line.number);
        }
        let now = self.calendar.position();
        let mut events = Vec::new();
        self.play.pass(Some(&event), now, &mut events);
        self.take(line.number, &mut events, items);
        if let Err(why) = self.play.event(event, now, &mut events) {
            items.push(LogItem::malformed(line, why));
        }
        self.take(line.number, &mut events, items);
    }

    fn take(&mut self, line: u64, events: &mut Vec<GameEvent>, items: &mut Vec<LogItem>) {
        for event in events.drain(..) {
            self.game_event(line, event, items);
        }
    }

    fn game_event(&mut self, line: u64, event: GameEvent, items: &mut Vec<LogItem>) {
        let now = self.calendar.position();
        match event {
            GameEvent::Game => self.stray.close(true, items),
            GameEvent::Start => {
                self.stray.close(true, items);
                let game = TeeworldsGame::new(line, self.calendar.date(), now, &self.play);
                self.game = Some(Box::new(game));
            }
            GameEvent::Over => {
                if let Some(game) = self.game.take() {
                    let line = game.line;
                    items.push(LogItem::of_game(
                        line,
                        game.finish(&self.play, &self.server),
                    ));
                }
            }
            GameEvent::WarmUp => self.abandon(Skip::Aborted, items),
            other => {
                if let Some(game) = &mut self.game {
                    game.event(other, now, &self.play);
                }
            }
        }
    }

    /// Skips the match being read for this reason, if anything has happened in it.
    fn abandon(&mut self, reason: Skip, items: &mut Vec<LogItem>) {
        if let Some(game) = self.game.take().filter(|_| self.play.has_begun()) {
            let reason = match self.play.rules() {
                ScoringRules::Unknown => Skip::NoResult,
                _ => reason,
            };
            items.push(LogItem::skipped(game.line, reason));
        }
    }
}

impl LogParser for TeeworldsParser {
    fn line(&mut self, line: LogLine<'_>, items: &mut Vec<LogItem>) {
        if line.bytes.is_empty() {
            return;
        }
        let Some(read) = grammar::split(line.bytes) else {
            if line.stamp.is_none() {
                items.push(LogItem::malformed(line, NO_TIME));
            }
            return;
        };
        let stamp = line.stamp.filter(|stamp| stamp.is_date);
        let Some(date) = read.date.or(stamp.map(|stamp| stamp.at)) else {
            items.push(LogItem::malformed(line, "the time has no date"));
            return;
        };
        let play = &self.play;
        self.calendar
            .read(date, || play.players.are_enough(play.teams));
        let event = match line.whole {
            true => grammar::read(&read),
            false => Err(CUT_LINE),
        };
        match event {
            Ok(event) => self.event(line, event, items),
            Err(why) => items.push(LogItem::malformed(line, why)),
        }
    }

    fn finish(&mut self, items: &mut Vec<LogItem>) {
        self.stray.close(false, items);
        self.abandon(Skip::Unfinished, items);
    }

    fn elapsed(&self) -> u64 {
        self.calendar.position()
    }
}
