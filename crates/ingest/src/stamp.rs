//! Time stamps that another program wrote before each line of a log: journald, syslog, Docker, or a
//! script that a server's output goes through.
//!
//! `split` knows their forms. `Stamps` finds out from a log's first lines whether the log has
//! them, and removes them. A stamp without a time zone counts as UTC, as the games' own dates do.

use evenkeel_model::Timestamp;

use crate::{
    lines::{Framed, LineStamp, Lines, LogLine, MAX_LINE},
    text::skip_blanks,
};

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
    let (named, line) = match container(line) {
        Some(rest) => (true, rest),
        None => (false, line),
    };
    match read(line) {
        Some((time, rest)) => Some((time, skip(rest))),
        None => named.then_some((StampTime::Unknown, line)),
    }
}

/// The line beneath a stamp, if there is a stamp, and only what is beneath it looks like a line of the
/// log; otherwise the line itself.
pub(crate) fn bare(line: &[u8], is_line: impl Fn(&[u8]) -> bool) -> &[u8] {
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
            let bytes = match is_of_journal(line.bytes) {
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
            (StampTime::Yearless(day), None, None) => (day.in_year(LEAP_YEAR), false),
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

/// The longest name of a host, a program or a container, in bytes.
const MAX_NAME: usize = 128;

/// What comes after the name of a container, `name-1  | `, as Docker Compose writes it.
fn container(line: &[u8]) -> Option<&[u8]> {
    let (name, rest) = word(line)?;
    let rest = skip_blanks(rest);
    let is_name = name.iter().all(is_of_name) && !name.iter().all(u8::is_ascii_digit);
    rest.strip_prefix(b"| ").filter(|_| is_name)
}

/// Whether a line is one of those that journalctl writes about the journal itself.
fn is_of_journal(line: &[u8]) -> bool {
    const STARTS: [&[u8]; 5] = [
        b"-- Journal begins",
        b"-- Logs begin",
        b"-- Boot ",
        b"-- Reboot",
        b"-- No entries",
    ];
    STARTS.iter().any(|start| line.starts_with(start))
}

/// Removes `host program[pid]: `, `program[pid]: `, `host program: ` and `stdout F `.
fn skip(line: &[u8]) -> &[u8] {
    for stream in [&b"stdout "[..], b"stderr "] {
        if let Some([b'F' | b'P', b' ', rest @ ..]) = line.strip_prefix(stream) {
            return rest;
        }
    }
    let Some((first, rest)) = word(line) else {
        return line;
    };
    if is_program(first, true) {
        return one_blank(rest);
    }
    if !first.iter().all(is_of_name) {
        return line;
    }
    match word(rest.get(1..).unwrap_or_default()) {
        Some((second, rest)) if is_program(second, false) => one_blank(rest),
        _ => line,
    }
}

/// Whether a word is `program[pid]:`, or `program:` if `needs_number` is false.
fn is_program(word: &[u8], needs_number: bool) -> bool {
    let Some(word) = word.strip_suffix(b":") else {
        return false;
    };
    let name = match word.strip_suffix(b"]") {
        Some(inner) => {
            let Some(open) = inner.iter().rposition(|&b| b == b'[') else {
                return false;
            };
            let digits = &inner[open + 1..];
            if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
                return false;
            }
            &inner[..open]
        }
        None if needs_number => return false,
        None => word,
    };
    !name.is_empty() && !name.iter().any(|b| b":\\\"<>".contains(b))
}

/// The first word of a line, and the rest, which begins with a blank.
fn word(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let head = &line[..line.len().min(MAX_NAME)];
    let end = memchr::memchr(b' ', head)?;
    (end > 0).then(|| line.split_at(end))
}

fn is_of_name(b: &u8) -> bool {
    b.is_ascii_alphanumeric() || b"._-".contains(b)
}

fn one_blank(rest: &[u8]) -> &[u8] {
    rest.strip_prefix(b" ").unwrap_or(rest)
}

/// A year in which every day of a stamp without a year exists.
const LEAP_YEAR: i16 = 1972;

/// The time of a stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StampTime {
    Date(Timestamp),
    /// A date without a time zone, as UTC.
    Local(Timestamp),
    /// A date without a year.
    Yearless(Yearless),
    /// Milliseconds since the machine was started, or since midnight.
    Passed(i64),
    /// The stamp states no time.
    Unknown,
}

/// A date without a year, as syslog writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Yearless {
    month: i8,
    day: i8,
    /// Milliseconds since midnight.
    time: i64,
}

impl Yearless {
    fn in_year(self, year: i16) -> Option<Timestamp> {
        let day = Timestamp::from_civil(year, self.month, self.day, 0, 0, 0)?;
        Some(day.plus_millis(self.time))
    }

    /// The year in which the average year puts a time; it may be off by one.
    fn year_of(at: Timestamp) -> i16 {
        const YEAR: i64 = 31_556_952_000;
        i16::try_from(1970 + at.0.div_euclid(YEAR)).unwrap_or(LEAP_YEAR)
    }

    /// The dates near a time.
    fn near(self, at: Timestamp) -> impl Iterator<Item = Timestamp> {
        // Not every year has a 29th of February.
        let around = if (self.month, self.day) == (2, 29) {
            8
        } else {
            2
        };
        let year = Self::year_of(at);
        let years = (-around..=around).map(move |offset| year.saturating_add(offset));
        years.filter_map(move |year| self.in_year(year))
    }

    /// The last such date that is not after `latest`.
    fn before(self, latest: Timestamp) -> Option<Timestamp> {
        self.near(latest).filter(|date| *date <= latest).max()
    }

    /// The one of these dates that is nearest to another date.
    fn nearest(self, other: Timestamp) -> Option<Timestamp> {
        self.near(other).min_by_key(|date| date.0.abs_diff(other.0))
    }
}

/// Reads the time at the beginning of a line and what separates it from the rest, and returns it with
/// the rest.
fn read(line: &[u8]) -> Option<(StampTime, &[u8])> {
    if !matches!(line.first(), Some(b'[' | b'0'..=b'9' | b'A'..=b'Z')) {
        return None;
    }
    match line.strip_prefix(b"[") {
        Some(inner) => {
            let (time, rest) = bare_time(inner).or_else(|| since_boot(skip_blanks(inner)))?;
            Some((time, separator(rest.strip_prefix(b"]")?)?))
        }
        None => {
            let (time, rest) = bare_time(line)?;
            Some((time, separator(rest)?))
        }
    }
}

/// Removes what is between a stamp and its line; `None` if there is nothing.
fn separator(rest: &[u8]) -> Option<&[u8]> {
    for words in [&b" | "[..], b" - ", b" > ", b": "] {
        if let Some(rest) = rest.strip_prefix(words) {
            return Some(rest);
        }
    }
    match rest {
        [b' ' | b'\t' | b'|' | b';' | b',', rest @ ..] => Some(rest),
        [] => Some(rest),
        _ => None,
    }
}

fn bare_time(line: &[u8]) -> Option<(StampTime, &[u8])> {
    match line.first()? {
        b'0'..=b'9' => iso(line)
            .or_else(|| since_1970(line))
            .or_else(|| of_day(line)),
        _ => {
            let after_week_day = weekday(line);
            let line = after_week_day.unwrap_or(line);
            month_first(line).or_else(|| after_week_day.and_then(iso))
        }
    }
}

/// A number of exactly `count` digits.
fn digits(line: &[u8], count: usize) -> Option<(i64, &[u8])> {
    let (digits, rest) = line.split_at_checked(count)?;
    let add = |sum: i64, b: &u8| b.is_ascii_digit().then(|| sum * 10 + i64::from(b - b'0'));
    Some((digits.iter().try_fold(0, add)?, rest))
}

fn small(line: &[u8], count: usize) -> Option<(i8, &[u8])> {
    let (value, rest) = digits(line, count)?;
    Some((i8::try_from(value).ok()?, rest))
}

/// `.123456` or `,123`: the milliseconds.
fn fraction(line: &[u8]) -> (i64, &[u8]) {
    let [b'.' | b',', rest @ ..] = line else {
        return (0, line);
    };
    let count = rest.iter().take_while(|b| b.is_ascii_digit()).count();
    if count == 0 {
        return (0, line);
    }
    let (digits, rest) = rest.split_at(count);
    let mut millis = 0;
    for (digit, worth) in digits.iter().zip([100, 10, 1]) {
        millis += i64::from(digit - b'0') * worth;
    }
    (millis, rest)
}

/// `12:34:56.789`: the hour, the minute, the second and the milliseconds.
fn clock(line: &[u8]) -> Option<([i8; 3], i64, &[u8])> {
    let (hour, rest) = small(line, 2)?;
    let (minute, rest) = small(rest.strip_prefix(b":")?, 2)?;
    let (second, rest) = small(rest.strip_prefix(b":")?, 2)?;
    let fits = hour < 24 && minute < 60 && second <= 60;
    let (millis, rest) = fraction(rest);
    fits.then_some(([hour, minute, second.min(59)], millis, rest))
}

fn of_clock([hour, minute, second]: [i8; 3], millis: i64) -> i64 {
    ((i64::from(hour) * 60 + i64::from(minute)) * 60 + i64::from(second)) * 1_000 + millis
}

/// A time zone: how many milliseconds it is ahead of UTC. An unknown name counts as UTC.
fn zone(line: &[u8]) -> (i64, &[u8]) {
    let spaced = line.strip_prefix(b" ");
    match spaced.unwrap_or(line) {
        [b'Z', rest @ ..] if spaced.is_none() => (0, rest),
        [sign @ (b'+' | b'-'), rest @ ..] => {
            let read = || {
                let (hours, rest) = digits(rest, 2)?;
                let rest = rest.strip_prefix(b":").unwrap_or(rest);
                let (minutes, rest) = digits(rest, 2).unwrap_or((0, rest));
                let millis = (hours * 60 + minutes) * 60_000;
                Some((if *sign == b'-' { -millis } else { millis }, rest))
            };
            read().unwrap_or((0, line))
        }
        rest if spaced.is_some() => {
            let letters = rest.iter().take_while(|b| b.is_ascii_uppercase()).count();
            // A colon would end the word of an event.
            let ends = matches!(rest.get(letters), None | Some(b' ' | b']' | b'|'));
            match (3..=5).contains(&letters) && ends {
                true => (0, &rest[letters..]),
                false => (0, line),
            }
        }
        _ => (0, line),
    }
}

/// `2026-11-20T12:34:56.789+01:00`, also with a blank or slashes.
fn iso(line: &[u8]) -> Option<(StampTime, &[u8])> {
    let (year, rest) = digits(line, 4)?;
    let [between @ (b'-' | b'/'), rest @ ..] = rest else {
        return None;
    };
    let (month, rest) = small(rest, 2)?;
    let (day, rest) = small(rest.strip_prefix(&[*between])?, 2)?;
    let [b'T' | b't' | b' ' | b'_', rest @ ..] = rest else {
        return None;
    };
    let ([hour, minute, second], millis, rest) = clock(rest)?;
    let (ahead, after) = zone(rest);
    let year = i16::try_from(year).ok()?;
    let date = Timestamp::from_civil(year, month, day, hour, minute, second)?;
    let date = date.plus_millis(millis - ahead);
    let time = match after.len() < rest.len() {
        true => StampTime::Date(date),
        false => StampTime::Local(date),
    };
    Some((time, after))
}

/// Seconds since 1970, also with decimals; or milli-, micro- or nanoseconds.
fn since_1970(line: &[u8]) -> Option<(StampTime, &[u8])> {
    let count = line.iter().take_while(|b| b.is_ascii_digit()).count();
    let (value, rest) = (count <= 19).then(|| digits(line, count.min(18)))??;
    let rest = &rest[count - count.min(18)..];
    let (millis, rest) = match count {
        9 | 10 => {
            let (millis, rest) = fraction(rest);
            (value * 1_000 + millis, rest)
        }
        13 => (value, rest),
        16 => (value / 1_000, rest),
        19 => (value / 100_000, rest),
        _ => return None,
    };
    Some((StampTime::Date(Timestamp(millis)), rest))
}

/// `12:34:56`.
fn of_day(line: &[u8]) -> Option<(StampTime, &[u8])> {
    let (time, millis, rest) = clock(line)?;
    Some((StampTime::Passed(of_clock(time, millis)), rest))
}

/// `123.456789`, the seconds since the machine was started.
fn since_boot(line: &[u8]) -> Option<(StampTime, &[u8])> {
    let count = line.iter().take_while(|b| b.is_ascii_digit()).count();
    let (seconds, rest) = (count <= 9).then(|| digits(line, count))??;
    if count == 0 || rest.first() != Some(&b'.') {
        return None;
    }
    let (millis, rest) = fraction(rest);
    Some((StampTime::Passed(seconds * 1_000 + millis), rest))
}

/// What comes after the name of a day, `Fri `.
fn weekday(line: &[u8]) -> Option<&[u8]> {
    const DAYS: [&[u8]; 7] = [b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun"];
    let (name, rest) = line.split_at_checked(3)?;
    let rest = rest.strip_prefix(b",").unwrap_or(rest);
    DAYS.contains(&name).then(|| rest.strip_prefix(b" "))?
}

/// `Nov  3 12:34:56`, and with a year before the time or, with or without a time zone, after it.
fn month_first(line: &[u8]) -> Option<(StampTime, &[u8])> {
    const MONTHS: [&[u8]; 12] = [
        b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov",
        b"Dec",
    ];
    let (name, rest) = line.split_at_checked(3)?;
    let month = (1i8..).zip(MONTHS).find(|(_, known)| *known == name)?.0;
    let rest = skip_blanks(rest.strip_prefix(b" ")?);
    let (day, rest) = small(rest, 2).or_else(|| small(rest, 1))?;
    let rest = rest.strip_prefix(b" ")?;
    let year_of = |line: &[u8]| -> Option<i16> { i16::try_from(digits(line, 4)?.0).ok() };
    let (year, rest) = match (year_of(rest), rest.get(4)) {
        (Some(year), Some(b' ')) => (Some(year), &rest[5..]),
        _ => (None, rest),
    };
    let (time, millis, rest) = clock(rest)?;
    let time = of_clock(time, millis);
    let (ahead, zoned) = zone(rest);
    let has_zone = zoned.len() < rest.len();
    let after = zoned.strip_prefix(b" ").unwrap_or_default();
    // A year ends with its word; the clock of a game may have as many digits.
    let ends = matches!(
        after.get(4..),
        Some([] | [b' ' | b']' | b'|', ..] | [b':', b' ', ..])
    );
    let (year, rest, ahead) = match (year, year_of(after).filter(|_| ends)) {
        (Some(year), _) => (Some(year), zoned, ahead),
        (None, Some(year)) => (Some(year), &after[4..], ahead),
        // A host may be called like a time zone.
        (None, None) => (None, rest, 0),
    };
    // That there is such a day.
    Timestamp::from_civil(LEAP_YEAR, month, day, 0, 0, 0)?;
    let day = Yearless { month, day, time };
    let time = match year {
        Some(year) if has_zone => StampTime::Date(day.in_year(year)?.plus_millis(-ahead)),
        Some(year) => StampTime::Local(day.in_year(year)?),
        None => StampTime::Yearless(day),
    };
    Some((time, rest))
}

#[cfg(test)]
mod tests;
