//! The arguments of a line, read and written: plain words, quoted words, options and other arguments that may be
//! missing, and numbers with three decimal places.

use std::{fmt::Display, io::Write};

use bytes::{BufMut, Bytes, BytesMut};
use evenkeel_model::ident::{Ident, decode};

use crate::{Code, Refusal};

/// Reads a line word by word, from left to right.
pub(super) struct Words {
    rest: Bytes,
}

impl Words {
    /// The words of `line`; ignores white space at both ends.
    pub(super) fn new(line: Bytes) -> Self {
        let trimmed = line.trim_ascii();
        let rest = line.slice_ref(trimmed);
        Self { rest }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Reads the bytes up to the next white space. A verb is never quoted.
    pub(super) fn verb(&mut self) -> Bytes {
        let end = self.rest.iter().position(u8::is_ascii_whitespace);
        let verb = self.rest.split_to(end.unwrap_or(self.rest.len()));
        self.skip_blanks();
        verb
    }

    /// Reads the next positional argument; `what` is its name in the refusal if it is missing or
    /// empty.
    pub(super) fn word(&mut self, what: &str) -> Result<Ident, Refusal> {
        let ident = self.word_or_empty(what)?;
        filled(ident, what)
    }

    /// Reads the next positional argument, which may be `""`.
    pub(super) fn word_or_empty(&mut self, what: &str) -> Result<Ident, Refusal> {
        if self.is_empty() {
            return Err(bad(format!("{what} is missing")));
        }
        let (raw, content) = self.token(0)?;
        self.skip_blanks();
        Ok(Ident::new(&raw, &content))
    }

    /// Reads the rest of the line as one argument, quoted or not.
    pub(super) fn whole_rest(&mut self, what: &str) -> Result<Ident, Refusal> {
        let raw = self.rest.split_to(self.rest.len());
        if raw.is_empty() {
            return Err(bad(format!("{what} is missing")));
        }
        let quoted = Quoted::read(&raw).filter(|quoted| quoted.length == raw.len());
        let content = quoted.map_or_else(|| raw.to_vec(), |quoted| quoted.content);
        filled(Ident::new(&raw, &content), what)
    }

    /// Reads the next `key=value`, and returns the key in lower case; `None` at the end of the
    /// line.
    pub(super) fn option(&mut self) -> Result<Option<(String, Ident)>, Refusal> {
        if self.is_empty() {
            return Ok(None);
        }
        let key_end = self
            .rest
            .iter()
            .position(|b| *b == b'=' || b.is_ascii_whitespace());
        let Some(equals) = key_end.filter(|&at| self.rest[at] == b'=' && at > 0) else {
            return Err(bad("expected key=value".into()));
        };
        let key = self.rest[..equals]
            .escape_ascii()
            .to_string()
            .to_ascii_lowercase();
        let (token, content) = self.token(equals + 1)?;
        self.skip_blanks();
        Ok(Some((key, Ident::new(&token[equals + 1..], &content))))
    }

    /// Whether the next word is an unquoted `key=…`, in any case.
    pub(super) fn has_option(&self, key: &str) -> bool {
        let equals = self.rest.iter().position(|&b| b == b'=');
        equals.is_some_and(|at| self.rest[..at].eq_ignore_ascii_case(key.as_bytes()))
    }

    /// Reads the next positional argument as a whole number from `min` to `max`.
    pub(crate) fn number(&mut self, what: &str, min: u64, max: u64) -> Result<u64, Refusal> {
        number(&self.word(what)?, what, min, max)
    }

    /// Reads the id of a match.
    pub(crate) fn match_id(&mut self) -> Result<i64, Refusal> {
        match_id(&self.word("the match")?)
    }

    /// Refuses the line if it has more arguments.
    pub(super) fn end(&self) -> Result<(), Refusal> {
        if self.is_empty() {
            Ok(())
        } else {
            Err(bad("too many arguments".into()))
        }
    }

    /// Removes one token. Returns its bytes, and the content after its first `prefix` bytes,
    /// without quotes.
    fn token(&mut self, prefix: usize) -> Result<(Bytes, Vec<u8>), Refusal> {
        let body = &self.rest[prefix..];
        let (length, content) = if body.first() == Some(&b'"') {
            let quoted = Quoted::read(body).ok_or_else(|| bad("a quote is not closed".into()))?;
            (quoted.length, quoted.content)
        } else {
            let end = body
                .iter()
                .position(u8::is_ascii_whitespace)
                .unwrap_or(body.len());
            (end, body[..end].to_vec())
        };
        if body.get(length).is_some_and(|b| !b.is_ascii_whitespace()) {
            return Err(bad("a closing quote must end its argument".into()));
        }
        Ok((self.rest.split_to(prefix + length), content))
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.slice_ref(self.rest.trim_ascii_start());
    }
}

/// Parses a whole number from `min` to `max`.
pub(crate) fn number(text: &Ident, what: &str, min: u64, max: u64) -> Result<u64, Refusal> {
    let digits = text.text();
    let all_digits = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let number = digits
        .parse()
        .ok()
        .filter(|n| all_digits && (min..=max).contains(n));
    number.ok_or_else(|| bad(format!("{what} must be a whole number from {min} to {max}")))
}

/// Parses the id of a match.
pub(crate) fn match_id(text: &Ident) -> Result<i64, Refusal> {
    Ok(number(text, "the match", 1, i64::MAX as u64)? as i64)
}

/// Parses a decimal from `-most` to `most` with at most three decimal places.
pub(super) fn decimal(text: &Ident, what: &str, most: f64) -> Result<f64, Refusal> {
    let written = text.text();
    let (whole, places) = match written.split_once('.') {
        Some((whole, places)) => (whole, places),
        None => (written, "0"),
    };
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let whole = whole.strip_prefix('-').unwrap_or(whole);
    let well_written = digits(whole) && digits(places) && places.len() <= 3;
    let number = written.parse().ok();
    let number = number.filter(|n: &f64| well_written && n.abs() <= most);
    number.ok_or_else(|| {
        bad(format!(
            "{what} must be a number from -{most} to {most} with at most three places"
        ))
    })
}

pub(super) fn bad(text: String) -> Refusal {
    Refusal::new(Code::BadArgument, text)
}

fn filled(ident: Ident, what: &str) -> Result<Ident, Refusal> {
    if ident.text().trim_ascii().is_empty() {
        return Err(bad(format!("{what} is empty")));
    }
    Ok(ident)
}

/// Writes one line: a verb, its arguments, its options.
pub(crate) struct WordWriter<'a> {
    out: &'a mut BytesMut,
}

impl<'a> WordWriter<'a> {
    /// Starts a line with this verb.
    pub(crate) fn new(out: &'a mut BytesMut, verb: &str) -> Self {
        out.put_slice(verb.as_bytes());
        Self { out }
    }

    /// Writes a positional argument, in quotes if it needs them.
    pub(crate) fn word(&mut self, ident: &Ident) {
        self.out.put_u8(b' ');
        self.put(ident);
    }

    /// Writes a positional argument in exactly the bytes that the peer sent.
    pub(crate) fn raw(&mut self, ident: &Ident) {
        self.out.put_u8(b' ');
        self.out.put_slice(ident.raw());
    }

    /// Writes a positional argument in quotes, so that it is never read as an option.
    pub(crate) fn quoted(&mut self, text: &str) {
        self.out.put_u8(b' ');
        self.put_quoted(text);
    }

    /// Writes a positional argument that needs no quotes, such as a number.
    pub(crate) fn plain(&mut self, argument: impl std::fmt::Display) {
        // Writing to a growing buffer cannot fail.
        let _ = write!(self.out.writer(), " {argument}");
    }

    /// Writes a decimal, rounded to three places, without trailing zeros.
    pub(crate) fn decimal(&mut self, number: f64) {
        let text = format!("{number:.3}");
        self.plain(text.trim_end_matches('0').trim_end_matches('.'));
    }

    /// Writes an option whose value is a decimal, as [`decimal`](Self::decimal) writes it.
    pub(crate) fn decimal_option(&mut self, key: &str, number: f64) {
        let text = format!("{key}={number:.3}");
        self.plain(text.trim_end_matches('0').trim_end_matches('.'));
    }

    /// Writes an option `key=value` whose value needs no quotes, if there is one.
    pub(crate) fn maybe(&mut self, key: &str, value: Option<impl std::fmt::Display>) {
        if let Some(value) = value {
            self.plain(format_args!("{key}={value}"));
        }
    }

    /// Writes an option `key=value`; an empty value clears what the option sets.
    pub(crate) fn option(&mut self, key: &str, value: &Ident) {
        self.plain(key);
        self.out.put_u8(b'=');
        if !value.text().is_empty() {
            self.put(value);
        }
    }

    /// Ends the line with LF.
    pub(crate) fn end(&mut self) {
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

/// An argument in double quotes, in which `\"` and `\\` stand for `"` and `\`.
pub(crate) struct Quoted {
    pub(crate) content: Vec<u8>,
    /// The number of bytes from the opening quote to the closing one, both included.
    pub(crate) length: usize,
}

impl Quoted {
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
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
pub(crate) fn is_one_quoted_word(text: &[u8]) -> bool {
    Quoted::read(text).is_some_and(|quoted| quoted.length == text.len())
}

/// Writes a number with three decimal places, as `{:.3}` does, without the exact arithmetic that formatting
/// needs for the few numbers that are close to the middle between two thousandths.
pub(crate) fn put_thousandths(out: &mut BytesMut, number: f64) {
    // Up to here, the product is off by less than 1e-7, so that it is certain to which side it is rounded
    // unless it is this close to the middle.
    const MOST: f64 = 1e6;
    const CLOSE: f64 = 1e-6;
    let scaled = number * 1e3;
    let whole = scaled.trunc();
    let part = scaled - whole;
    if !(0.0..MOST).contains(&number) || number.is_sign_negative() || (part - 0.5).abs() < CLOSE {
        // Writing to a growing buffer cannot fail.
        let _ = write!(out.writer(), "{number:.3}");
        return;
    }
    let mut left = whole as u64 + u64::from(part > 0.5);
    let mut digits = [0; 11];
    let mut at = digits.len();
    for place in 0.. {
        if place > 3 && left == 0 {
            break;
        }
        if place == 3 {
            at -= 1;
            digits[at] = b'.';
        }
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
    }
    out.put_slice(&digits[at..]);
}

/// Reads an argument that may be missing at the end of the line.
pub(crate) fn maybe<T>(
    words: &mut Words,
    read: impl FnOnce(&mut Words) -> Result<T, Refusal>,
) -> Result<Option<T>, Refusal> {
    match words.is_empty() {
        true => Ok(None),
        false => read(words).map(Some),
    }
}

pub(crate) fn put_maybe(line: &mut WordWriter<'_>, argument: Option<impl Display>) {
    if let Some(argument) = argument {
        line.plain(argument);
    }
}

/// Reads the options at the end of a line. `take` is called with the key, in lower case, and the value of each, and
/// returns whether this key may be given at this place: `false` if it was given before.
///
/// # Errors
/// Fails with the error of `take`, or if `take` returns `false`.
pub(crate) fn options(
    words: &mut Words,
    mut take: impl FnMut(&str, Ident) -> Result<bool, Refusal>,
) -> Result<(), Refusal> {
    while let Some((key, value)) = words.option()? {
        if !take(&key, value)? {
            return Err(bad(format!("{key} is given twice")));
        }
    }
    Ok(())
}

/// Sets the value of an option. Returns whether it had none.
pub(crate) fn set<T>(option: &mut Option<T>, value: T) -> bool {
    option.replace(value).is_none()
}

pub(crate) fn unknown_option(key: &str) -> Result<bool, Refusal> {
    Err(bad(format!("unknown option {key}")))
}

pub(crate) fn yes_or_no(text: &Ident, what: &str) -> Result<bool, Refusal> {
    match text.text() {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(bad(format!("{what} must be yes or no"))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn written(number: f64) -> String {
        let mut out = BytesMut::new();
        put_thousandths(&mut out, number);
        String::from_utf8(out.to_vec()).unwrap()
    }

    proptest! {
        #[test]
        fn thousandths_are_those_of_the_standard_library(
            number in prop_oneof![
                0.0f64..=100.0,
                -10.0f64..2e6,
                (0u32..2_000_000).prop_map(|half| f64::from(half) / 2e3),
                (0u32..100_000).prop_map(|n| f64::from(n) / 1e3),
                any::<f64>(),
            ],
        ) {
            prop_assert_eq!(written(number), format!("{number:.3}"));
        }
    }

    #[test]
    fn numbers_beside_the_middle_are_rounded_like_their_exact_values() {
        for thousandths in (0u32..200_000).step_by(7) {
            let middle = (f64::from(thousandths) + 0.5) / 1e3;
            for number in [middle.next_down(), middle, middle.next_up()] {
                assert_eq!(written(number), format!("{number:.3}"));
            }
        }
        for number in [
            0.0,
            -0.0,
            999_999.999_9,
            1e6,
            0.000_4,
            9.999_6,
            99.999_5,
            f64::NAN,
        ] {
            assert_eq!(written(number), format!("{number:.3}"));
        }
    }
}
