//! Bytes → lines, in bounded memory however long a line is.

use bytes::{Buf, Bytes, BytesMut};

/// What stands between two line ends.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// A line without its LF or CRLF.
    Text(Bytes),
    /// A line longer than the limit; its bytes are gone.
    TooLong,
}

/// Splits a stream into lines. Its memory is the caller's buffer, of which it keeps at most
/// `max + 2` bytes of an unfinished line.
#[derive(Debug)]
pub struct Framer {
    max: usize,
    /// Bytes at the front of the buffer known to hold no line end.
    scanned: usize,
    /// The line's beginning has been thrown away already.
    dropping: bool,
}

impl Framer {
    /// Lines hold at most `max` bytes, without their end.
    pub fn new(max: usize) -> Self {
        Self {
            max,
            scanned: 0,
            dropping: false,
        }
    }

    /// The next complete line at the front of `buffer`, which it is removed from.
    ///
    /// `None` when more bytes are needed. A last line without an end is never given: half a
    /// command is not a command.
    pub fn next_line(&mut self, buffer: &mut BytesMut) -> Option<Line> {
        let newline = memchr::memchr(b'\n', &buffer[self.scanned..]);
        let Some(end) = newline.map(|at| self.scanned + at) else {
            self.scanned = buffer.len();
            self.drop_what_is_too_long(buffer);
            return None;
        };
        let mut line = buffer.split_to(end);
        buffer.advance(1);
        self.scanned = 0;
        if line.last() == Some(&b'\r') {
            line.truncate(line.len() - 1);
        }
        let too_long = std::mem::take(&mut self.dropping) || line.len() > self.max;
        Some(if too_long {
            Line::TooLong
        } else {
            Line::Text(line.freeze())
        })
    }

    /// Whether a line has begun and not ended.
    pub fn is_inside_line(&self, buffer: &BytesMut) -> bool {
        self.dropping || !buffer.is_empty()
    }

    fn drop_what_is_too_long(&mut self, buffer: &mut BytesMut) {
        // One more for a CR that may belong to the line end.
        if self.dropping || buffer.len() > self.max + 1 {
            self.dropping = true;
            self.scanned = 0;
            buffer.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All lines of `input` when it arrives in pieces of these sizes, and the most bytes ever kept.
    fn lines(input: &[u8], max: usize, pieces: &[usize]) -> (Vec<Line>, usize) {
        let mut framer = Framer::new(max);
        let (mut buffer, mut kept, mut out) = (BytesMut::new(), 0, Vec::new());
        let mut sizes = pieces.iter().copied().cycle();
        let mut rest = input;
        while !rest.is_empty() {
            let size = sizes.next().unwrap_or(rest.len()).clamp(1, rest.len());
            buffer.extend_from_slice(&rest[..size]);
            rest = &rest[size..];
            while let Some(line) = framer.next_line(&mut buffer) {
                out.push(line);
            }
            kept = kept.max(buffer.len());
        }
        (out, kept)
    }

    /// The oracle: split first, judge afterwards.
    fn naive(input: &[u8], max: usize) -> Vec<Line> {
        let mut parts: Vec<&[u8]> = input.split(|&b| b == b'\n').collect();
        parts.pop();
        let judge = |part: &[u8]| {
            let part = part.strip_suffix(b"\r").unwrap_or(part);
            if part.len() > max {
                Line::TooLong
            } else {
                Line::Text(Bytes::copy_from_slice(part))
            }
        };
        parts.into_iter().map(judge).collect()
    }

    proptest! {
        #[test]
        fn any_pieces_give_the_lines_of_the_whole(
            input in proptest::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..200),
            max in 1usize..12,
            pieces in proptest::collection::vec(1usize..20, 1..6),
        ) {
            let (got, kept) = lines(&input, max, &pieces);
            prop_assert_eq!(got, naive(&input, max));
            prop_assert!(kept <= max + 1);
        }
    }

    #[test]
    fn a_line_of_exactly_the_limit_passes_with_either_end() {
        let text = |s: &'static [u8]| Line::Text(Bytes::from_static(s));
        let (got, _) = lines(b"12345\r\n12345\n123456\nok\n", 5, &[1]);
        assert_eq!(
            got,
            [text(b"12345"), text(b"12345"), Line::TooLong, text(b"ok")]
        );
    }
}
