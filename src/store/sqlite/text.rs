//! SQLite stores any text: nothing needs to be replaced.

use std::borrow::Cow;

use crate::domain::MatchRecord;

/// The text as it is.
pub(super) fn text(text: &str) -> Cow<'_, str> {
    text.into()
}

/// The record as it is.
pub(super) fn storable(record: &MatchRecord) -> Cow<'_, MatchRecord> {
    Cow::Borrowed(record)
}
