//! Unreal Tournament (1999): ngLog, as the game and UTStats write it.
//!
//! A line has fields between tabs: seconds, a kind, and its arguments. A log opens with the settings of
//! its game; play begins with `game_start` (or, in a tournament, again with `realstart`) and ends with
//! `game_end`. UTStats adds each player's score after that. `game` follows one game; this file reads
//! lines and separates the games of a log.

mod game;

use evenkeel_model::Timestamp;

use crate::{
    format::{DateZone, Format, LogItem, LogParser, mostly},
    lines::{LogLine, MAX_LINE},
    tabs::{TabFields, TabParser},
    text::{self, CUT_LINE, LineResult, NO_TIME},
};

use game::Ut99Game;

/// The format's entry in the registry.
pub(super) const FORMAT: Format = Format {
    name: "ut99",
    detect,
    is_beneath: None,
    parser: |context| Box::new(Parser::new(context)),
    max_line: MAX_LINE,
    unknown,
    finds_repeats: false,
    names_games: false,
    dates: DateZone::Stated,
    in_halves: false,
};

/// The kinds of lines by which the format is recognised.
const KINDS: [&[u8]; 13] = [
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

/// Further kinds of lines, which no record needs.
const NEEDLESS: [&[u8]; 17] = [
    b"item_activate",
    b"item_deactivate",
    b"item_destroyed",
    b"item_crush",
    b"spree",
    b"headshot",
    b"typing",
    b"first_blood",
    b"flag_taken",
    b"flag_dropped",
    b"flag_returned",
    b"flag_returned_timeout",
    b"flag_pickedup",
    b"flag_kill",
    b"flag_assist",
    b"assault_obj",
    b"translocate",
];

/// The kind of a line that the parser does not know.
fn unknown(line: &[u8]) -> Option<&[u8]> {
    let (_, rest) = text::seconds(line)?;
    let kind = rest.split(|&b| b == b'\t').next()?;
    let known = KINDS.contains(&kind) || NEEDLESS.contains(&kind) || kind.starts_with(b"weap_");
    (!known && !kind.is_empty()).then_some(kind)
}

fn detect(head: &[u8]) -> bool {
    mostly(head, |line| {
        let Some((_, rest)) = text::seconds(line) else {
            return (!line.is_empty()).then_some(false);
        };
        let kind = rest.split(|&b| b == b'\t').next()?;
        let known = KINDS.contains(&kind) || kind.starts_with(b"weap_");
        known.then_some(true)
    })
}

/// How the first line of each game begins.
const FIRST: &[u8] = b"info\tLog_Standard\t";

type Parser = TabParser<Ut99Game>;

impl Parser {
    /// Ends the game being read, whether or not its end has been read.
    fn close(&mut self, items: &mut Vec<LogItem>) {
        self.stray.close(true, items);
        if let Some(game) = self.game.take() {
            items.push(LogItem::of_game(game.line, game.finish(&self.server)));
        }
    }

    fn event(&mut self, line: u64, rest: &[u8], items: &mut Vec<LogItem>) -> LineResult<()> {
        let mut fields = TabFields::of(rest);
        let kind = fields.next()?;
        if rest.starts_with(FIRST) {
            self.close(items);
            self.stray.close(false, items);
            let utstats = rest.ends_with(b"\tUTStats");
            self.game = Some(Box::new(Ut99Game::new(line, self.clock, utstats)));
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

/// Reads `2019.07.08.14.16.47.663.-4.0`: local time to the millisecond, and the number of hours by
/// which it is ahead of UTC.
fn date(text: &[u8]) -> Option<Timestamp> {
    let mut parts = text.splitn(8, |&b| b == b'.');
    let mut next = || parts.next().and_then(text::whole_number);
    let year = i16::try_from(next()?).ok()?;
    let mut small = || next().and_then(|value| i8::try_from(value).ok());
    let (month, day, hour, minute, second) = (small()?, small()?, small()?, small()?, small()?);
    let millis = next()?;
    let zone = parts.next().and_then(text::real).unwrap_or(0.0);
    let zone = if zone.abs() <= 14.0 { zone } else { 0.0 };
    let local = Timestamp::from_civil(year, month, day, hour, minute, second)?;
    Some(local.plus_millis(millis - (zone * 3_600_000.0) as i64))
}

#[cfg(test)]
mod tests;
