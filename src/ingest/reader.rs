//! Reads one log: takes bytes in chunks of any size and returns items.

use super::{
    encoding::Encoding,
    format::{Context, Format, LogParser},
    item::LogItem,
    lines::{Framed, Lines},
};

/// Reads one log. Memory is bounded by one line and one game, however long the log is.
pub struct Reader {
    encoding: Encoding,
    lines: Lines,
    parser: Box<dyn LogParser>,
    /// The number of the last line.
    last: u64,
}

impl Reader {
    /// Begins a log of this format.
    pub fn new(format: &Format, context: &Context) -> Self {
        Self {
            encoding: Encoding::default(),
            lines: Lines::new(format.max_line),
            parser: (format.parser)(context),
            last: 0,
        }
    }

    /// Takes the next bytes of the log, and appends the items that they complete.
    pub fn feed(&mut self, chunk: &[u8], items: &mut Vec<LogItem>) {
        let (lines, parser, last) = (&mut self.lines, &mut self.parser, &mut self.last);
        self.encoding.feed(chunk, |text| {
            lines.feed(text, |framed| take(&mut **parser, framed, last, items));
        });
    }

    /// Drops an incomplete last line. The game being read continues in the next file, as after a log
    /// was rotated.
    pub fn interrupt(&mut self) {
        self.encoding = Encoding::default();
        self.lines.interrupt();
        self.last = 0;
    }

    /// How much time has passed on the log's own clock, in milliseconds (see [`LogParser::elapsed`]).
    pub fn elapsed(&self) -> u64 {
        self.parser.elapsed()
    }

    /// Ends the log, appends the items that were not complete yet, and returns how much time has
    /// passed on the log's own clock, in milliseconds.
    pub fn finish(mut self, items: &mut Vec<LogItem>) -> u64 {
        let (lines, parser, last) = (&mut self.lines, &mut self.parser, &mut self.last);
        self.encoding.finish(|text| {
            lines.feed(text, |framed| take(&mut **parser, framed, last, items));
        });
        lines.finish(|framed| take(&mut **parser, framed, last, items));
        let first = items.len();
        self.parser.finish(items);
        end_skipped(&mut items[first..], self.last);
        self.parser.elapsed()
    }
}

/// Passes a line to the parser. `last` is the number of the line before, and becomes that of this one.
fn take(parser: &mut dyn LogParser, framed: Framed<'_>, last: &mut u64, items: &mut Vec<LogItem>) {
    let before = *last;
    match framed {
        Framed::Line(line) => {
            *last = line.number;
            let first = items.len();
            parser.line(line, items);
            end_skipped(&mut items[first..], before);
        }
        Framed::TooLong { number } => {
            *last = number;
            items.push(LogItem::Malformed {
                line: number,
                why: "the line is too long".into(),
                text: String::new(),
            });
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
