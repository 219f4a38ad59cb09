//! Converts logs in UTF-16LE, as some Windows games write them (with or without a byte-order mark), to
//! UTF-8.

use encoding_rs::{CoderResult, Decoder, UTF_16LE};

/// The encoding of a log, found from its first two bytes. All but UTF-16 passes through unchanged.
pub(super) enum Encoding {
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
    pub(super) fn feed(&mut self, chunk: &[u8], mut each: impl FnMut(&[u8])) {
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
    pub(super) fn finish(&mut self, mut each: impl FnMut(&[u8])) {
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
pub(super) fn decoded(head: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    if !is_wide(head) {
        return head.into();
    }
    let mut text = Vec::new();
    Encoding::default().feed(head, |bytes| text.extend_from_slice(bytes));
    text.into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

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
        fn chunks_do_not_matter(text in "a\\PC{0,40}", size in 1usize..9) {
            let log = wide(&text);
            prop_assert_eq!(read(&log, size), text.as_bytes());
            prop_assert_eq!(read(&log[..log.len() - 1], size), read(&log[..log.len() - 1], 999));
        }
    }
}
