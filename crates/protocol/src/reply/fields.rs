//! The fields of which the lines of a reply consist, read from either end of a line.

use std::{fmt::Display, str::FromStr};

use bytes::{Bytes, BytesMut};

use super::Reply;
use crate::{words::Words, writer::WordWriter};
use evenkeel_model::Ident;

/// What a part of a reply says, or what is wrong with it.
pub(crate) type Parsed<T = Reply> = Result<T, &'static str>;

pub(super) fn put_line(out: &mut BytesMut, verb: &str, arguments: impl Display) {
    let mut line = WordWriter::new(out, verb);
    line.plain(arguments);
    line.end();
}

/// The first word, and the rest after one blank.
pub(crate) fn split_first(text: &[u8]) -> (&[u8], &[u8]) {
    match text.iter().position(|&b| b == b' ') {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, b""),
    }
}

/// The text before the last word, and the last word.
pub(crate) fn split_last(text: &[u8]) -> (&[u8], &[u8]) {
    match text.iter().rposition(|&b| b == b' ') {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (b"", text),
    }
}

pub(crate) fn ident(raw: &[u8]) -> Parsed<Ident> {
    let raw = Bytes::copy_from_slice(raw);
    let ident = Words::new(raw).whole_rest("the identifier");
    ident.map_err(|_| "an identifier is missing")
}

pub fn number<T: FromStr>(word: &[u8]) -> Parsed<T> {
    let text = std::str::from_utf8(word).ok();
    let number = text.and_then(|text| text.parse().ok());
    number.ok_or("not a number in its range")
}

pub(super) fn decimal(word: &[u8]) -> Parsed<f64> {
    let number = number(word).ok().filter(|number: &f64| number.is_finite());
    number.ok_or("not a decimal")
}

pub(super) fn dash_or<T>(word: &[u8], read: impl Fn(&[u8]) -> Parsed<T>) -> Parsed<Option<T>> {
    match word {
        b"-" => Ok(None),
        word => read(word).map(Some),
    }
}
