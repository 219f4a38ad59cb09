//! Splits bytes into lines. Memory is bounded, however long a line is.

use bytes::{Buf, Bytes, BytesMut};

/// One line of a stream.
#[derive(Debug, PartialEq, Eq)]
pub enum FramedLine {
    /// The bytes of a line, without its LF or CRLF.
    Text(Bytes),
    /// A line longer than the limit; its bytes have been discarded.
    TooLong,
}

/// Splits a stream into lines. Uses only the caller's buffer, which contains at most `max + 1`
/// bytes of an unfinished line when [`Framer::next_line`] returns `None`.
#[derive(Debug)]
pub struct Framer {
    max: usize,
    /// How many bytes at the front of the buffer are known to contain no line end.
    scanned: usize,
    /// Whether the beginning of the current line has been discarded.
    dropping: bool,
}

impl Framer {
    /// A framer for lines of at most `max` bytes, without their LF or CRLF.
    pub fn new(max: usize) -> Self {
        Self {
            max,
            scanned: 0,
            dropping: false,
        }
    }

    /// Removes the next complete line from the front of `buffer` and returns it.
    ///
    /// Returns `None` if it needs more bytes. A last line without a line end is never returned,
    /// because half a command is not a command.
    pub fn next_line(&mut self, buffer: &mut BytesMut) -> Option<FramedLine> {
        let newline = memchr::memchr(b'\n', &buffer[self.scanned..]);
        let Some(end) = newline.map(|at| self.scanned + at) else {
            self.scanned = buffer.len();
            self.drop_if_too_long(buffer);
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
            FramedLine::TooLong
        } else {
            FramedLine::Text(line.freeze())
        })
    }

    /// Whether the beginning of the current line has been discarded.
    pub fn is_dropping(&self) -> bool {
        self.dropping
    }

    /// Notes that the caller has replaced the content of its buffer, which begins with a line.
    pub fn restart(&mut self) {
        self.scanned = 0;
    }

    /// Whether the stream is in the middle of a line.
    pub fn is_inside_line(&self, buffer: &BytesMut) -> bool {
        self.dropping || !buffer.is_empty()
    }

    fn drop_if_too_long(&mut self, buffer: &mut BytesMut) {
        // One byte more than a line can have: it may be the CR of the line end.
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

    /// All lines of `input` if it arrives in pieces of these sizes, and the most bytes buffered.
    fn lines(input: &[u8], max: usize, pieces: &[usize]) -> (Vec<FramedLine>, usize) {
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

    /// The reference: splits the whole input first and measures the lines afterwards.
    fn naive(input: &[u8], max: usize) -> Vec<FramedLine> {
        let mut parts: Vec<&[u8]> = input.split(|&b| b == b'\n').collect();
        parts.pop();
        let judge = |part: &[u8]| {
            let part = part.strip_suffix(b"\r").unwrap_or(part);
            if part.len() > max {
                FramedLine::TooLong
            } else {
                FramedLine::Text(Bytes::copy_from_slice(part))
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
        let text = |s: &'static [u8]| FramedLine::Text(Bytes::from_static(s));
        let (got, _) = lines(b"12345\r\n12345\n123456\nok\n", 5, &[1]);
        assert_eq!(
            got,
            [
                text(b"12345"),
                text(b"12345"),
                FramedLine::TooLong,
                text(b"ok")
            ]
        );
    }
}
