//! Unreal Tournament 2004: the game's own statistics log, and that of OLStats, which says more.
//!
//! Lines are fields between tabs: seconds, a verb, and what it needs. `NG` announces a game, `SG`
//! begins play (everything before is warm-up), `EG` ends it; a result is known by then. The stock
//! log leaves out every line whose subject is a bot, OLStats does not. `game` follows one game;
//! this file reads lines and keeps the games of a log apart.

mod game;
#[cfg(test)]
mod tests;

use super::{Context, Format, LogItem, LogLine, LogParser, MAX_LINE, Skip, clock::LogClock, text};
use game::Game;

pub(super) const FORMAT: Format = Format {
    name: "ut2004",
    detect,
    parser: |context| Box::new(Parser::new(context)),
    max_line: MAX_LINE,
    in_halves: false,
};

/// The first words of an OLStats log, before its first line with a time.
const OLSTATS: &[u8] = b"OLStats";

fn detect(head: &[u8]) -> bool {
    super::format::mostly(head, |line| {
        if line.is_empty() || line.starts_with(OLSTATS) {
            return None;
        }
        let Some((_, rest)) = text::seconds(line) else {
            return Some(false);
        };
        let verb = rest.split(|&b| b == b'\t').next()?;
        let verbs: [&[u8]; 14] = [
            b"NG", b"SI", b"SG", b"C", b"PS", b"BI", b"D", b"G", b"S", b"T", b"K", b"TK", b"P",
            b"EG",
        ];
        // A relative of this format (UT99's) has a time and tabs as well, but whole words.
        Some(verbs.contains(&verb) || verb == b"PP")
    })
}

/// The fields of a line after its verb.
#[derive(Clone)]
struct Fields<'a>(std::slice::Split<'a, u8, fn(&u8) -> bool>);

type Read<T> = Result<T, &'static str>;

impl<'a> Fields<'a> {
    fn of(rest: &'a [u8]) -> Self {
        Self(rest.split(|&b| b == b'\t'))
    }

    fn next(&mut self) -> Read<&'a [u8]> {
        self.0.next().ok_or("a field is missing")
    }

    /// A player's number; -1 is nobody.
    fn player(&mut self) -> Read<Option<u32>> {
        match text::whole_number(self.next()?) {
            Some(-1) => Ok(None),
            Some(number) => u32::try_from(number)
                .map(Some)
                .map_err(|_| "no player's number"),
            None => Err("a player's number is missing"),
        }
    }

    fn points(&mut self) -> Read<f64> {
        let points = text::real(self.next()?).filter(|points| points.abs() < 1e6);
        points.ok_or("points are missing")
    }

    fn team(&mut self) -> Read<Option<u8>> {
        let team = text::whole_number(self.next()?).ok_or("a team's number is missing")?;
        // 255 is none.
        let team = u8::try_from(team).ok();
        Ok(team.filter(|&team| usize::from(team) < crate::domain::MAX_TEAMS))
    }
}

struct Parser {
    server: String,
    clock: LogClock,
    game: Option<Box<Game>>,
    /// Where play was first told of before any game was, if it was.
    foreign: Option<u64>,
    /// Whether a game's end was just told, so that what follows is its aftermath.
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

    /// What was being told has no end.
    fn abandon(&mut self, items: &mut Vec<LogItem>) {
        if let Some(line) = self.foreign.take() {
            let reason = Skip::StartedBeforeLog;
            items.push(LogItem::Skipped { line, reason });
        }
        if let Some(game) = self.game.take() {
            let (line, reason) = (game.line, game.unfinished());
            items.push(LogItem::Skipped { line, reason });
        }
        self.aftermath = false;
    }

    fn event(&mut self, line: LogLine<'_>, rest: &[u8], items: &mut Vec<LogItem>) -> Read<()> {
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
                None if self.aftermath => {}
                None if matches!(verb, b"K" | b"TK" | b"S" | b"T" | b"G") => {
                    self.foreign.get_or_insert(line.number);
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
    ) -> Read<()> {
        let reason = fields.next()?;
        if !line.whole && fields.next().is_err() && !is_end(reason) {
            return Err(CUT);
        }
        let Some(game) = self.game.take() else {
            if !self.aftermath {
                self.foreign.get_or_insert(line.number);
                self.abandon(items);
            }
            self.aftermath = true;
            return Ok(());
        };
        self.aftermath = true;
        let line = game.line;
        let told = if is_abort(reason) {
            Err(Skip::Aborted)
        } else {
            game.finish(&self.server, self.clock)
        };
        items.push(match told {
            Ok(record) => LogItem::Match(Box::new(record)),
            Err(reason) => LogItem::Skipped { line, reason },
        });
        Ok(())
    }
}

const CUT: &str = "the log ends within this line";

/// The reasons that mean a game was played to its end. Mods have more of them.
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

/// The reasons that mean it was not.
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
            None => Err("the line does not begin with a time"),
            // Of a line that is not whole only an end is believed, and that with care.
            Some((_, rest)) if !line.whole && !rest.starts_with(b"EG\t") => Err(CUT),
            Some((at, rest)) => {
                if self.clock.read(at) && !rest.starts_with(b"NG\t") {
                    self.abandon(items);
                }
                self.event(line, rest, items)
            }
        };
        if let Err(why) = read {
            let line = line.number;
            let why = why.into();
            items.push(LogItem::Malformed { line, why });
        }
    }

    fn finish(&mut self, items: &mut Vec<LogItem>) {
        self.abandon(items);
    }

    fn elapsed(&self) -> u64 {
        self.clock.position()
    }
}
