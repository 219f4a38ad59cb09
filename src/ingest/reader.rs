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
}

impl Reader {
    /// Begins a log of this format.
    pub fn new(format: &Format, context: &Context) -> Self {
        Self {
            encoding: Encoding::default(),
            lines: Lines::new(format.max_line),
            parser: (format.parser)(context),
        }
    }

    /// Takes the next bytes of the log, and appends the items that they complete.
    pub fn feed(&mut self, chunk: &[u8], items: &mut Vec<LogItem>) {
        let (lines, parser) = (&mut self.lines, &mut self.parser);
        self.encoding.feed(chunk, |text| {
            lines.feed(text, |framed| take(&mut **parser, framed, items));
        });
    }

    /// Drops an incomplete last line. The game being read continues in the next file, as after a log
    /// was rotated.
    pub fn interrupt(&mut self) {
        self.encoding = Encoding::default();
        self.lines.interrupt();
    }

    /// How much time has passed on the log's own clock, in milliseconds (see [`LogParser::elapsed`]).
    pub fn elapsed(&self) -> u64 {
        self.parser.elapsed()
    }

    /// Ends the log, appends the items that were not complete yet, and returns how much time has
    /// passed on the log's own clock, in milliseconds.
    pub fn finish(mut self, items: &mut Vec<LogItem>) -> u64 {
        let (lines, parser) = (&mut self.lines, &mut self.parser);
        self.encoding.finish(|text| {
            lines.feed(text, |framed| take(&mut **parser, framed, items));
        });
        lines.finish(|framed| take(&mut **parser, framed, items));
        self.parser.finish(items);
        self.parser.elapsed()
    }
}

fn take(parser: &mut dyn LogParser, framed: Framed<'_>, items: &mut Vec<LogItem>) {
    match framed {
        Framed::Line(line) => parser.line(line, items),
        Framed::TooLong { number } => items.push(LogItem::Malformed {
            line: number,
            why: "the line is too long".into(),
        }),
    }
}
