//! Reads one log: takes bytes in chunks of any size and returns items.

use super::{
    doubled::Doubled,
    format::{Context, DateZone, Format, LogItem, LogParser, UnknownLines},
    lines::{Encoding, Framed, Lines},
    stamp::Stamps,
};

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
