//! Game logs: bytes in, match records out.
//!
//! One format per file behind one small trait, and one registry. The caller reads a file in chunks
//! of any size and feeds them to a [`Reader`]; what the log tells comes out as [`Item`]s. Memory is
//! bounded by one line and one game, however large the log is.
//!
//! Never in here: files, clocks, databases, random numbers. Never out of here: a game that was not
//! over, or a record whose [`MatchRecord::check`] fails. Entry points: [`detect`] and [`Reader`].

mod clock;
mod course;
mod halves;
pub(crate) mod idtech3;
mod jsonl;
mod lines;
mod source;
mod text;
mod ut2004;
mod ut99;
mod wide;
mod xonotic;

use std::{borrow::Cow, fmt};

use crate::domain::{Fingerprint, MatchRecord, RecordError};

use wide::Encoding;

pub use halves::{PAUSE, join_halves};
pub use jsonl::write as write_record;
pub use lines::{Framed, Line, Lines, MAX_LINE};

/// How many bytes of a log's beginning [`detect`] wants to see; fewer where the log is shorter.
pub const HEAD: usize = 64 * 1024;

/// What a log does not say about itself.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// The name to give the server in the records.
    pub server: String,
}

/// One thing a log told. Lines are counted from 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// A finished game.
    Game(Box<MatchRecord>),
    /// A finished game that was on record before, under this fingerprint, and has its dates.
    Known(Box<MatchRecord>, Fingerprint),
    /// A game that makes no record.
    Skipped {
        /// The line on which its telling begins.
        line: u64,
        /// Why not.
        reason: Skip,
    },
    /// A line that does not follow the format. Reading went on with the next one.
    Malformed {
        /// The line.
        line: u64,
        /// What is wrong with it.
        why: Cow<'static, str>,
    },
}

/// Why a game makes no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// The log goes on or ends without its end.
    Unfinished,
    /// It was broken off: the map was changed, the server was stopped.
    Aborted,
    /// Nothing but warm-up was played.
    WarmUp,
    /// It began before the log did, so that who played on which team is not known.
    StartedBeforeLog,
    /// A team game whose score is told nowhere.
    NoResult,
    /// More comings, goings or events than any real game has.
    TooLarge,
    /// What it tells cannot be.
    Impossible(RecordError),
}

impl Skip {
    /// A stable word for tables and scripts.
    pub fn code(self) -> &'static str {
        match self {
            Skip::Unfinished => "unfinished",
            Skip::Aborted => "aborted",
            Skip::WarmUp => "warm-up",
            Skip::StartedBeforeLog => "started-before-log",
            Skip::NoResult => "no-result",
            Skip::TooLarge => "too-large",
            Skip::Impossible(_) => "impossible",
        }
    }
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Skip::Unfinished => "the log has no end of this game",
            Skip::Aborted => "the game was broken off",
            Skip::WarmUp => "nothing but warm-up was played",
            Skip::StartedBeforeLog => "the game began before the log did",
            Skip::NoResult => "the log has no score of this game",
            Skip::TooLarge => "more comings, goings or events than a game can have",
            Skip::Impossible(why) => return write!(f, "the log tells something impossible: {why}"),
        })
    }
}

/// Reads one log of one format, line by line.
pub trait LogParser: Send {
    /// Takes the next line, and appends what became certain by it.
    fn line(&mut self, line: Line<'_>, items: &mut Vec<Item>);

    /// The log is over: appends what became certain by that.
    fn finish(&mut self, items: &mut Vec<Item>);

    /// How much time the log's own clock has told so far, in milliseconds. Records of a log without
    /// dates count their start and end from its beginning; a caller that knows when the log ended
    /// shifts them by the difference.
    fn elapsed(&self) -> u64;
}

/// One log format.
#[derive(Debug)]
pub struct Format {
    /// The name users call it by.
    pub name: &'static str,
    /// Whether a log that begins with these bytes (up to [`HEAD`]) has this format.
    pub detect: fn(head: &[u8]) -> bool,
    /// A parser for one log.
    pub parser: fn(&Context) -> Box<dyn LogParser>,
    /// The longest line it may have, in bytes; a longer one is dropped and named.
    pub max_line: usize,
    /// Whether two of its games may be the halves of one match: see [`join_halves`].
    pub in_halves: bool,
}

/// Every format there is.
pub static FORMATS: &[Format] = &[
    idtech3::FORMAT,
    ut2004::FORMAT,
    ut99::FORMAT,
    xonotic::FORMAT,
    source::FORMAT,
    jsonl::FORMAT,
];

/// The format of this name.
pub fn by_name(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// The format of a log that begins with these bytes, if it is any.
pub fn detect(head: &[u8]) -> Option<&'static Format> {
    let head = wide::decoded(head);
    FORMATS.iter().find(|format| (format.detect)(&head))
}

/// One log being read: bytes in chunks of any size in, items out.
pub struct Reader {
    encoding: Encoding,
    lines: Lines,
    parser: Box<dyn LogParser>,
}

impl Reader {
    /// Begins a log.
    pub fn new(format: &Format, context: &Context) -> Self {
        Self {
            encoding: Encoding::default(),
            lines: Lines::new(format.max_line),
            parser: (format.parser)(context),
        }
    }

    /// Takes the next bytes of the log.
    pub fn feed(&mut self, chunk: &[u8], items: &mut Vec<Item>) {
        let (lines, parser) = (&mut self.lines, &mut self.parser);
        self.encoding.feed(chunk, |text| {
            lines.feed(text, |framed| take(&mut **parser, framed, items));
        });
    }

    /// Drops a line that was begun: another log follows, as after one that was rotated away, and what
    /// is being told goes on in it.
    pub fn interrupt(&mut self) {
        self.encoding = Encoding::default();
        self.lines.interrupt();
    }

    /// How much time the log's clock told so far, in milliseconds (see [`LogParser::elapsed`]).
    pub fn elapsed(&self) -> u64 {
        self.parser.elapsed()
    }

    /// Ends the log, and tells how much time its clock told, in milliseconds.
    pub fn finish(mut self, items: &mut Vec<Item>) -> u64 {
        let (lines, parser) = (&mut self.lines, &mut self.parser);
        self.encoding.finish(|text| {
            lines.feed(text, |framed| take(&mut **parser, framed, items));
        });
        lines.finish(|framed| take(&mut **parser, framed, items));
        self.parser.finish(items);
        self.parser.elapsed()
    }
}

fn take(parser: &mut dyn LogParser, framed: Framed<'_>, items: &mut Vec<Item>) {
    match framed {
        Framed::Line(line) => parser.line(line, items),
        Framed::TooLong { number } => items.push(Item::Malformed {
            line: number,
            why: "the line is too long".into(),
        }),
    }
}

/// Whether most lines of a log's head are such as `is_known` knows: at least one, and no fewer than
/// those it does not. `None` marks a line that could belong to any format, and does not count.
fn mostly(head: &[u8], is_known: impl Fn(&[u8]) -> Option<bool>) -> bool {
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

/// Everything a log of a format tells, for tests.
#[cfg(test)]
fn read(format: &Format, log: &str) -> Vec<Item> {
    let context = Context {
        server: "here".to_owned(),
    };
    let mut items = Vec::new();
    let mut reader = Reader::new(format, &context);
    reader.feed(log.as_bytes(), &mut items);
    reader.finish(&mut items);
    items
}

/// The only item of a log, which has to be a game, for tests.
#[cfg(test)]
fn one_game(format: &Format, log: &str) -> MatchRecord {
    let mut items = read(format, log);
    match (items.pop(), items.is_empty()) {
        (Some(Item::Game(game)), true) => *game,
        other => panic!("{other:?} {items:?}"),
    }
}
