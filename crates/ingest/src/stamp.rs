//! Time stamps that another program wrote before each line of a log: journald, syslog, Docker, or a
//! script that a server's output goes through.
//!
//! `split` knows their forms. `Stamps` finds out from a log's first lines whether the log has
//! them, and removes them. A stamp without a time zone counts as UTC, as the games' own dates do.

mod source;
mod time;

use super::lines::{Framed, LineStamp, Lines, LogLine, MAX_LINE};
use evenkeel_model::Timestamp;
use time::StampTime;

/// How many lines may come before the first one that shows whether the log has stamps.
const OPEN_LINES: u32 = 10_000;
/// A stamp may be this much later than the time at which the file was written, in milliseconds: it may
/// be of another time zone.
const AHEAD: i64 = 24 * 60 * 60 * 1_000;

/// Whether a line, without the stamp before it, is of a format for certain.
pub(super) type IsBeneath = fn(&[u8]) -> bool;

/// Splits a line into the stamp and the line beneath it.
fn split(line: &[u8]) -> Option<(StampTime, &[u8])> {
    // The name of a container: `name-1  | `.
    let (named, line) = match source::container(line) {
        Some(rest) => (true, rest),
        None => (false, line),
    };
    match time::read(line) {
        Some((time, rest)) => Some((time, source::skip(rest))),
        None => named.then_some((StampTime::Unknown, line)),
    }
}

/// The line beneath a stamp, if there is a stamp, and only what is beneath it looks like a line of the
/// log; otherwise the line itself.
pub fn bare(line: &[u8], is_line: impl Fn(&[u8]) -> bool) -> &[u8] {
    if is_line(line) {
        return line;
    }
    match split(line) {
        Some((_, rest)) if is_line(rest) => rest,
        _ => line,
    }
}

/// How many lines that begin a log are certain beneath their stamps; 0 if most lines have none.
pub(super) fn certain_lines(head: &[u8], is_beneath: IsBeneath) -> usize {
    let (mut certain, mut stamped, mut others) = (0, 0usize, 0usize);
    let mut count = |framed: Framed<'_>| match framed {
        Framed::Line(line) if line.bytes.is_empty() => {}
        Framed::Line(line) => match split(line.bytes) {
            Some((_, rest)) => {
                stamped += 1;
                certain += usize::from(is_beneath(rest));
            }
            None => others += 1,
        },
        Framed::TooLong { .. } => others += 1,
    };
    let mut lines = Lines::new(MAX_LINE);
    lines.feed(head, &mut count);
    lines.finish(&mut count);
    if stamped >= others { certain } else { 0 }
}

/// What is known about a log's stamps.
enum StampState {
    /// So many more lines may come before it is clear.
    Open(u32),
    /// The log has none.
    Plain,
    /// The log has them.
    Stamped,
}

/// Removes the stamps of one log.
pub(super) struct Stamps {
    state: StampState,
    /// `None` for a format whose lines are never looked for beneath stamps.
    is_beneath: Option<IsBeneath>,
    /// When the file was last written, if that is known.
    written: Option<Timestamp>,
    /// The last date.
    last: Option<Timestamp>,
    /// Whether the last date had a time zone.
    zoned: bool,
}

impl Stamps {
    pub(super) fn new(is_beneath: Option<IsBeneath>, written: Option<Timestamp>) -> Self {
        Self {
            state: Self::start(is_beneath),
            is_beneath,
            written,
            last: None,
            zoned: false,
        }
    }

    /// Whether the stamps have a time zone.
    pub(super) fn have_zone(&self) -> bool {
        self.zoned
    }

    fn start(is_beneath: Option<IsBeneath>) -> StampState {
        match is_beneath {
            Some(_) => StampState::Open(OPEN_LINES),
            None => StampState::Plain,
        }
    }

    /// Looks for stamps anew, as in another file.
    pub(super) fn reset(&mut self) {
        self.state = Self::start(self.is_beneath);
    }

    /// Removes the stamp of a line, if the log has stamps.
    #[inline]
    pub(super) fn strip<'a>(&mut self, line: LogLine<'a>) -> LogLine<'a> {
        match self.state {
            StampState::Plain => line,
            StampState::Open(_) => self.find(line),
            StampState::Stamped => self.remove(line),
        }
    }

    /// Takes a line before it is clear whether the log has stamps.
    fn find<'a>(&mut self, line: LogLine<'a>) -> LogLine<'a> {
        let Some(is_beneath) = self.is_beneath else {
            return line;
        };
        if is_beneath(line.bytes) {
            self.state = StampState::Plain;
            return line;
        }
        let bare = self.remove(line);
        if bare.stamp.is_some() && is_beneath(bare.bytes) {
            self.state = StampState::Stamped;
        } else if let StampState::Open(left) = &mut self.state {
            *left -= 1;
            if *left == 0 {
                self.state = StampState::Plain;
            }
        }
        bare
    }

    fn remove<'a>(&mut self, line: LogLine<'a>) -> LogLine<'a> {
        let Some((time, bytes)) = split(line.bytes) else {
            let bytes = match source::is_of_journal(line.bytes) {
                true => &[],
                false => line.bytes,
            };
            return LogLine { bytes, ..line };
        };
        let stamp = Some(self.date(time));
        LogLine {
            bytes,
            stamp,
            ..line
        }
    }

    /// The date of a stamp. A stamp without a year is of the year that brings it nearest to the stamp
    /// before; the first one is of the last year in which it is not later than the file.
    fn date(&mut self, time: StampTime) -> LineStamp {
        if matches!(
            time,
            StampTime::Date(_) | StampTime::Local(_) | StampTime::Yearless(_)
        ) {
            self.zoned = matches!(time, StampTime::Date(_));
        }
        let (at, is_date) = match (time, self.last, self.written) {
            (StampTime::Date(at) | StampTime::Local(at), ..) => (Some(at), true),
            (StampTime::Yearless(day), Some(last), _) => (day.nearest(last), true),
            (StampTime::Yearless(day), None, Some(written)) => {
                (day.before(written.plus_millis(AHEAD)), true)
            }
            (StampTime::Yearless(day), None, None) => (day.in_year(time::LEAP_YEAR), false),
            (StampTime::Passed(millis), ..) => (Some(Timestamp(millis)), false),
            (StampTime::Unknown, ..) => (None, false),
        };
        if is_date && at.is_some() {
            self.last = at;
        }
        LineStamp {
            at: at.unwrap_or(Timestamp(0)),
            is_date: is_date && at.is_some(),
        }
    }
}

#[cfg(test)]
mod tests;
