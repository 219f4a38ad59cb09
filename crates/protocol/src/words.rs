//! Reads the arguments of a line: plain words, quoted words, options.

use bytes::Bytes;

use super::{Code, Refusal, quoted::Quoted};
use evenkeel_model::Ident;

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
    pub fn number(&mut self, what: &str, min: u64, max: u64) -> Result<u64, Refusal> {
        number(&self.word(what)?, what, min, max)
    }

    /// Reads the id of a match.
    pub fn match_id(&mut self) -> Result<i64, Refusal> {
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
pub fn number(text: &Ident, what: &str, min: u64, max: u64) -> Result<u64, Refusal> {
    let digits = text.text();
    let all_digits = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    let number = digits
        .parse()
        .ok()
        .filter(|n| all_digits && (min..=max).contains(n));
    number.ok_or_else(|| bad(format!("{what} must be a whole number from {min} to {max}")))
}

/// Parses the id of a match.
pub fn match_id(text: &Ident) -> Result<i64, Refusal> {
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
