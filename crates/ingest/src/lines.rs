//! Splits the bytes of a log, in chunks of any size, into numbered lines of bounded length; also those in UTF-16LE,
//! as some Windows games write them. Of a log that was written twice, as to two sinks, each line counts once.

use std::{
    collections::VecDeque,
    hash::{DefaultHasher, Hash, Hasher},
};

use encoding_rs::{CoderResult, Decoder, UTF_16LE};
use evenkeel_model::Timestamp;

/// The longest line of most formats, in bytes: ten times the longest in real logs.
pub const MAX_LINE: usize = 64 * 1024;

/// A line of a log, without its end (`\n` or `\r\n`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogLine<'a> {
    /// The line's number, from 1.
    pub number: u64,
    /// The line's content, without its end.
    pub bytes: &'a [u8],
    /// Whether the line has an end. The last line of a log that is still being written, or was cut off,
    /// has none, and its last word may be incomplete.
    pub whole: bool,
    /// The time stamp that another program wrote before the line, which `bytes` does not contain.
    pub stamp: Option<LineStamp>,
}

/// The time of a stamp that another program wrote before a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineStamp {
    /// The date; or, where the stamp has none, a time that only the other stamps compare with.
    pub at: Timestamp,
    /// Whether the time is a date.
    pub is_date: bool,
}

/// What [`Lines`] passes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framed<'a> {
    /// A line within the limit.
    Line(LogLine<'a>),
    /// A line longer than the limit, which was dropped.
    TooLong {
        /// The line's number, from 1.
        number: u64,
    },
}

/// Splits a stream of chunks into lines. Holds at most one line.
#[derive(Debug)]
pub struct Lines {
    /// The longest line passed on, in bytes.
    limit: usize,
    /// The beginning of a line whose end has not been read yet.
    begun: Vec<u8>,
    /// How many lines have ended.
    ended: u64,
    /// Whether the line begun is already too long, so that its rest is dropped.
    too_long: bool,
}

/// Splits into lines of up to [`MAX_LINE`] bytes.
impl Default for Lines {
    fn default() -> Self {
        Self::new(MAX_LINE)
    }
}

impl Lines {
    /// Splits into lines of up to `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            begun: Vec::new(),
            ended: 0,
            too_long: false,
        }
    }

    /// Drops an incomplete line, and counts from 1 again.
    pub fn interrupt(&mut self) {
        self.begun.clear();
        self.too_long = false;
        self.ended = 0;
    }

    /// Takes the next chunk, and passes every line that ends in it to `each`.
    pub fn feed(&mut self, mut chunk: &[u8], mut each: impl FnMut(Framed<'_>)) {
        while let Some(end) = memchr::memchr(b'\n', chunk) {
            let (line, rest) = chunk.split_at(end);
            chunk = &rest[1..];
            if self.begun.is_empty() && !self.too_long {
                each(self.framed(line, true));
            } else {
                self.extend(line);
                let begun = std::mem::take(&mut self.begun);
                each(self.framed(&begun, true));
                self.begun = begun;
                self.begun.clear();
            }
            self.too_long = false;
            self.ended += 1;
        }
        self.extend(chunk);
    }

    /// Ends the stream, and passes an incomplete last line to `each`.
    pub fn finish(&mut self, mut each: impl FnMut(Framed<'_>)) {
        if !self.begun.is_empty() || self.too_long {
            each(self.framed(&self.begun, false));
        }
        *self = Self::new(self.limit);
    }

    fn extend(&mut self, bytes: &[u8]) {
        if self.begun.len() + bytes.len() > self.limit + 1 {
            self.too_long = true;
            self.begun.clear();
        }
        if !self.too_long {
            self.begun.extend_from_slice(bytes);
        }
    }

    fn framed<'a>(&self, line: &'a [u8], whole: bool) -> Framed<'a> {
        let number = self.ended + 1;
        let mut bytes = line.strip_suffix(b"\r").unwrap_or(line);
        if number == 1 {
            bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        }
        if self.too_long || bytes.len() > self.limit {
            Framed::TooLong { number }
        } else {
            Framed::Line(LogLine {
                number,
                bytes,
                whole,
                stamp: None,
            })
        }
    }
}

/// The encoding of a log, found from its first two bytes. All but UTF-16 passes through unchanged.
pub(crate) enum Encoding {
    /// Not known yet; these bytes have been read, at most one.
    Unknown(Vec<u8>),
    /// ASCII, UTF-8 or a code page: passed on as it is.
    Plain,
    /// UTF-16LE.
    Wide {
        decoder: Box<Decoder>,
        /// A buffer for a chunk as UTF-8.
        text: String,
    },
}

impl Default for Encoding {
    fn default() -> Self {
        Self::Unknown(Vec::new())
    }
}

/// Whether a log that begins like this is in UTF-16LE: no other text contains a zero byte.
fn is_wide(head: &[u8]) -> bool {
    matches!(head, [0xff, 0xfe, ..] | [1..=0xff, 0, ..])
}

impl Encoding {
    /// Takes the next bytes, and passes them on as UTF-8.
    pub(crate) fn feed(&mut self, chunk: &[u8], mut each: impl FnMut(&[u8])) {
        match self {
            Self::Plain => each(chunk),
            Self::Wide { decoder, text } => decode(decoder, text, chunk, false, each),
            Self::Unknown(begun) => {
                begun.extend_from_slice(chunk);
                if begun.len() < 2 {
                    return;
                }
                let begun = std::mem::take(begun);
                *self = match is_wide(&begun) {
                    false => Self::Plain,
                    true => Self::Wide {
                        decoder: Box::new(UTF_16LE.new_decoder_with_bom_removal()),
                        text: String::new(),
                    },
                };
                self.feed(&begun, each);
            }
        }
    }

    /// Ends the log, and passes on what is left.
    pub(crate) fn finish(&mut self, mut each: impl FnMut(&[u8])) {
        match std::mem::take(self) {
            Self::Plain => {}
            Self::Unknown(begun) => each(&begun),
            Self::Wide {
                mut decoder,
                mut text,
            } => decode(&mut decoder, &mut text, &[], true, each),
        }
    }
}

fn decode(
    decoder: &mut Decoder,
    text: &mut String,
    chunk: &[u8],
    last: bool,
    mut each: impl FnMut(&[u8]),
) {
    let mut rest = chunk;
    loop {
        text.clear();
        text.reserve(4_096 + rest.len());
        let (result, read, _) = decoder.decode_to_string(rest, text, last);
        rest = &rest[read..];
        each(text.as_bytes());
        if result == CoderResult::InputEmpty {
            return;
        }
    }
}

/// The beginning of a log, converted to UTF-8 if necessary.
pub(crate) fn decoded(head: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    if !is_wide(head) {
        return head.into();
    }
    let mut text = Vec::new();
    Encoding::default().feed(head, |bytes| text.extend_from_slice(bytes));
    text.into()
}

/// How many other lines may come between a line and its copy.
const APART: usize = 8;
/// How many lines show whether a log is doubled.
const SHOWN: usize = 32;
/// How many lines show it of a log whose copies do not follow at once.
const SHOWN_APART: usize = 8;

/// The last lines of a log, which show whether it was written twice.
///
/// A line may well be the same as the one before it, so a repetition is a copy only in a log whose lines nearly all come
/// twice: of the last lines, or as its very first line.
#[derive(Clone, Debug, Default)]
pub struct Doubled {
    /// Each of the last lines that is no copy, as a hash, and whether its copy has come.
    recent: VecDeque<(u64, bool)>,
    /// Of the lines before those: whether a copy came, the last one in front.
    past: VecDeque<bool>,
    /// The last line, which may be a copy.
    last: Option<u64>,
}

impl Doubled {
    /// Takes the next line, and returns whether it is the copy of an earlier one.
    pub fn is_copy(&mut self, line: &[u8]) -> bool {
        let mut hash = DefaultHasher::new();
        line.hash(&mut hash);
        let hash = hash.finish();
        let follows = self.last.replace(hash) == Some(hash);
        let recent = self.recent.iter();
        let mut alike = recent.map(|&(other, doubled)| other == hash && !doubled);
        if let Some(at) = alike.rposition(|alike| alike) {
            self.recent[at].1 = true;
            return self.is_doubled(at, follows);
        }
        self.recent.push_back((hash, false));
        if self.recent.len() > APART
            && let Some((_, doubled)) = self.recent.pop_front()
        {
            self.past.push_front(doubled);
            self.past.truncate(SHOWN);
        }
        false
    }

    /// Whether the repetition of the recent line at this place, which `follows` it at once or not, is a copy.
    fn is_doubled(&self, at: usize, follows: bool) -> bool {
        let before = self.recent.iter().take(at + 1).rev();
        let before = before.map(|(_, doubled)| *doubled);
        let last = before.chain(self.past.iter().copied()).take(SHOWN);
        let (mut all, mut doubled) = (0, 0);
        for is_doubled in last {
            all += 1;
            doubled += usize::from(is_doubled);
        }
        (follows || all > SHOWN_APART) && doubled * 3 >= all * 2
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<(u64, Option<Vec<u8>>, bool)> {
        let mut found = Vec::new();
        let mut note = |framed: Framed<'_>| match framed {
            Framed::Line(line) => found.push((line.number, Some(line.bytes.to_vec()), line.whole)),
            Framed::TooLong { number } => found.push((number, None, true)),
        };
        let mut lines = Lines::new(MAX_LINE);
        for chunk in chunks {
            lines.feed(chunk, &mut note);
            assert!(lines.begun.len() <= MAX_LINE + 1);
        }
        lines.finish(&mut note);
        found
    }

    #[test]
    fn ends_numbers_and_the_byte_order_mark() {
        let line = |n, text: &str, whole| (n, Some(text.as_bytes().to_vec()), whole);
        assert_eq!(
            split([&b"\xef\xbb\xbfa\r\n\nb"[..]]),
            [line(1, "a", true), line(2, "", true), line(3, "b", false)]
        );
        assert_eq!(split([&b""[..]]), []);
    }

    #[test]
    fn a_line_of_any_length_takes_bounded_memory() {
        let chunk = vec![b'x'; 1 << 20];
        let mut chunks: Vec<&[u8]> = vec![&chunk; 100];
        chunks.push(b"\nnext\n");
        let found = split(chunks);
        assert_eq!(found[0].1, None);
        assert_eq!(found[1], (2, Some(b"next".to_vec()), true));
    }

    #[test]
    fn the_bound_is_the_same_however_the_bytes_come() {
        for (length, kept) in [(MAX_LINE, true), (MAX_LINE + 1, false)] {
            for end in ["\n", "\r\n"] {
                let text = "x".repeat(length) + end;
                assert_eq!(split([text.as_bytes()])[0].1.is_some(), kept);
                assert_eq!(split(text.as_bytes().chunks(7))[0].1.is_some(), kept);
            }
        }
    }

    proptest! {
        #[test]
        fn chunks_do_not_matter(bytes in "[a\r\n]{0,40}", size in 1usize..5) {
            prop_assert_eq!(split([bytes.as_bytes()]), split(bytes.as_bytes().chunks(size)));
        }
    }

    fn read(log: &[u8], size: usize) -> Vec<u8> {
        let mut text = Vec::new();
        let mut encoding = Encoding::default();
        for chunk in log.chunks(size) {
            encoding.feed(chunk, |bytes| text.extend_from_slice(bytes));
        }
        encoding.finish(|bytes| text.extend_from_slice(bytes));
        text
    }

    fn wide(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_le_bytes).collect()
    }

    #[test]
    fn both_ways_of_writing() {
        assert_eq!(read(&wide("a\u{e9}\n"), 1), "a\u{e9}\n".as_bytes());
        assert_eq!(read(&wide("\u{feff}ab"), 3), b"ab");
        assert_eq!(read(b"a\xe9", 1), b"a\xe9");
        assert_eq!(read(b"a", 1), b"a");
        assert_eq!(
            (read(b"", 1), decoded(b"ab").as_ref()),
            (vec![], &b"ab"[..])
        );
        assert_eq!(decoded(&wide("ab")).as_ref(), b"ab");
    }

    proptest! {
        #[test]
        fn chunks_of_utf_16_do_not_matter(text in "a\\PC{0,40}", size in 1usize..9) {
            let log = wide(&text);
            prop_assert_eq!(read(&log, size), text.as_bytes());
            prop_assert_eq!(read(&log[..log.len() - 1], size), read(&log[..log.len() - 1], 999));
        }
    }

    /// The lines that are no copies.
    fn kept(lines: &[&str]) -> Vec<String> {
        let mut doubled = Doubled::default();
        let kept = lines
            .iter()
            .filter(|line| !doubled.is_copy(line.as_bytes()));
        kept.map(|&line| line.to_owned()).collect()
    }

    #[test]
    fn each_line_of_a_doubled_log_counts_once() {
        // The same kill comes twice in a row, and each of the two is doubled.
        let single = ["start", "join", "kill", "kill", "win", "end"];
        let twice: Vec<&str> = single.iter().flat_map(|line| [*line; 2]).collect();
        assert_eq!(kept(&twice), single);
        // A copy is lost on its way.
        let lossy = [&twice[..3], &twice[4..]].concat();
        assert_eq!(kept(&lossy), single);
    }

    #[test]
    fn a_log_that_repeats_lines_is_not_doubled() {
        let lines = [
            "start", "kill", "kill", "kill", "x", "y", "kill", "kill", "x",
        ];
        assert_eq!(kept(&lines), lines);
    }

    #[test]
    fn copies_may_come_later() {
        let names: Vec<String> = (0..100).map(|number| number.to_string()).collect();
        let late: Vec<&str> = names
            .chunks(4)
            .flat_map(|four| four.iter().chain(four))
            .map(String::as_str)
            .collect();
        let kept = kept(&late);
        assert_eq!(kept[kept.len() - 80..], names[20..]);
    }
}
