//! Unreal Tournament 2004: the game's own statistics log, and that of OLStats, which contains more.
//!
//! A line has fields between tabs: seconds, a verb, and its arguments. `NG` announces a game, `SG`
//! begins play (everything before is warm-up), and `EG` ends it; the result is known by then. The stock
//! log omits every line whose subject is a bot, OLStats does not. `game` follows one game; `parser`
//! reads lines and separates the games of a log.

mod class;
mod game;
mod parser;
mod player;
#[cfg(test)]
mod tests;

use super::{
    format::{DateZone, Format, mostly},
    lines::MAX_LINE,
    text,
};

/// The format's entry in the registry.
pub(super) const FORMAT: Format = Format {
    name: "ut2004",
    detect,
    is_beneath: None,
    parser: |context| Box::new(parser::Parser::new(context)),
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
