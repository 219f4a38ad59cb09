//! Writes the arguments of a line.

use std::io::Write;

use bytes::{BufMut, BytesMut};

use super::quoted::Quoted;
use evenkeel_model::{Ident, decode};

/// Writes one line: a verb, its arguments, its options.
pub(super) struct WordWriter<'a> {
    out: &'a mut BytesMut,
}

impl<'a> WordWriter<'a> {
    /// Starts a line with this verb.
    pub(super) fn new(out: &'a mut BytesMut, verb: &str) -> Self {
        out.put_slice(verb.as_bytes());
        Self { out }
    }

    /// Writes a positional argument, in quotes if it needs them.
    pub(super) fn word(&mut self, ident: &Ident) {
        self.out.put_u8(b' ');
        self.put(ident);
    }

    /// Writes a positional argument in exactly the bytes that the peer sent.
    pub(super) fn raw(&mut self, ident: &Ident) {
        self.out.put_u8(b' ');
        self.out.put_slice(ident.raw());
    }

    /// Writes a positional argument in quotes, so that it is never read as an option.
    pub(super) fn quoted(&mut self, text: &str) {
        self.out.put_u8(b' ');
        self.put_quoted(text);
    }

    /// Writes a positional argument that needs no quotes, such as a number.
    pub(super) fn plain(&mut self, argument: impl std::fmt::Display) {
        // Writing to a growing buffer cannot fail.
        let _ = write!(self.out.writer(), " {argument}");
    }

    /// Writes a decimal, rounded to three places, without trailing zeros.
    pub(super) fn decimal(&mut self, number: f64) {
        let text = format!("{number:.3}");
        self.plain(text.trim_end_matches('0').trim_end_matches('.'));
    }

    /// Writes an option whose value is a decimal, as [`decimal`](Self::decimal) writes it.
    pub(super) fn decimal_option(&mut self, key: &str, number: f64) {
        let text = format!("{key}={number:.3}");
        self.plain(text.trim_end_matches('0').trim_end_matches('.'));
    }

    /// Writes an option `key=value` whose value needs no quotes, if there is one.
    pub(super) fn maybe(&mut self, key: &str, value: Option<impl std::fmt::Display>) {
        if let Some(value) = value {
            self.plain(format_args!("{key}={value}"));
        }
    }

    /// Writes an option `key=value`; an empty value clears what the option sets.
    pub(super) fn option(&mut self, key: &str, value: &Ident) {
        self.plain(key);
        self.out.put_u8(b'=');
        if !value.text().is_empty() {
            self.put(value);
        }
    }

    /// Ends the line with LF.
    pub(super) fn end(&mut self) {
        self.out.put_u8(b'\n');
    }

    /// Writes the received bytes of the identifier if they are one word with the same text, else
    /// its text in quotes.
    fn put(&mut self, ident: &Ident) {
        let raw = ident.raw();
        let is_word = if raw.first() == Some(&b'"') {
            Quoted::read(raw).is_some_and(|quoted| {
                quoted.length == raw.len()
                    && !raw.contains(&b'\n')
                    && decode(&quoted.content) == ident.text()
            })
        } else {
            let needs_quotes = |b: &u8| b.is_ascii_whitespace() || matches!(b, b'"' | b'\\');
            !raw.is_empty() && !raw.iter().any(needs_quotes) && decode(raw) == ident.text()
        };
        if is_word {
            self.out.put_slice(raw);
        } else {
            self.put_quoted(ident.text());
        }
    }

    /// Writes text in quotes. A line feed in it becomes `?`, because a line cannot contain one.
    fn put_quoted(&mut self, text: &str) {
        self.out.put_u8(b'"');
        for byte in text.bytes() {
            match byte {
                b'"' | b'\\' => self.out.put_slice(&[b'\\', byte]),
                b'\n' => self.out.put_u8(b'?'),
                _ => self.out.put_u8(byte),
            }
        }
        self.out.put_u8(b'"');
    }
}
