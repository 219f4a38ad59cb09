//! The items that a parser finds in a log.

use std::borrow::Cow;

use super::{lines::LogLine, skip::Skip};
use evenkeel_model::{Fingerprint, MatchRecord};

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
pub(super) fn shown(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * SHOWN)]);
    let readable = |c: char| if c.is_control() { '\u{fffd}' } else { c };
    text.chars().take(SHOWN).map(readable).collect()
}

impl LogItem {
    /// The item for a game that begins on this line: its match, or the reason why there is none.
    pub(super) fn of_game(line: u64, outcome: Result<MatchRecord, Skip>) -> Self {
        match outcome {
            Ok(record) => Self::Match(Box::new(record)),
            Err(reason) => Self::skipped(line, reason),
        }
    }

    /// A game that begins on this line and makes no match.
    pub(super) fn skipped(line: u64, reason: Skip) -> Self {
        let last = 0;
        Self::Skipped { line, last, reason }
    }

    /// A line that does not follow the format.
    pub(super) fn malformed(line: LogLine<'_>, why: &'static str) -> Self {
        Self::Malformed {
            line: line.number,
            why: why.into(),
            text: shown(line.bytes),
        }
    }
}
