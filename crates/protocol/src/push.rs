//! Lines that a server sends without a request.

use bytes::{BufMut, Bytes, BytesMut};

/// The start of every push. No reply starts with it.
pub(super) const MARK: &[u8] = b"* ";

/// A line that answers no request. A server sends it between replies, never inside one, and only on
/// connections that have requested pushes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Push(Bytes);

impl Push {
    /// A push with this text. It is sent as one line: line ends in it become `?`.
    pub fn new(text: impl Into<Bytes>) -> Self {
        let text = text.into();
        if !text.iter().any(|b| is_line_end(*b)) {
            return Self(text);
        }
        let plain = text.iter().map(|&b| if is_line_end(b) { b'?' } else { b });
        Self(plain.collect())
    }

    /// The text after the `* `.
    pub fn text(&self) -> &[u8] {
        &self.0
    }

    /// Appends the line to `out`.
    pub fn encode(&self, out: &mut BytesMut) {
        out.put_slice(MARK);
        out.put_slice(&self.0);
        out.put_u8(b'\n');
    }

    /// Parses a push; `None` for a line of a reply.
    pub fn parse(line: &Bytes) -> Option<Self> {
        let text = line.strip_prefix(MARK)?;
        Some(Self(line.slice_ref(text)))
    }
}

fn is_line_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_push_is_one_line() {
        let mut out = BytesMut::new();
        Push::new("MATCHED 7\r\nPONG").encode(&mut out);
        assert_eq!(&out[..], b"* MATCHED 7??PONG\n");
        let line = out.freeze().slice(..17);
        assert_eq!(Push::parse(&line).unwrap().text(), b"MATCHED 7??PONG");
        assert_eq!(Push::parse(&Bytes::from_static(b"PONG")), None);
    }
}
