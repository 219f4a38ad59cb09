//! Arguments that may be missing: the last ones of a line, and options `key=value`.

use std::fmt::Display;

use crate::{
    Refusal,
    words::{Words, bad},
    writer::WordWriter,
};
use evenkeel_model::Ident;

/// Reads an argument that may be missing at the end of the line.
pub(super) fn maybe<T>(
    words: &mut Words,
    read: impl FnOnce(&mut Words) -> Result<T, Refusal>,
) -> Result<Option<T>, Refusal> {
    match words.is_empty() {
        true => Ok(None),
        false => read(words).map(Some),
    }
}

pub(super) fn put_maybe(line: &mut WordWriter<'_>, argument: Option<impl Display>) {
    if let Some(argument) = argument {
        line.plain(argument);
    }
}

/// Reads the options at the end of a line. `take` is called with the key, in lower case, and the value of each, and
/// returns whether this key may be given at this place: `false` if it was given before.
///
/// # Errors
/// Fails with the error of `take`, or if `take` returns `false`.
pub(super) fn options(
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
pub(super) fn set<T>(option: &mut Option<T>, value: T) -> bool {
    option.replace(value).is_none()
}

pub(super) fn unknown_option(key: &str) -> Result<bool, Refusal> {
    Err(bad(format!("unknown option {key}")))
}

pub(super) fn yes_or_no(text: &Ident, what: &str) -> Result<bool, Refusal> {
    match text.text() {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(bad(format!("{what} must be yes or no"))),
    }
}
