//! Unreal Tournament 2004: the game's own statistics log, and that of OLStats, which contains more.
//!
//! A line has fields between tabs: seconds, a verb, and its arguments. `NG` announces a game, `SG`
//! begins play (everything before is warm-up), and `EG` ends it; the result is known by then. The stock
//! log omits every line whose subject is a bot, OLStats does not. `game` follows one game; this file
//! reads lines and separates the games of a log.

mod game;

use evenkeel_model::MatchRecorder;

use crate::{
    format::{DateZone, Format, LogItem, LogParser, Skip, mostly},
    lines::{LogLine, MAX_LINE},
    tabs::{TabFields, TabParser},
    text::{self, CUT_LINE, LineResult, NO_TIME},
};

use game::Ut2004Game;

/// The format's entry in the registry.
pub(super) const FORMAT: Format = Format {
    name: "ut2004",
    detect,
    is_beneath: None,
    parser: |context| Box::new(Parser::new(context)),
    max_line: MAX_LINE,
    unknown,
    finds_repeats: false,
    names_games: false,
    dates: DateZone::Local,
    in_halves: false,
};

/// The start of the line by which an OLStats log can be recognised; it comes before the first line
/// that has a time.
const OLSTATS: &[u8] = b"OLStats";

/// Events that the parser reads, and those that no record needs.
const KNOWN: [&[u8]; 15] = [
    b"NG", b"SI", b"SG", b"C", b"PS", b"PP", b"BI", b"D", b"G", b"S", b"T", b"K", b"TK", b"P",
    b"EG",
];

/// The kind of event of a line that the parser does not know.
fn unknown(line: &[u8]) -> Option<&[u8]> {
    let (_, rest) = text::seconds(line)?;
    let verb = rest.split(|&b| b == b'\t').next()?;
    (!KNOWN.contains(&verb)).then_some(verb)
}

fn detect(head: &[u8]) -> bool {
    mostly(head, |line| {
        if line.is_empty() || line.starts_with(OLSTATS) {
            return None;
        }
        let Some((_, rest)) = text::seconds(line) else {
            return Some(false);
        };
        let verb = rest.split(|&b| b == b'\t').next()?;
        // UT99's format has times and tabs as well, but its verbs are whole words.
        Some(KNOWN.contains(&verb))
    })
}

type Parser = TabParser<Ut2004Game>;

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
        let mut fields = TabFields::of(rest);
        match fields.next()? {
            b"NG" => {
                self.abandon(items);
                let game = Ut2004Game::read(line.number, fields, self.clock)?;
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
        mut fields: TabFields<'_>,
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

/// The recorder for a game of this class: in Assault the teams may change sides between rounds.
fn new_recorder(class: &str) -> MatchRecorder {
    MatchRecorder::with_sides_if(class.to_lowercase().contains("asgameinfo"))
}

/// Whether a class of game is a team game. For known classes, the name decides; for others, whether
/// the log mentions teams.
fn is_team_game(class: &str, has_teams: bool) -> bool {
    let class = class.to_lowercase();
    let named = |words: &[&str]| words.iter().any(|word| class.contains(word));
    if named(&["xdeathmatch", "xlastmanstanding", "xmutantgame", "invasion"]) {
        return false;
    }
    let known = [
        "xteamgame",
        "ctf",
        "bombingrun",
        "doubledom",
        "onsonslaught",
        "asgameinfo",
    ];
    has_teams || named(&known)
}

#[cfg(test)]
mod tests;
