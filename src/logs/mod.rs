//! Logs: from files, whole or still growing, to matches on record.
//!
//! One reading serves all who read logs: a [`Reading`] turns bytes into what a log tells, with records
//! that have their dates. [`Ingest`] takes whole files, `follow` those that still grow. What is on
//! record stays as it is, however often a log is read: that is what fingerprints are for.

mod again;
mod archive;
mod error;
mod file;
mod follow;
mod ingest;
mod tail;

use std::{
    borrow::Cow,
    time::{SystemTime, UNIX_EPOCH},
};

use crate::{
    domain::{Fingerprint, MatchRecord, Timestamp},
    ingest::{self as formats, Context, Format, LogItem, Reader, Skip},
};

pub use again::{Reread, reread};
pub use archive::{Archive, Archived};
pub use error::LogError;
pub use file::{Bytes, LogFile};
pub use follow::{Follow, Follower};
pub use ingest::{Heard, Ingest, Tally, read_all};
pub use tail::{Tail, Tailed};

/// The names of all formats.
pub fn format_names() -> Vec<&'static str> {
    formats::FORMATS.iter().map(|format| format.name).collect()
}

/// The format of this name, if it is any.
pub fn format_of(name: &str) -> Option<&'static Format> {
    formats::by_name(name)
}

/// What a log told, with dates.
#[derive(Debug)]
pub enum Told {
    /// A finished game.
    Game(Box<MatchRecord>),
    /// One that was on record before, under this fingerprint.
    Known(Box<MatchRecord>, Fingerprint),
    /// A game that makes no record.
    Skipped {
        /// The line on which its telling begins.
        line: u64,
        /// Why not.
        reason: Skip,
    },
    /// A line with the same bytes as an earlier one of the file.
    Repeated {
        /// The line.
        line: u64,
        /// The earlier line.
        first: u64,
        /// Whether the line is dropped; if not, its match follows.
        dropped: bool,
    },
    /// A line that does not follow the format.
    Malformed {
        /// The line.
        line: u64,
        /// What is wrong with it.
        why: Cow<'static, str>,
    },
}

/// One log being read. Records without dates wait until it is known when the log began.
pub struct Reading {
    format: &'static Format,
    reader: Reader,
    begin: Option<Timestamp>,
    undated: Vec<MatchRecord>,
    items: Vec<LogItem>,
}

impl Reading {
    /// Of a log of this format that a server of this name wrote, and that began then, if that was
    /// said.
    pub fn new(format: &'static Format, server: &str, begin: Option<Timestamp>) -> Self {
        let context = Context {
            server: server.to_owned(),
        };
        Self {
            format,
            reader: Reader::new(format, &context),
            begin,
            undated: Vec::new(),
            items: Vec::new(),
        }
    }

    /// Of what format it is.
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// Takes the next bytes.
    pub fn feed(&mut self, chunk: &[u8], told: &mut Vec<Told>) {
        self.reader.feed(chunk, &mut self.items);
        self.sort(told);
    }

    /// Drops a line that was begun: its rest will never come, but what it was part of may go on.
    pub fn interrupt(&mut self) {
        self.reader.interrupt();
    }

    /// Whether records wait for the day the log began.
    pub fn waits(&self) -> bool {
        !self.undated.is_empty()
    }

    /// How much time the log's own clock told so far, in milliseconds.
    pub fn elapsed(&self) -> i64 {
        i64::try_from(self.reader.elapsed()).unwrap_or(0)
    }

    /// The log began then: what waits, and what is still to come, is dated by it.
    pub fn began(&mut self, begin: Timestamp, told: &mut Vec<Told>) {
        self.begin = Some(begin);
        for record in std::mem::take(&mut self.undated) {
            told.push(dated(record, begin));
        }
    }

    /// What is still to come is to wait until it is told anew when the log began.
    pub fn forget_begin(&mut self) {
        self.begin = None;
    }

    /// The log is over, and was last written then. How much time its clock told, in milliseconds.
    pub fn finish(mut self, written: Timestamp, told: &mut Vec<Told>) -> i64 {
        let reader = std::mem::replace(
            &mut self.reader,
            Reader::new(self.format, &Context::default()),
        );
        let elapsed = i64::try_from(reader.finish(&mut self.items)).unwrap_or(0);
        self.sort(told);
        let begin = self.begin.unwrap_or(written.plus_millis(-elapsed));
        self.began(begin, told);
        elapsed
    }

    fn sort(&mut self, told: &mut Vec<Told>) {
        for item in self.items.drain(..) {
            told.push(match (item, self.begin) {
                (LogItem::Match(record), None) if record.clock.is_some() => {
                    self.undated.push(*record);
                    continue;
                }
                (LogItem::Match(record), Some(begin)) if record.clock.is_some() => {
                    dated(*record, begin)
                }
                (LogItem::Match(record), _) => Told::Game(record),
                (LogItem::Exported(record, fingerprint), _) => Told::Known(record, fingerprint),
                (LogItem::Skipped { line, reason }, _) => Told::Skipped { line, reason },
                (
                    LogItem::Repeated {
                        line,
                        first,
                        dropped,
                    },
                    _,
                ) => Told::Repeated {
                    line,
                    first,
                    dropped,
                },
                (LogItem::Malformed { line, why }, _) => Told::Malformed { line, why },
            });
        }
    }
}

/// A record of a log that began then.
fn dated(mut record: MatchRecord, begin: Timestamp) -> Told {
    record.start = record.start.plus_millis(begin.0);
    record.end = record.end.plus_millis(begin.0);
    Told::Game(Box::new(record))
}

/// The milliseconds since 1970 of a time that a file system tells.
pub(super) fn timestamp(time: SystemTime) -> Timestamp {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}
