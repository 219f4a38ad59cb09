//! Arguments in quotes.

/// An argument in double quotes, in which `\"` and `\\` stand for `"` and `\`.
pub(super) struct Quoted {
    pub(super) content: Vec<u8>,
    /// The number of bytes from the opening quote to the closing one, both included.
    pub(super) length: usize,
}

impl Quoted {
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let mut content = Vec::with_capacity(bytes.len());
        let mut at = 1;
        if bytes.first() != Some(&b'"') {
            return None;
        }
        loop {
            match (bytes.get(at)?, bytes.get(at + 1)) {
                (b'"', _) => {
                    return Some(Self {
                        content,
                        length: at + 1,
                    });
                }
                (b'\\', Some(&escaped @ (b'"' | b'\\'))) => {
                    content.push(escaped);
                    at += 2;
                }
                (&plain, _) => {
                    content.push(plain);
                    at += 1;
                }
            }
        }
    }
}

/// Whether `text` consists of exactly one quoted argument.
pub(super) fn is_one_quoted_word(text: &[u8]) -> bool {
    Quoted::read(text).is_some_and(|quoted| quoted.length == text.len())
}
