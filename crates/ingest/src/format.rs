//! What every log format provides, and what its parser finds in a log: matches, games that make none and why, and
//! lines that it does not know. A [`Reader`] passes the lines of a log to the parser of its format.
//!
//! A parser ignores events that no record needs. For each format it is known which of those are needless; any other
//! may be what a log has and this program does not understand. `--verbose` shows these.

use std::{borrow::Cow, collections::BTreeMap, fmt};

use evenkeel_model::{MatchRecord, Timestamp, fingerprint::Fingerprint, record::RecordError};

use crate::{
    HEAD,
    lines::{Doubled, Encoding, Framed, Lines, LogLine, MAX_LINE},
    stamp::{IsBeneath, Stamps},
};

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
    /// [`join_halves`](super::same_match::join_halves).
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

/// One thing found in a log. Lines are counted from 1.
#[derive(Clone, Debug, PartialEq)]
pub enum LogItem {
    /// A finished match as the log states it, with what was waiting. If its `clock` is set, the log has no dates: start
    /// and end count from the beginning of the log, and the caller moves them to the real time.
    Match(Box<MatchRecord>),
    /// A finished match as it is stored, with the fingerprint under which it is: from an export, or from a published
    /// history. Its dates are final even where they were estimated, and so are its stays.
    Exported(Box<MatchRecord>, Fingerprint),
    /// A game that makes no match.
    Skipped {
        /// The line on which the game begins.
        line: u64,
        /// The last line of the game; a parser leaves it 0, and the reader sets it.
        last: u64,
        /// Why it makes no match.
        reason: Skip,
    },
    /// A line with the same bytes as an earlier one. If it is dropped, its match was found on the earlier
    /// line; otherwise the match of this line follows as an item of its own.
    Repeated {
        /// The number of the line.
        line: u64,
        /// The number of the earlier line.
        first: u64,
        /// Whether the line is dropped. It is if it states a time of day, because two such matches
        /// cannot have been played.
        dropped: bool,
    },
    /// A line that does not follow the format. Reading continues with the next line.
    Malformed {
        /// The number of the line.
        line: u64,
        /// What is wrong with it.
        why: Cow<'static, str>,
        /// The beginning of the line, readable on a terminal.
        text: String,
    },
    /// A line that follows the format, but whose event the parser does not know. Only a reading that
    /// asks for them has these, and only the first lines of each kind.
    Unknown {
        /// The number of the line.
        line: u64,
        /// The kind of event: its words before the first value.
        kind: String,
        /// The beginning of the line, readable on a terminal.
        text: String,
    },
    /// How many lines there were of a kind that the parser does not know.
    UnknownCount {
        /// The kind of event.
        kind: String,
        /// The number of its lines, with those that were shown.
        count: u64,
    },
    /// Several players of a game had the same id at the same time, as copies of one installation do. In
    /// the match of this game, they have their names for ids.
    SharedId {
        /// The line on which the game begins.
        line: u64,
        /// The id that these players had.
        id: String,
        /// How many players had it.
        players: usize,
    },
}

/// The most characters of a malformed line that are shown.
const SHOWN: usize = 200;

/// The beginning of a line; what is not readable on a terminal is replaced.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * SHOWN)]);
    let readable = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    text.chars().take(SHOWN).map(readable).collect()
}

impl LogItem {
    /// The item for a game that begins on this line: its match, or the reason why there is none.
    pub(crate) fn of_game(line: u64, outcome: Result<MatchRecord, Skip>) -> Self {
        match outcome {
            Ok(record) => Self::Match(Box::new(record)),
            Err(reason) => Self::skipped(line, reason),
        }
    }

    /// A game that begins on this line and makes no match.
    pub(crate) fn skipped(line: u64, reason: Skip) -> Self {
        let last = 0;
        Self::Skipped { line, last, reason }
    }

    /// A line that does not follow the format.
    pub(crate) fn malformed(line: LogLine<'_>, why: &'static str) -> Self {
        Self::Malformed {
            line: line.number,
            why: why.into(),
            text: shown(line.bytes),
        }
    }
}

/// Why a game in a log makes no match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Skip {
    /// The log ends, or another game begins, before this game's end.
    Unfinished,
    /// The game was broken off: the map was changed or the server was stopped.
    Aborted,
    /// The log contains only the warm-up of this game, and no play.
    WarmUp,
    /// The game began before the log did, so that the players' teams are unknown.
    StartedBeforeLog,
    /// A team game whose score the log does not state.
    NoResult,
    /// Nobody played.
    Empty,
    /// The log is of this game, whose logs resemble those of a supported one.
    Unsupported(String),
    /// The game has more players, team changes or score changes than any real game.
    TooLarge,
    /// The log contradicts itself: the record would fail
    /// [`MatchRecord::check`](evenkeel_model::MatchRecord::check).
    Impossible(RecordError),
    /// The log contradicts itself: this in it cannot be of one game.
    Contradiction(&'static str),
}

impl Skip {
    /// A stable word for tables and scripts.
    pub fn code(&self) -> &'static str {
        match self {
            Skip::Unfinished => "unfinished",
            Skip::Aborted => "aborted",
            Skip::WarmUp => "warm-up",
            Skip::StartedBeforeLog => "started-before-log",
            Skip::NoResult => "no-result",
            Skip::Empty => "empty",
            Skip::Unsupported(_) => "unsupported",
            Skip::TooLarge => "too-large",
            Skip::Impossible(_) | Skip::Contradiction(_) => "impossible",
        }
    }
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Skip::Unfinished => "the log does not contain the end of this game",
            Skip::Aborted => "the game was broken off by a map change or a server stop",
            Skip::WarmUp => "the game was never played beyond warm-up",
            Skip::StartedBeforeLog => "the game began before the log did",
            Skip::NoResult => "the log does not contain the final score of this game",
            Skip::Empty => "nobody played in this game",
            Skip::Unsupported(game) => return write!(f, "{game} is not supported"),
            Skip::TooLarge => "the game has more players or events than a real game can have",
            Skip::Impossible(why) => return write!(f, "the log contradicts itself: {why}"),
            Skip::Contradiction(why) => return write!(f, "the log contradicts itself: {why}"),
        })
    }
}

/// The most lines of one kind that are shown.
const SHOWN_PER_KIND: u64 = 3;
/// The most kinds that are counted apart; further ones count as one.
const MAX_KINDS: usize = 100;
/// What the further kinds are called.
const OTHERS: &str = "others";

/// Counts the lines of one log that were not understood, by kind.
pub(crate) struct UnknownLines {
    /// [`Format::unknown`](crate::Format::unknown).
    kind_of: fn(&[u8]) -> Option<&[u8]>,
    counts: BTreeMap<String, u64>,
}

impl UnknownLines {
    /// Counts lines whose kinds this function returns.
    pub(crate) fn new(kind_of: fn(&[u8]) -> Option<&[u8]>) -> Self {
        Self {
            kind_of,
            counts: BTreeMap::new(),
        }
    }

    /// Counts a line if it was not understood, and appends it to the items if it is one of the first
    /// of its kind.
    pub(crate) fn note(&mut self, line: LogLine<'_>, items: &mut Vec<LogItem>) {
        let Some(kind) = (self.kind_of)(line.bytes).map(shown) else {
            return;
        };
        let kind = match self.counts.len() < MAX_KINDS || self.counts.contains_key(&kind) {
            true => kind,
            false => OTHERS.to_owned(),
        };
        let count = self.counts.entry(kind.clone()).or_default();
        *count += 1;
        if *count <= SHOWN_PER_KIND {
            items.push(LogItem::Unknown {
                line: line.number,
                kind,
                text: shown(line.bytes),
            });
        }
    }

    /// Appends the kinds of which more lines were found than appended.
    pub(crate) fn finish(&mut self, items: &mut Vec<LogItem>) {
        for (kind, count) in std::mem::take(&mut self.counts) {
            if count > SHOWN_PER_KIND {
                items.push(LogItem::UnknownCount { kind, count });
            }
        }
    }
}

/// The kind of an event: its words up to the first value. `None` if it begins with one of `known`.
pub(crate) fn kind_of<'a>(event: &'a [u8], known: &[&str]) -> Option<&'a [u8]> {
    if event.is_empty()
        || known
            .iter()
            .any(|known| event.starts_with(known.as_bytes()))
    {
        return None;
    }
    let is_value = |b: &u8| b.is_ascii_digit() || b"\"[(<:$\t".contains(b);
    let end = event.iter().skip(1).position(is_value);
    let kind = end.map_or(event, |end| &event[..=end]);
    Some(kind.trim_ascii())
}

/// Notices play outside games. Play just after a game's end is ignored. Any other stray play
/// belongs to a game that began before the log did, which is reported as skipped.
#[derive(Debug, Default)]
pub(crate) struct StrayPlay {
    /// The line of the first stray play.
    line: Option<u64>,
    aftermath: bool,
}

impl StrayPlay {
    /// Notes play outside a game.
    pub(crate) fn note(&mut self, line: u64) {
        if !self.aftermath {
            self.line.get_or_insert(line);
        }
    }

    /// Appends the game to which the stray play belongs, if there was any. `aftermath` says whether
    /// the play that follows comes just after a game's end.
    pub(crate) fn close(&mut self, aftermath: bool, items: &mut Vec<LogItem>) {
        if let Some(line) = self.line.take() {
            let reason = Skip::StartedBeforeLog;
            items.push(LogItem::skipped(line, reason));
        }
        self.aftermath = aftermath;
    }
}

/// Reads one log. Memory is bounded by one line and one game, however long the log is.
pub struct Reader {
    encoding: Encoding,
    lines: Lines,
    reader: LineReader,
    dates: DateZone,
}

/// Passes lines to the parser.
struct LineReader {
    parser: Box<dyn LogParser>,
    stamps: Stamps,
    /// `None` if the parser knows repeated lines itself.
    doubled: Option<Doubled>,
    /// The number of the last line.
    last: u64,
    /// The lines that the parser does not know; `None` if they are not wanted.
    unknown: Option<UnknownLines>,
}

impl Reader {
    /// Begins a log of this format.
    pub fn new(format: &Format, context: &Context) -> Self {
        Self {
            encoding: Encoding::default(),
            lines: Lines::new(format.max_line),
            dates: format.dates,
            reader: LineReader {
                parser: (format.parser)(context),
                stamps: Stamps::new(format.is_beneath, context.written),
                doubled: (!format.finds_repeats).then(Doubled::default),
                last: 0,
                unknown: (context.verbose).then(|| UnknownLines::new(format.unknown)),
            },
        }
    }

    /// Takes the next bytes of the log, and appends the items that they complete.
    pub fn feed(&mut self, chunk: &[u8], items: &mut Vec<LogItem>) {
        let (lines, reader) = (&mut self.lines, &mut self.reader);
        self.encoding.feed(chunk, |text| {
            lines.feed(text, |framed| reader.take(framed, items));
        });
    }

    /// Drops an incomplete last line. The game being read continues in the next file, as after a log
    /// was rotated.
    pub fn interrupt(&mut self) {
        self.encoding = Encoding::default();
        self.lines.interrupt();
        self.reader.last = 0;
        self.reader.stamps.reset();
    }

    /// How much time has passed on the log's own clock, in milliseconds (see [`LogParser::elapsed`]).
    pub fn elapsed(&self) -> u64 {
        self.reader.parser.elapsed()
    }

    /// Whether the dates of the log are in the local time of its server.
    pub fn is_local(&self) -> bool {
        match self.dates {
            DateZone::Stated => false,
            DateZone::Local => true,
            DateZone::OfStamps => !self.reader.stamps.have_zone(),
        }
    }

    /// Ends the log, appends the items that were not complete yet, and returns how much time has
    /// passed on the log's own clock, in milliseconds.
    pub fn finish(mut self, items: &mut Vec<LogItem>) -> u64 {
        let (lines, reader) = (&mut self.lines, &mut self.reader);
        self.encoding.finish(|text| {
            lines.feed(text, |framed| reader.take(framed, items));
        });
        lines.finish(|framed| reader.take(framed, items));
        self.reader.finish(items);
        self.reader.parser.elapsed()
    }
}

impl LineReader {
    /// Passes a line to the parser.
    fn take(&mut self, framed: Framed<'_>, items: &mut Vec<LogItem>) {
        let before = self.last;
        match framed {
            Framed::Line(line) => {
                self.last = line.number;
                let line = self.stamps.strip(line);
                let doubled = self.doubled.as_mut();
                if doubled.is_some_and(|doubled| doubled.is_copy(line.bytes)) {
                    return;
                }
                let first = items.len();
                self.parser.line(line, items);
                end_skipped(&mut items[first..], before);
                if let Some(unknown) = &mut self.unknown {
                    unknown.note(line, items);
                }
            }
            Framed::TooLong { number } => {
                self.last = number;
                items.push(LogItem::Malformed {
                    line: number,
                    why: "the line is too long".into(),
                    text: String::new(),
                });
            }
        }
    }

    /// Ends the log, and appends the last items.
    fn finish(&mut self, items: &mut Vec<LogItem>) {
        let first = items.len();
        self.parser.finish(items);
        end_skipped(&mut items[first..], self.last);
        if let Some(unknown) = &mut self.unknown {
            unknown.finish(items);
        }
    }
}

/// Sets the last line of skipped games, which end before the line that shows it.
fn end_skipped(items: &mut [LogItem], before: u64) {
    for item in items {
        if let LogItem::Skipped { line, last, .. } = item {
            *last = before.max(*line);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_the_words_before_the_first_value() {
        let kind = |event: &'static str| kind_of(event.as_bytes(), &["say", "threw "]);
        assert_eq!(kind("blinded for 0.13 by \"x\""), Some(&b"blinded for"[..]));
        assert_eq!(kind("[META] (debug:1) x"), Some(&b"[META]"[..]));
        assert_eq!(
            (kind("say \"x\""), kind("threw decoy [1 2]"), kind("")),
            (None, None, None)
        );
    }

    #[test]
    fn a_hostile_log_has_a_bounded_number_of_items() {
        let mut lines = UnknownLines::new(|line| Some(line));
        let mut items = Vec::new();
        for number in 0..10_000u32 {
            let kind: String = number
                .to_string()
                .bytes()
                .map(|b| char::from(b + 50))
                .collect();
            let line = LogLine {
                number: 1,
                bytes: kind.as_bytes(),
                whole: true,
                stamp: None,
            };
            lines.note(line, &mut items);
        }
        lines.finish(&mut items);
        assert!(
            items.len() <= (MAX_KINDS + 1) * (SHOWN_PER_KIND as usize + 1),
            "{}",
            items.len()
        );
        let last = LogItem::UnknownCount {
            kind: OTHERS.to_owned(),
            count: 10_000 - MAX_KINDS as u64,
        };
        assert!(items.contains(&last));
    }
}
