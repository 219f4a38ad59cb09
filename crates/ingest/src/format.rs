//! What every log format provides.

use super::{
    HEAD,
    item::LogItem,
    lines::{Framed, Lines, LogLine, MAX_LINE},
    stamp::IsBeneath,
};
use evenkeel_model::Timestamp;

/// Properties of a log that the log itself does not contain.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The name that the records give to the server.
    pub server: String,
    /// Whether to show lines whose events the parser does not know ([`LogItem::Unknown`]).
    pub verbose: bool,
    /// When the log was last written, if that is known: the year of time stamps without one.
    pub written: Option<Timestamp>,
}

/// Reads one log of one format, line by line.
pub trait LogParser: Send {
    /// Takes the next line, and appends the items that it completes.
    fn line(&mut self, line: LogLine<'_>, items: &mut Vec<LogItem>);

    /// Ends the log, and appends the items that were not complete yet.
    fn finish(&mut self, items: &mut Vec<LogItem>);

    /// How much time has passed on the log's own clock, in milliseconds. Records of a log without
    /// dates count their start and end from its beginning; a caller that knows when the log ended can
    /// compute the real times from the difference.
    fn elapsed(&self) -> u64;
}

/// Whether the dates of a format state their time zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DateZone {
    /// They do, or count as UTC by the format's own rule.
    Stated,
    /// They are in the local time of the server.
    Local,
    /// They are in the local time of the server, or those of the stamps that another program wrote before the lines,
    /// which may state one.
    OfStamps,
}

/// One log format.
#[derive(Debug)]
pub struct Format {
    /// The name by which users choose the format (`--format`).
    pub name: &'static str,
    /// Whether a log that begins with these bytes (up to [`HEAD`]) has this format.
    pub detect: fn(head: &[u8]) -> bool,
    /// Whether a line is of this format for certain, so that it can be found beneath a time stamp that
    /// another program wrote before it; `None` if lines of this format are not looked for there.
    pub is_beneath: Option<IsBeneath>,
    /// Creates a parser for one log.
    pub parser: fn(&Context) -> Box<dyn LogParser>,
    /// The longest line a log may have, in bytes; a longer line is dropped and reported as malformed.
    pub max_line: usize,
    /// The kind of event of a line that the parser does not know; `None` if it does, or if no record
    /// needs it.
    pub unknown: fn(line: &[u8]) -> Option<&[u8]>,
    /// Whether the parser finds lines that are there twice itself, so that none is left out before.
    pub finds_repeats: bool,
    /// Whether game types begin with the name of the game, which `--game` replaces.
    pub names_games: bool,
    /// Whether its dates state their time zone.
    pub dates: DateZone,
    /// Whether two games of a log may be the halves of one match: see
    /// [`join_halves`](super::join_halves).
    pub in_halves: bool,
}

/// Whether the first lines of a log look like a format: at least one line is recognised, and no fewer
/// than are not. `is_known` returns `None` for a line that any format could have.
pub(super) fn mostly(head: &[u8], is_known: impl Fn(&[u8]) -> Option<bool>) -> bool {
    let (mut known, mut unknown) = (0u32, 0u32);
    let mut count = |framed: Framed<'_>| match framed {
        Framed::Line(line) => match is_known(line.bytes) {
            Some(true) => known += 1,
            Some(false) if line.whole => unknown += 1,
            _ => {}
        },
        Framed::TooLong { .. } => unknown += 1,
    };
    let mut lines = Lines::new(MAX_LINE);
    lines.feed(&head[..head.len().min(HEAD)], &mut count);
    lines.finish(&mut count);
    known > 0 && known >= unknown
}
